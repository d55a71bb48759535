"""Nodes and edges of users' own graphs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from kedge.core import telemetry
from kedge.core.values import Accepted, Scope
from kedge.kinds.graphs.kind import KIND
from kedge.kinds.graphs.surfaces.bodies import (
    EdgeBody,
    EdgeChanges,
    GraphIndexBody,
    NodeBody,
    NodeChanges,
    ReconcileBody,
)
from kedge.kinds.graphs.surfaces.opened import nodes_of
from kedge.kinds.graphs.values import DeletedNode, EdgePage, NodePage, Reconciled
from kedge.stores.graph.nodes import Edge, Node
from kedge.surfaces.server.deps import EngineDep, MetricsDep, SettingsDep, TenantDep, WriterDep

router = APIRouter(prefix="/api/graph", tags=["graph"])

CollectionParam = Annotated[str | None, Query(description="The graph; the server's default collection if not given.")]
AfterParam = Annotated[str, Query(description="Id behind which the page begins.")]
LimitParam = Annotated[int, Query(ge=1, le=1000, description="How many.")]
TypeParam = Annotated[str | None, Query(description="Only those of this type.")]


@router.post("/nodes", summary="Create a node", status_code=201)
async def create_node(
    body: NodeBody, engine: EngineDep, settings: SettingsDep, tenant: WriterDep, collection: CollectionParam = None
) -> Node:
    """Add a node and index it. The graph is made with its first node."""
    fields = body.model_dump()
    node = Node(**{**fields, "aliases": tuple(fields["aliases"])})
    return await nodes_of(engine).create(Scope(tenant, collection or settings.collection), node)


@router.get("/nodes", summary="List nodes")
async def list_nodes(
    *,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    collection: CollectionParam = None,
    type: TypeParam = None,
    after: AfterParam = "",
    limit: LimitParam = 100,
) -> NodePage:
    """Nodes by id, page by page."""
    scope = Scope(tenant, collection or settings.collection)
    found = await nodes_of(engine).nodes(scope, type=type, after=after, limit=limit)
    return NodePage(tuple(found), found[-1].id if len(found) == limit else None)


@router.get("/nodes/{node_id:path}", summary="Show a node")
async def show_node(
    node_id: str, engine: EngineDep, settings: SettingsDep, tenant: TenantDep, collection: CollectionParam = None
) -> Node:
    """One node."""
    return await nodes_of(engine).node(Scope(tenant, collection or settings.collection), node_id)


@router.patch("/nodes/{node_id:path}", summary="Change a node")
async def change_node(
    *,
    node_id: str,
    body: NodeChanges,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: WriterDep,
    collection: CollectionParam = None,
) -> Node:
    """Change the given fields and index the node anew."""
    changes = {name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None}
    if "aliases" in changes:
        changes["aliases"] = tuple(changes["aliases"])
    return await nodes_of(engine).update(Scope(tenant, collection or settings.collection), node_id, changes)


@router.delete("/nodes/{node_id:path}", summary="Delete a node")
async def delete_node(
    node_id: str, engine: EngineDep, settings: SettingsDep, tenant: WriterDep, collection: CollectionParam = None
) -> DeletedNode:
    """Take a node out, with its edges and its vector."""
    edges = await nodes_of(engine).delete(Scope(tenant, collection or settings.collection), node_id)
    return DeletedNode(node_id, tuple(edges))


@router.post("/edges", summary="Create an edge", status_code=201)
async def create_edge(
    body: EdgeBody, engine: EngineDep, settings: SettingsDep, tenant: WriterDep, collection: CollectionParam = None
) -> Edge:
    """Add an edge between two nodes that are there."""
    scope = Scope(tenant, collection or settings.collection)
    return await nodes_of(engine).create_edge(scope, Edge(**body.model_dump()))


@router.get("/edges", summary="List edges")
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
) -> EdgePage:
    """Edges by id, page by page."""
    scope = Scope(tenant, collection or settings.collection)
    found = await nodes_of(engine).edges(scope, type=type, node=node, after=after, limit=limit)
    return EdgePage(tuple(found), found[-1].id if len(found) == limit else None)


@router.get("/edges/{edge_id:path}", summary="Show an edge")
async def show_edge(
    edge_id: str, engine: EngineDep, settings: SettingsDep, tenant: TenantDep, collection: CollectionParam = None
) -> Edge:
    """One edge."""
    return await nodes_of(engine).edge(Scope(tenant, collection or settings.collection), edge_id)


@router.patch("/edges/{edge_id:path}", summary="Change an edge")
async def change_edge(
    *,
    edge_id: str,
    body: EdgeChanges,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: WriterDep,
    collection: CollectionParam = None,
) -> Edge:
    """Change the given fields."""
    changes = {name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None}
    return await nodes_of(engine).update_edge(Scope(tenant, collection or settings.collection), edge_id, changes)


@router.delete("/edges/{edge_id:path}", summary="Delete an edge", status_code=204)
async def delete_edge(
    edge_id: str, engine: EngineDep, settings: SettingsDep, tenant: WriterDep, collection: CollectionParam = None
) -> None:
    """Take an edge out."""
    await nodes_of(engine).delete_edge(Scope(tenant, collection or settings.collection), edge_id)


@router.post("/index", summary="Index all nodes", status_code=202)
async def index_nodes(
    body: GraphIndexBody, engine: EngineDep, settings: SettingsDep, tenant: WriterDep, metrics: MetricsDep
) -> Accepted:
    """Queue a job that indexes every node that is not current; follow it at `/api/ingest/{job_id}`."""
    scope = Scope(tenant, body.collection or settings.collection)
    await nodes_of(engine).count(scope)
    job = await engine.submit(engine.kinds.opened(KIND).index_request(scope, full=body.full))
    metrics.add(telemetry.SUBMITTED)
    return Accepted.of(job)


@router.post("/reconcile", summary="Compare a graph with its index")
async def reconcile(body: ReconcileBody, engine: EngineDep, settings: SettingsDep, tenant: WriterDep) -> Reconciled:
    """Find nodes that are missing in the index, orphaned there, or stale; with `repair` put it right."""
    scope = Scope(tenant, body.collection or settings.collection)
    return await nodes_of(engine).reconcile(scope, repair=body.repair)
