"""Every address of the HTTP API as a function that says what to send and how the answer is read.

Both clients are made from these, so nothing is written twice. `ENDPOINTS` is compared with the server's by a test.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeVar

from kedge.client import results
from kedge.client.results import Accepted, PassageInDocument, Reconciled, TableSession
from kedge.client.wire import Call, Upload, at
from kedge.stores.nodes.base import Edge, Node
from kedge.types import Answer, Collection, Document, Job, Json, Passage, SearchResult, StreamEvent

P = ParamSpec("P")
T = TypeVar("T")
ENDPOINTS: dict[str, str] = {}
"""`METHOD /path` → the name of the method that calls it."""


def _calls(endpoint: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    def register(function: Callable[P, T]) -> Callable[P, T]:
        ENDPOINTS[endpoint] = function.__name__
        return function

    return register


# ------------------------------------------------------------ asking


def _question(
    query: str,
    collection: str | None,
    top_k: int,
    *,
    include_graph: bool,
    topic: str | None,
    where: Mapping[str, Json] | None,
    session_id: str | None,
) -> dict[str, Any]:
    return {
        "query": query,
        "collection": collection,
        "top_k": top_k,
        "include_graph": include_graph,
        "topic_filter": topic,
        "filter": dict(where or {}),
        "session_id": session_id,
    }


@_calls("POST /api/query")
def ask(
    query: str,
    *,
    collection: str | None = None,
    top_k: int = 5,
    include_graph: bool = True,
    topic: str | None = None,
    where: Mapping[str, Json] | None = None,
    session_id: str | None = None,
) -> Call[Answer]:
    """An answer made of cited sentences, or a refusal that says so (`answer.refused`)."""
    body = _question(
        query, collection, top_k, include_graph=include_graph, topic=topic, where=where, session_id=session_id
    )
    return Call("POST", "/api/query", results.answer, body=body)


@_calls("POST /api/query/stream")
def stream(
    query: str,
    *,
    collection: str | None = None,
    top_k: int = 5,
    include_graph: bool = True,
    topic: str | None = None,
    where: Mapping[str, Json] | None = None,
    session_id: str | None = None,
) -> Call[StreamEvent]:
    """Like `ask`, event by event: tokens, citations, metadata, done. Leaving the loop stops the server's work."""
    body = _question(
        query, collection, top_k, include_graph=include_graph, topic=topic, where=where, session_id=session_id
    )
    return Call("POST", "/api/query/stream", results.event, body=body)


@_calls("POST /api/search")
def search(
    query: str,
    *,
    collection: str | None = None,
    top_k: int = 5,
    include_graph: bool = True,
    topic: str | None = None,
    where: Mapping[str, Json] | None = None,
) -> Call[SearchResult]:
    """Passages by meaning, by words and through the graph, best first."""
    body = _question(query, collection, top_k, include_graph=include_graph, topic=topic, where=where, session_id=None)
    return Call("POST", "/api/search", results.search_result, body=body)


@_calls("POST /api/feedback")
def feedback(query_id: str, rating: int, comment: str | None = None) -> Call[str]:
    """Rate an answer 1–5; returns the feedback's id."""
    body = {"query_id": query_id, "rating": rating, "comment": comment}
    return Call("POST", "/api/feedback", lambda found: str(found["feedback_id"]), body=body)


# ------------------------------------------------------------ taking in


def _taken_in(path: str, sources: Sequence[str], files: Sequence[Upload], fields: dict[str, Any]) -> Call[Accepted]:
    if files:
        sent = {name: str(value) for name, value in fields.items() if value is not None}
        return Call("POST", path, results.accepted, body=sent, uploads=tuple(files))
    return Call("POST", path, results.accepted, body={"sources": list(sources), **fields})


@_calls("POST /api/ingest")
def ingest(
    *sources: str,
    files: Sequence[Upload] = (),
    collection: str | None = None,
    kind: str = "documents",
    mode: str = "incremental",
    topic: str | None = None,
    title: str | None = None,
    format: str | None = None,
    metadata: Mapping[str, Json] | None = None,
) -> Call[Accepted]:
    """Queue addresses (or paths, where the server allows them), or upload files; `wait` for the job."""
    fields: dict[str, Any] = {
        "collection": collection,
        "kind": kind,
        "mode": mode,
        "topic": topic,
        "title": title,
        "format": format,
        "metadata": _metadata(metadata, as_text=bool(files)),
    }
    return _taken_in("/api/ingest", sources, files, fields)


@_calls("GET /api/ingest/{job_id}")
def job(job_id: str) -> Call[Job]:
    """How far an ingestion is, and what could not be taken in."""
    return Call("GET", at("/api/ingest/{id}", id=job_id), results.job)


def _metadata(metadata: Mapping[str, Json] | None, *, as_text: bool) -> Any:
    if metadata is None:
        return None
    return json.dumps(dict(metadata)) if as_text else dict(metadata)


# ------------------------------------------------------------ what is there


@_calls("GET /api/collections")
def collections() -> Call[list[Collection]]:
    """All collections, by name."""
    return Call("GET", "/api/collections", lambda found: [results.collection(one) for one in found["collections"]])


@_calls("GET /api/collections/{name}")
def collection(name: str) -> Call[Collection]:
    """One collection."""
    return Call("GET", at("/api/collections/{name}", name=name), results.collection)


@_calls("DELETE /api/collections/{name}")
def delete_collection(name: str) -> Call[None]:
    """Delete a collection with everything in it."""
    return Call("DELETE", at("/api/collections/{name}", name=name), _nothing)


@_calls("GET /api/documents")
def documents(
    collection: str | None = None, *, status: str | None = None, limit: int = 100, offset: int = 0
) -> Call[list[Document]]:
    """Documents by url."""
    query = {"collection": collection, "status": status, "limit": limit, "offset": offset}
    return Call("GET", "/api/documents", lambda found: [results.document(one) for one in found["documents"]], query)


@_calls("GET /api/documents/{document_id}")
def document(document_id: str) -> Call[tuple[Document, tuple[Passage, ...]]]:
    """One document and its passages in order."""
    return Call("GET", at("/api/documents/{id}", id=document_id), results.document_with_passages)


@_calls("DELETE /api/documents/{document_id}")
def delete_document(document_id: str) -> Call[Document]:
    """Delete a document: it is archived, and nothing of it is found any more."""
    return Call("DELETE", at("/api/documents/{id}", id=document_id), results.document)


@_calls("GET /api/passages/{passage_id}")
def passage(passage_id: str, *, collection: str | None = None, beside: int = 1) -> Call[PassageInDocument]:
    """The passage that a citation names, with its neighbours and its document."""
    query = {"collection": collection, "beside": beside}
    return Call("GET", at("/api/passages/{id}", id=passage_id), results.passage_in_document, query)


# ------------------------------------------------------------ courses


@_calls("POST /api/courses/{book_id}/ingest")
def ingest_course(
    book_id: str, *sources: str, files: Sequence[Upload] = (), mode: str = "incremental"
) -> Call[Accepted]:
    """Queue the lessons of a course."""
    return _taken_in(at("/api/courses/{id}/ingest", id=book_id), sources, files, {"mode": mode})


@_calls("POST /api/courses/search")
def search_course(text: str, *, book_id: str | None = None, limit: int = 5, **reader: Json) -> Call[dict[str, Any]]:
    """Passages for a reader, best first; `reader` is what the HTTP reference lists (`hardware_tier_filter`, …)."""
    return Call(
        "POST", "/api/courses/search", _object, body={"text": text, "book_id": book_id, "limit": limit, **reader}
    )


@_calls("GET /api/courses/{book_id}/lessons")
def lessons(book_id: str, *, filters: Sequence[str] = ()) -> Call[list[dict[str, Any]]]:
    """Lessons as they are taught."""
    path = at("/api/courses/{id}/lessons", id=book_id)
    return Call("GET", path, lambda found: list(found["lessons"]), {"filter": list(filters)})


@_calls("GET /api/courses/{book_id}/lessons/{parent_doc_id}")
def lesson(book_id: str, lesson: str, *, filters: Sequence[str] = ()) -> Call[dict[str, Any]]:
    """A lesson whole, by its id or its number."""
    path = at("/api/courses/{id}/lessons/{lesson}", id=book_id, lesson=lesson)
    return Call("GET", path, _object, {"filter": list(filters)})


@_calls("GET /api/courses/{book_id}/lessons/{parent_doc_id}/prerequisites")
def prerequisites(book_id: str, lesson: str, *, filters: Sequence[str] = ()) -> Call[dict[str, Any]]:
    """What must be known before a lesson, with the path to each."""
    path = at("/api/courses/{id}/lessons/{lesson}/prerequisites", id=book_id, lesson=lesson)
    return Call("GET", path, _object, {"filter": list(filters)})


@_calls("GET /api/courses/{book_id}/passages/{passage_id}/context")
def expand(
    book_id: str, passage_id: str, *, max_tokens: int | None = None, filters: Sequence[str] = ()
) -> Call[dict[str, Any]]:
    """A passage of a lesson with what stands around it."""
    path = at("/api/courses/{id}/passages/{passage}/context", id=book_id, passage=passage_id)
    return Call("GET", path, _object, {"max_tokens": max_tokens, "filter": list(filters)})


# ------------------------------------------------------------ tables


@_calls("GET /api/sessions")
def sessions() -> Call[list[TableSession]]:
    """All table sessions, by name."""
    return Call("GET", "/api/sessions", lambda found: [results.session(one) for one in found["sessions"]])


@_calls("POST /api/sessions")
def make_session(
    session_id: str | None = None, *, use_rag: bool = True, persist: bool = True, expires_after: float | None = None
) -> Call[TableSession]:
    """A session for one table."""
    body = {"session_id": session_id, "use_rag": use_rag, "persist": persist, "expires_after": expires_after}
    return Call("POST", "/api/sessions", results.session, body=body)


@_calls("GET /api/sessions/{session_id}")
def session(session_id: str) -> Call[TableSession]:
    """One session: status, rows, columns, files."""
    return Call("GET", at("/api/sessions/{id}", id=session_id), results.session)


@_calls("DELETE /api/sessions/{session_id}")
def delete_session(session_id: str) -> Call[None]:
    """Delete a session with all its rows."""
    return Call("DELETE", at("/api/sessions/{id}", id=session_id), _nothing)


@_calls("POST /api/sessions/{session_id}/feed-data")
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
    return _taken_in(path, sources, files, fields)


@_calls("POST /api/sessions/{session_id}/query")
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


@_calls("POST /api/sessions/{session_id}/query/stream")
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


@_calls("GET /api/sessions/{session_id}/bad-rows")
def bad_rows(session_id: str, *, limit: int = 100, offset: int = 0) -> Call[list[dict[str, Any]]]:
    """Records that could not be used: file, line, reason, text."""
    path = at("/api/sessions/{id}/bad-rows", id=session_id)
    return Call("GET", path, lambda found: list(found["bad_rows"]), {"limit": limit, "offset": offset})


@_calls("PATCH /api/sessions/{session_id}/rows")
def update_rows(
    session_id: str, key: str, *, upsert: Sequence[Mapping[str, Json]] = (), delete: Sequence[Json] = ()
) -> Call[dict[str, int]]:
    """Change, add or delete single rows by the value of their key column; returns updated, inserted, deleted."""
    body = {"key": key, "upsert": [dict(row) for row in upsert], "delete": list(delete)}
    return Call("PATCH", at("/api/sessions/{id}/rows", id=session_id), _object, body=body)


# ------------------------------------------------------------ graphs


@_calls("POST /api/graph/nodes")
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


@_calls("GET /api/graph/nodes")
def nodes(
    collection: str | None = None, *, type: str | None = None, after: str = "", limit: int = 100
) -> Call[list[Node]]:
    """Nodes by id, those behind `after`."""
    query = {"collection": collection, "type": type, "after": after, "limit": limit}
    return Call("GET", "/api/graph/nodes", lambda found: [results.node(one) for one in found["nodes"]], query)


@_calls("GET /api/graph/nodes/{node_id}")
def node(node_id: str, *, collection: str | None = None) -> Call[Node]:
    """One node."""
    return Call("GET", at("/api/graph/nodes/{id}", id=node_id), results.node, {"collection": collection})


@_calls("PATCH /api/graph/nodes/{node_id}")
def update_node(node_id: str, *, collection: str | None = None, **changes: Any) -> Call[Node]:
    """Change type, title, description, aliases or properties (as a whole) of a node."""
    path = at("/api/graph/nodes/{id}", id=node_id)
    return Call("PATCH", path, results.node, {"collection": collection}, changes)


@_calls("DELETE /api/graph/nodes/{node_id}")
def delete_node(node_id: str, *, collection: str | None = None) -> Call[list[str]]:
    """Take a node out with its edges; returns their ids."""
    path = at("/api/graph/nodes/{id}", id=node_id)
    return Call("DELETE", path, lambda found: list(found["edges"]), {"collection": collection})


@_calls("POST /api/graph/edges")
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


@_calls("GET /api/graph/edges")
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


@_calls("GET /api/graph/edges/{edge_id}")
def edge(edge_id: str, *, collection: str | None = None) -> Call[Edge]:
    """One edge."""
    return Call("GET", at("/api/graph/edges/{id}", id=edge_id), results.edge, {"collection": collection})


@_calls("PATCH /api/graph/edges/{edge_id}")
def update_edge(edge_id: str, *, collection: str | None = None, **changes: Any) -> Call[Edge]:
    """Change source, target, type or properties (as a whole) of an edge."""
    path = at("/api/graph/edges/{id}", id=edge_id)
    return Call("PATCH", path, results.edge, {"collection": collection}, changes)


@_calls("DELETE /api/graph/edges/{edge_id}")
def delete_edge(edge_id: str, *, collection: str | None = None) -> Call[None]:
    """Take an edge out."""
    return Call("DELETE", at("/api/graph/edges/{id}", id=edge_id), _nothing, {"collection": collection})


@_calls("POST /api/graph/index")
def index_graph(collection: str | None = None, *, full: bool = False) -> Call[Accepted]:
    """Queue a job that indexes every node that is not current; all with `full`."""
    return Call("POST", "/api/graph/index", results.accepted, body={"collection": collection, "full": full})


@_calls("POST /api/graph/reconcile")
def reconcile(collection: str | None = None, *, repair: bool = False) -> Call[Reconciled]:
    """Compare a graph with its index, and with `repair` make the index like the graph."""
    return Call("POST", "/api/graph/reconcile", results.reconciled, body={"collection": collection, "repair": repair})


@_calls("POST /api/rag/query")
def ask_graph(
    question: str, *, collection: str | None = None, top_k: int = 5, session_id: str | None = None
) -> Call[StreamEvent]:
    """Ask a graph, event by event."""
    body = {"question": question, "collection": collection, "top_k": top_k, "session_id": session_id}
    return Call("POST", "/api/rag/query", results.event, body=body)


# ------------------------------------------------------------ chat clients and operations


@_calls("POST /v1/chat/completions")
def chat(messages: Sequence[Mapping[str, str]], *, model: str = "kedge") -> Call[dict[str, Any]]:
    """A chat completion, as chat clients ask for it."""
    body = {"model": model, "messages": [dict(message) for message in messages]}
    return Call("POST", "/v1/chat/completions", _object, body=body)


@_calls("GET /v1/models")
def models() -> Call[list[str]]:
    """Collections as models of chat clients."""
    return Call("GET", "/v1/models", lambda found: [str(one["id"]) for one in found["data"]])


@_calls("GET /health")
def health() -> Call[dict[str, Any]]:
    """Does the process live?"""
    return Call("GET", "/health", _object)


@_calls("GET /ready")
def ready() -> Call[dict[str, Any]]:
    """Does every part work? `status` is `ready` or `not_ready`, `parts` say why."""
    return Call("GET", "/ready", _object, any_status=True)


@_calls("GET /metrics")
def metrics() -> Call[str]:
    """Metrics in the format of Prometheus."""
    return Call("GET", "/metrics", str, text=True)


@_calls("POST /api/backup")
def backup() -> Call[None]:
    """A backup of everything, as bytes."""
    return Call("POST", "/api/backup", _nothing, slow=True)


def _nothing(_found: object) -> None:
    return None


def _object(found: Any) -> dict[str, Any]:
    return dict(found)
