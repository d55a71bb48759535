"""Courses, tables and graphs: see `calls`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from kedge.client import results
from kedge.client.endpoints import as_object, calls, nothing, taken_in
from kedge.client.results import Accepted, Reconciled, TableSession
from kedge.client.wire import Call, Upload, at
from kedge.stores.nodes.base import Edge, Node
from kedge.types import Answer, Json, StreamEvent

# ------------------------------------------------------------ courses


@calls("POST /api/courses/{book_id}/ingest")
def ingest_course(
    book_id: str, *sources: str, files: Sequence[Upload] = (), mode: str = "incremental"
) -> Call[Accepted]:
    """Queue the lessons of a course."""
    return taken_in(at("/api/courses/{id}/ingest", id=book_id), sources, files, {"mode": mode})


@calls("POST /api/courses/search")
def search_course(text: str, *, book_id: str | None = None, limit: int = 5, **reader: Json) -> Call[dict[str, Any]]:
    """Passages for a reader, best first; `reader` is what the HTTP reference lists (`hardware_tier_filter`, …)."""
    return Call(
        "POST", "/api/courses/search", as_object, body={"text": text, "book_id": book_id, "limit": limit, **reader}
    )


@calls("GET /api/courses/{book_id}/lessons")
def lessons(book_id: str, *, filters: Sequence[str] = ()) -> Call[list[dict[str, Any]]]:
    """Lessons as they are taught."""
    path = at("/api/courses/{id}/lessons", id=book_id)
    return Call("GET", path, lambda found: list(found["lessons"]), {"filter": list(filters)})


@calls("GET /api/courses/{book_id}/lessons/{parent_doc_id}")
def lesson(book_id: str, lesson: str, *, filters: Sequence[str] = ()) -> Call[dict[str, Any]]:
    """A lesson whole, by its id or its number."""
    path = at("/api/courses/{id}/lessons/{lesson}", id=book_id, lesson=lesson)
    return Call("GET", path, as_object, {"filter": list(filters)})


@calls("GET /api/courses/{book_id}/lessons/{parent_doc_id}/prerequisites")
def prerequisites(book_id: str, lesson: str, *, filters: Sequence[str] = ()) -> Call[dict[str, Any]]:
    """What must be known before a lesson, with the path to each."""
    path = at("/api/courses/{id}/lessons/{lesson}/prerequisites", id=book_id, lesson=lesson)
    return Call("GET", path, as_object, {"filter": list(filters)})


@calls("GET /api/courses/{book_id}/passages/{passage_id}/context")
def expand(
    book_id: str, passage_id: str, *, max_tokens: int | None = None, filters: Sequence[str] = ()
) -> Call[dict[str, Any]]:
    """A passage of a lesson with what stands around it."""
    path = at("/api/courses/{id}/passages/{passage}/context", id=book_id, passage=passage_id)
    return Call("GET", path, as_object, {"max_tokens": max_tokens, "filter": list(filters)})


# ------------------------------------------------------------ tables


@calls("GET /api/sessions")
def sessions() -> Call[list[TableSession]]:
    """All table sessions, by name."""
    return Call("GET", "/api/sessions", lambda found: [results.session(one) for one in found["sessions"]])


@calls("POST /api/sessions")
def make_session(
    session_id: str | None = None, *, use_rag: bool = True, persist: bool = True, expires_after: float | None = None
) -> Call[TableSession]:
    """A session for one table."""
    body = {"session_id": session_id, "use_rag": use_rag, "persist": persist, "expires_after": expires_after}
    return Call("POST", "/api/sessions", results.session, body=body)


@calls("GET /api/sessions/{session_id}")
def session(session_id: str) -> Call[TableSession]:
    """One session: status, rows, columns, files."""
    return Call("GET", at("/api/sessions/{id}", id=session_id), results.session)


@calls("DELETE /api/sessions/{session_id}")
def delete_session(session_id: str) -> Call[None]:
    """Delete a session with all its rows."""
    return Call("DELETE", at("/api/sessions/{id}", id=session_id), nothing)


@calls("POST /api/sessions/{session_id}/feed-data")
def feed(
    session_id: str,
    *sources: str,
    files: Sequence[Upload] = (),
    rows: Sequence[Mapping[str, Json]] = (),
    name: str | None = None,
    mode: Literal["replace", "add"] = "replace",
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> Call[Accepted]:
    """Queue files, addresses or rows for a session; `wait` for the job."""
    path = at("/api/sessions/{id}/feed-data", id=session_id)
    fields: dict[str, Any] = {"mode": mode, "delimiter": delimiter, "encoding": encoding, "header": header}
    if not files:
        fields |= {"rows": [dict(row) for row in rows], "name": name}
    return taken_in(path, sources, files, fields)


@calls("POST /api/sessions/{session_id}/query")
def ask_session(
    session_id: str,
    query: str = "",
    *,
    k: int | None = None,
    threshold: float | None = None,
    where: Mapping[str, Json] | None = None,
    plan: Mapping[str, Json] | None = None,
) -> Call[Answer]:
    """Ask a table, or run a plan over it."""
    body = _table_question(query, k, threshold, where, plan)
    return Call("POST", at("/api/sessions/{id}/query", id=session_id), results.answer, body=body)


@calls("POST /api/sessions/{session_id}/query/stream")
def stream_session(
    session_id: str,
    query: str,
    *,
    k: int | None = None,
    threshold: float | None = None,
    where: Mapping[str, Json] | None = None,
) -> Call[StreamEvent]:
    """Ask a table, event by event."""
    body = _table_question(query, k, threshold, where, None)
    return Call("POST", at("/api/sessions/{id}/query/stream", id=session_id), results.event, body=body)


def _table_question(
    query: str,
    k: int | None,
    threshold: float | None,
    where: Mapping[str, Json] | None,
    plan: Mapping[str, Json] | None,
) -> dict[str, Any]:
    asked = {"query": query, "k": k, "threshold": threshold, "filter": dict(where or {})}
    return asked if plan is None else {**asked, "plan": dict(plan)}


@calls("GET /api/sessions/{session_id}/bad-rows")
def bad_rows(session_id: str, *, limit: int = 100, offset: int = 0) -> Call[list[dict[str, Any]]]:
    """Records that could not be used: file, line, reason, text."""
    path = at("/api/sessions/{id}/bad-rows", id=session_id)
    return Call("GET", path, lambda found: list(found["bad_rows"]), {"limit": limit, "offset": offset})


@calls("PATCH /api/sessions/{session_id}/rows")
def update_rows(
    session_id: str, key: str, *, upsert: Sequence[Mapping[str, Json]] = (), delete: Sequence[Json] = ()
) -> Call[dict[str, int]]:
    """Change, add or delete single rows by the value of their key column; returns updated, inserted, deleted."""
    body = {"key": key, "upsert": [dict(row) for row in upsert], "delete": list(delete)}
    return Call("PATCH", at("/api/sessions/{id}/rows", id=session_id), as_object, body=body)


# ------------------------------------------------------------ graphs


@calls("POST /api/graph/nodes")
def create_node(node: Node, *, collection: str | None = None) -> Call[Node]:
    """Add a node to a graph, which is made if need be; an empty id is made up."""
    body = {
        "id": node.id,
        "type": node.type,
        "title": node.title,
        "description": node.description,
        "aliases": list(node.aliases),
        "properties": dict(node.properties),
    }
    return Call("POST", "/api/graph/nodes", results.node, {"collection": collection}, body)


@calls("GET /api/graph/nodes")
def nodes(
    collection: str | None = None, *, type: str | None = None, after: str = "", limit: int = 100
) -> Call[list[Node]]:
    """Nodes by id, those behind `after`."""
    query = {"collection": collection, "type": type, "after": after, "limit": limit}
    return Call("GET", "/api/graph/nodes", lambda found: [results.node(one) for one in found["nodes"]], query)


@calls("GET /api/graph/nodes/{node_id}")
def node(node_id: str, *, collection: str | None = None) -> Call[Node]:
    """One node."""
    return Call("GET", at("/api/graph/nodes/{id}", id=node_id), results.node, {"collection": collection})


@calls("PATCH /api/graph/nodes/{node_id}")
def update_node(node_id: str, *, collection: str | None = None, **changes: Any) -> Call[Node]:
    """Change type, title, description, aliases or properties (as a whole) of a node."""
    path = at("/api/graph/nodes/{id}", id=node_id)
    return Call("PATCH", path, results.node, {"collection": collection}, changes)


@calls("DELETE /api/graph/nodes/{node_id}")
def delete_node(node_id: str, *, collection: str | None = None) -> Call[list[str]]:
    """Take a node out with its edges; returns their ids."""
    path = at("/api/graph/nodes/{id}", id=node_id)
    return Call("DELETE", path, lambda found: list(found["edges"]), {"collection": collection})


@calls("POST /api/graph/edges")
def create_edge(edge: Edge, *, collection: str | None = None) -> Call[Edge]:
    """Add an edge between two nodes; an empty id is made of its ends and type."""
    body = {
        "id": edge.id,
        "source": edge.source,
        "target": edge.target,
        "type": edge.type,
        "properties": dict(edge.properties),
    }
    return Call("POST", "/api/graph/edges", results.edge, {"collection": collection}, body)


@calls("GET /api/graph/edges")
def edges(
    collection: str | None = None,
    *,
    type: str | None = None,
    node: str | None = None,
    after: str = "",
    limit: int = 100,
) -> Call[list[Edge]]:
    """Edges by id; those of one node, if named."""
    query = {"collection": collection, "type": type, "node": node, "after": after, "limit": limit}
    return Call("GET", "/api/graph/edges", lambda found: [results.edge(one) for one in found["edges"]], query)


@calls("GET /api/graph/edges/{edge_id}")
def edge(edge_id: str, *, collection: str | None = None) -> Call[Edge]:
    """One edge."""
    return Call("GET", at("/api/graph/edges/{id}", id=edge_id), results.edge, {"collection": collection})


@calls("PATCH /api/graph/edges/{edge_id}")
def update_edge(edge_id: str, *, collection: str | None = None, **changes: Any) -> Call[Edge]:
    """Change source, target, type or properties (as a whole) of an edge."""
    path = at("/api/graph/edges/{id}", id=edge_id)
    return Call("PATCH", path, results.edge, {"collection": collection}, changes)


@calls("DELETE /api/graph/edges/{edge_id}")
def delete_edge(edge_id: str, *, collection: str | None = None) -> Call[None]:
    """Take an edge out."""
    return Call("DELETE", at("/api/graph/edges/{id}", id=edge_id), nothing, {"collection": collection})


@calls("POST /api/graph/index")
def index_graph(collection: str | None = None, *, full: bool = False) -> Call[Accepted]:
    """Queue a job that indexes every node that is not current; all with `full`."""
    return Call("POST", "/api/graph/index", results.accepted, body={"collection": collection, "full": full})


@calls("POST /api/graph/reconcile")
def reconcile(collection: str | None = None, *, repair: bool = False) -> Call[Reconciled]:
    """Compare a graph with its index, and with `repair` make the index like the graph."""
    return Call("POST", "/api/graph/reconcile", results.reconciled, body={"collection": collection, "repair": repair})


@calls("POST /api/rag/query")
def ask_graph(
    question: str, *, collection: str | None = None, top_k: int = 5, session_id: str | None = None
) -> Call[StreamEvent]:
    """Ask a graph, event by event."""
    body = {"question": question, "collection": collection, "top_k": top_k, "session_id": session_id}
    return Call("POST", "/api/rag/query", results.event, body=body)
