"""What clients can call for graphs: see `kedge.surfaces.client.calls`."""

from __future__ import annotations

from typing import Any

from kedge.core.outside import from_json, to_json
from kedge.core.values import Accepted, StreamEvent
from kedge.kinds.graphs.values import DeletedNode, EdgePage, NodePage, Reconciled
from kedge.stores.graph.nodes import Edge, Node
from kedge.surfaces.client.endpoints import calls, nothing, reads
from kedge.surfaces.client.wire import ClientCall, at


def _sent(value: Node | Edge) -> dict[str, Any]:
    """All but the times, which the store sets."""
    return {name: one for name, one in to_json(value).items() if name not in ("created_at", "updated_at")}


@calls("POST /api/graph/nodes")
def create_node(node: Node, *, collection: str | None = None) -> ClientCall[Node]:
    """Add a node to a graph, which is made if need be; an empty id is made up."""
    return ClientCall("POST", "/api/graph/nodes", reads(Node), {"collection": collection}, _sent(node))


@calls("GET /api/graph/nodes")
def nodes(
    collection: str | None = None, *, type: str | None = None, after: str = "", limit: int = 100
) -> ClientCall[list[Node]]:
    """Nodes by id, those behind `after`."""
    query = {"collection": collection, "type": type, "after": after, "limit": limit}
    return ClientCall("GET", "/api/graph/nodes", lambda found: list(from_json(NodePage, found).nodes), query)


@calls("GET /api/graph/nodes/{node_id}")
def node(node_id: str, *, collection: str | None = None) -> ClientCall[Node]:
    """One node."""
    return ClientCall("GET", at("/api/graph/nodes/{id}", id=node_id), reads(Node), {"collection": collection})


@calls("PATCH /api/graph/nodes/{node_id}")
def update_node(node_id: str, *, collection: str | None = None, **changes: Any) -> ClientCall[Node]:
    """Change type, title, description, aliases or properties (as a whole) of a node."""
    path = at("/api/graph/nodes/{id}", id=node_id)
    return ClientCall("PATCH", path, reads(Node), {"collection": collection}, changes)


@calls("DELETE /api/graph/nodes/{node_id}")
def delete_node(node_id: str, *, collection: str | None = None) -> ClientCall[list[str]]:
    """Take a node out with its edges; returns their ids."""
    path = at("/api/graph/nodes/{id}", id=node_id)
    return ClientCall(
        "DELETE", path, lambda found: list(from_json(DeletedNode, found).edges), {"collection": collection}
    )


@calls("POST /api/graph/edges")
def create_edge(edge: Edge, *, collection: str | None = None) -> ClientCall[Edge]:
    """Add an edge between two nodes; an empty id is made of its ends and type."""
    return ClientCall("POST", "/api/graph/edges", reads(Edge), {"collection": collection}, _sent(edge))


@calls("GET /api/graph/edges")
def edges(
    collection: str | None = None,
    *,
    type: str | None = None,
    node: str | None = None,
    after: str = "",
    limit: int = 100,
) -> ClientCall[list[Edge]]:
    """Edges by id; those of one node, if named."""
    query = {"collection": collection, "type": type, "node": node, "after": after, "limit": limit}
    return ClientCall("GET", "/api/graph/edges", lambda found: list(from_json(EdgePage, found).edges), query)


@calls("GET /api/graph/edges/{edge_id}")
def edge(edge_id: str, *, collection: str | None = None) -> ClientCall[Edge]:
    """One edge."""
    return ClientCall("GET", at("/api/graph/edges/{id}", id=edge_id), reads(Edge), {"collection": collection})


@calls("PATCH /api/graph/edges/{edge_id}")
def update_edge(edge_id: str, *, collection: str | None = None, **changes: Any) -> ClientCall[Edge]:
    """Change source, target, type or properties (as a whole) of an edge."""
    path = at("/api/graph/edges/{id}", id=edge_id)
    return ClientCall("PATCH", path, reads(Edge), {"collection": collection}, changes)


@calls("DELETE /api/graph/edges/{edge_id}")
def delete_edge(edge_id: str, *, collection: str | None = None) -> ClientCall[None]:
    """Take an edge out."""
    return ClientCall("DELETE", at("/api/graph/edges/{id}", id=edge_id), nothing, {"collection": collection})


@calls("POST /api/graph/index")
def index_graph(collection: str | None = None, *, full: bool = False) -> ClientCall[Accepted]:
    """Queue a job that indexes every node that is not current; all with `full`."""
    return ClientCall("POST", "/api/graph/index", reads(Accepted), body={"collection": collection, "full": full})


@calls("POST /api/graph/reconcile")
def reconcile(collection: str | None = None, *, repair: bool = False) -> ClientCall[Reconciled]:
    """Compare a graph with its index, and with `repair` make the index like the graph."""
    return ClientCall(
        "POST", "/api/graph/reconcile", reads(Reconciled), body={"collection": collection, "repair": repair}
    )


@calls("POST /api/rag/query")
def ask_graph(
    question: str, *, collection: str | None = None, top_k: int = 5, session_id: str | None = None
) -> ClientCall[StreamEvent]:
    """Ask a graph, event by event."""
    body = {"question": question, "collection": collection, "top_k": top_k, "session_id": session_id}
    return ClientCall("POST", "/api/rag/query", reads(StreamEvent), body=body, streams=True)
