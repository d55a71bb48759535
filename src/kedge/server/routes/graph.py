"""Nodes and edges of users' own graphs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from kedge import telemetry
from kedge.server.deps import EngineDep, MetricsDep, SettingsDep, TenantDep, WriterDep
from kedge.server.models import (
    AcceptedOut,
    DeletedNodeOut,
    EdgeBody,
    EdgeChanges,
    EdgeOut,
    EdgesOut,
    GraphIndexBody,
    NodeBody,
    NodeChanges,
    NodeOut,
    NodesOut,
    ReconcileBody,
    ReconciledOut,
)
from kedge.shapes import edge_json, node_json, reconciled_json
from kedge.stores.nodes.base import Edge, Node
from kedge.types import Scope

router = APIRouter(prefix="/api/graph", tags=["graph"])

CollectionParam = Annotated[str | None, Query(description="The graph; the server's default collection if not given.")]
AfterParam = Annotated[str, Query(description="Id behind which the page begins.")]
LimitParam = Annotated[int, Query(ge=1, le=1000, description="How many.")]
TypeParam = Annotated[str | None, Query(description="Only those of this type.")]


@router.post("/nodes", summary="Create a node", response_model=NodeOut, status_code=201)
async def create_node(
    body: NodeBody, engine: EngineDep, settings: SettingsDep, tenant: WriterDep, collection: CollectionParam = None
) -> dict[str, Any]:
    """Add a node and index it. The graph is made with its first node."""
    fields = body.model_dump()
    node = Node(**{**fields, "aliases": tuple(fields["aliases"])})
    return node_json(await engine.graph.create(Scope(tenant, collection or settings.collection), node))


@router.get("/nodes", summary="List nodes", response_model=NodesOut)
async def list_nodes(
    *,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    collection: CollectionParam = None,
    type: TypeParam = None,
    after: AfterParam = "",
    limit: LimitParam = 100,
) -> dict[str, Any]:
    """Nodes by id, page by page."""
    scope = Scope(tenant, collection or settings.collection)
    found = await engine.graph.nodes(scope, type=type, after=after, limit=limit)
    return {"nodes": [node_json(node) for node in found], "next": found[-1].id if len(found) == limit else None}


@router.get("/nodes/{node_id:path}", summary="Show a node", response_model=NodeOut)
async def show_node(
    node_id: str, engine: EngineDep, settings: SettingsDep, tenant: TenantDep, collection: CollectionParam = None
) -> dict[str, Any]:
    """One node."""
    return node_json(await engine.graph.node(Scope(tenant, collection or settings.collection), node_id))


@router.patch("/nodes/{node_id:path}", summary="Change a node", response_model=NodeOut)
async def change_node(
    *,
    node_id: str,
    body: NodeChanges,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: WriterDep,
    collection: CollectionParam = None,
) -> dict[str, Any]:
    """Change the given fields and index the node anew."""
    changes = {name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None}
    if "aliases" in changes:
        changes["aliases"] = tuple(changes["aliases"])
    return node_json(await engine.graph.update(Scope(tenant, collection or settings.collection), node_id, changes))


@router.delete("/nodes/{node_id:path}", summary="Delete a node", response_model=DeletedNodeOut)
async def delete_node(
    node_id: str, engine: EngineDep, settings: SettingsDep, tenant: WriterDep, collection: CollectionParam = None
) -> dict[str, Any]:
    """Take a node out, with its edges and its vector."""
    edges = await engine.graph.delete(Scope(tenant, collection or settings.collection), node_id)
    return {"id": node_id, "edges": edges}


@router.post("/edges", summary="Create an edge", response_model=EdgeOut, status_code=201)
async def create_edge(
    body: EdgeBody, engine: EngineDep, settings: SettingsDep, tenant: WriterDep, collection: CollectionParam = None
) -> dict[str, Any]:
    """Add an edge between two nodes that are there."""
    scope = Scope(tenant, collection or settings.collection)
    return edge_json(await engine.graph.create_edge(scope, Edge(**body.model_dump())))


@router.get("/edges", summary="List edges", response_model=EdgesOut)
async def list_edges(
    *,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    collection: CollectionParam = None,
    type: TypeParam = None,
    node: Annotated[str | None, Query(description="Only edges of this node, on either side.")] = None,
    after: AfterParam = "",
    limit: LimitParam = 100,
) -> dict[str, Any]:
    """Edges by id, page by page."""
    scope = Scope(tenant, collection or settings.collection)
    found = await engine.graph.edges(scope, type=type, node=node, after=after, limit=limit)
    return {"edges": [edge_json(edge) for edge in found], "next": found[-1].id if len(found) == limit else None}


@router.get("/edges/{edge_id:path}", summary="Show an edge", response_model=EdgeOut)
async def show_edge(
    edge_id: str, engine: EngineDep, settings: SettingsDep, tenant: TenantDep, collection: CollectionParam = None
) -> dict[str, Any]:
    """One edge."""
    return edge_json(await engine.graph.edge(Scope(tenant, collection or settings.collection), edge_id))


@router.patch("/edges/{edge_id:path}", summary="Change an edge", response_model=EdgeOut)
async def change_edge(
    *,
    edge_id: str,
    body: EdgeChanges,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: WriterDep,
    collection: CollectionParam = None,
) -> dict[str, Any]:
    """Change the given fields."""
    changes = {name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None}
    return edge_json(await engine.graph.update_edge(Scope(tenant, collection or settings.collection), edge_id, changes))


@router.delete("/edges/{edge_id:path}", summary="Delete an edge", status_code=204)
async def delete_edge(
    edge_id: str, engine: EngineDep, settings: SettingsDep, tenant: WriterDep, collection: CollectionParam = None
) -> None:
    """Take an edge out."""
    await engine.graph.delete_edge(Scope(tenant, collection or settings.collection), edge_id)


@router.post("/index", summary="Index all nodes", response_model=AcceptedOut, status_code=202)
async def index_nodes(
    body: GraphIndexBody, engine: EngineDep, settings: SettingsDep, tenant: WriterDep, metrics: MetricsDep
) -> dict[str, Any]:
    """Queue a job that indexes every node that is not current; follow it at `/api/ingest/{job_id}`."""
    scope = Scope(tenant, body.collection or settings.collection)
    await engine.graph.count(scope)
    job = await engine.submit(engine.index_request(scope, full=body.full))
    metrics.add(telemetry.SUBMITTED)
    return {"job_id": job.id, "document_id": None, "status": job.status, "estimated_chunks": None}


@router.post("/reconcile", summary="Compare a graph with its index", response_model=ReconciledOut)
async def reconcile(body: ReconcileBody, engine: EngineDep, settings: SettingsDep, tenant: WriterDep) -> dict[str, Any]:
    """Find nodes that are missing in the index, orphaned there, or stale; with `repair` put it right."""
    scope = Scope(tenant, body.collection or settings.collection)
    return reconciled_json(await engine.graph.reconcile(scope, repair=body.repair))
