"""Every address of the HTTP API as a function that says what to send and how the answer is read.

Both clients are made from these, so nothing is written twice. Courses, tables and graphs are in `kind_calls`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kedge.client import results
from kedge.client.endpoints import as_object, calls, nothing, taken_in
from kedge.client.results import Accepted, PassageInDocument
from kedge.client.wire import Call, Upload, at
from kedge.types import Answer, Collection, Document, Job, Json, Passage, SearchResult, StreamEvent

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


@calls("POST /api/query")
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


@calls("POST /api/query/stream")
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


@calls("POST /api/search")
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


@calls("GET /api/analytics")
def analytics() -> Call[Mapping[str, Json]]:
    """Counts and mean times of the queries that are kept."""
    return Call("GET", "/api/analytics", dict)


@calls("DELETE /api/analytics/users/{user}")
def forget_user(user: str) -> Call[Mapping[str, Json]]:
    """Erase what is kept of a user (an administrator's call); returns how much that was."""
    return Call("DELETE", at("/api/analytics/users/{user}", user=user), dict)


@calls("POST /api/feedback")
def feedback(query_id: str, rating: int, comment: str | None = None) -> Call[str]:
    """Rate an answer 1–5; returns the feedback's id."""
    body = {"query_id": query_id, "rating": rating, "comment": comment}
    return Call("POST", "/api/feedback", lambda found: str(found["feedback_id"]), body=body)


# ------------------------------------------------------------ taking in


@calls("POST /api/ingest")
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
    return taken_in("/api/ingest", sources, files, fields)


@calls("GET /api/ingest/{job_id}")
def job(job_id: str) -> Call[Job]:
    """How far an ingestion is, and what could not be taken in."""
    return Call("GET", at("/api/ingest/{id}", id=job_id), results.job)


def _metadata(metadata: Mapping[str, Json] | None, *, as_text: bool) -> Any:
    if metadata is None:
        return None
    return json.dumps(dict(metadata)) if as_text else dict(metadata)


# ------------------------------------------------------------ what is there


@calls("GET /api/collections")
def collections() -> Call[list[Collection]]:
    """All collections, by name."""
    return Call("GET", "/api/collections", lambda found: [results.collection(one) for one in found["collections"]])


@calls("GET /api/collections/{name}")
def collection(name: str) -> Call[Collection]:
    """One collection."""
    return Call("GET", at("/api/collections/{name}", name=name), results.collection)


@calls("DELETE /api/collections/{name}")
def delete_collection(name: str) -> Call[None]:
    """Delete a collection with everything in it."""
    return Call("DELETE", at("/api/collections/{name}", name=name), nothing)


@calls("GET /api/documents")
def documents(
    collection: str | None = None, *, status: str | None = None, limit: int = 100, offset: int = 0
) -> Call[list[Document]]:
    """Documents by url."""
    query = {"collection": collection, "status": status, "limit": limit, "offset": offset}
    return Call("GET", "/api/documents", lambda found: [results.document(one) for one in found["documents"]], query)


@calls("GET /api/documents/{document_id}")
def document(document_id: str) -> Call[tuple[Document, tuple[Passage, ...]]]:
    """One document and its passages in order."""
    return Call("GET", at("/api/documents/{id}", id=document_id), results.document_with_passages)


@calls("DELETE /api/documents/{document_id}")
def delete_document(document_id: str) -> Call[Document]:
    """Delete a document: it is archived, and nothing of it is found any more."""
    return Call("DELETE", at("/api/documents/{id}", id=document_id), results.document)


@calls("GET /api/passages/{passage_id}")
def passage(passage_id: str, *, collection: str | None = None, beside: int = 1) -> Call[PassageInDocument]:
    """The passage that a citation names, with its neighbours and its document."""
    query = {"collection": collection, "beside": beside}
    return Call("GET", at("/api/passages/{id}", id=passage_id), results.passage_in_document, query)


# ------------------------------------------------------------ chat clients and operations


@calls("POST /v1/chat/completions")
def chat(messages: Sequence[Mapping[str, str]], *, model: str = "kedge") -> Call[dict[str, Any]]:
    """A chat completion, as chat clients ask for it."""
    body = {"model": model, "messages": [dict(message) for message in messages]}
    return Call("POST", "/v1/chat/completions", as_object, body=body)


@calls("GET /v1/models")
def models() -> Call[list[str]]:
    """Collections as models of chat clients."""
    return Call("GET", "/v1/models", lambda found: [str(one["id"]) for one in found["data"]])


@calls("GET /health")
def health() -> Call[dict[str, Any]]:
    """Does the process live?"""
    return Call("GET", "/health", as_object)


@calls("GET /ready")
def ready() -> Call[dict[str, Any]]:
    """Does every part work? `status` is `ready` or `not_ready`, `parts` say why."""
    return Call("GET", "/ready", as_object, any_status=True)


@calls("GET /metrics")
def metrics() -> Call[str]:
    """Metrics in the format of Prometheus."""
    return Call("GET", "/metrics", str, text=True)


@calls("POST /api/backup")
def backup() -> Call[None]:
    """A backup of everything, as bytes."""
    return Call("POST", "/api/backup", nothing, slow=True)
