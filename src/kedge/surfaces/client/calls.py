"""Every address of the HTTP API as a function that says what to send and how the answer is read.

Both clients are made from these, so nothing is written twice. Courses, tables and graphs are in `kind_calls`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias
from urllib.parse import quote

from kedge.core.outside import from_json
from kedge.core.values import (
    DEFAULT_KIND,
    PERIOD_DAYS,
    Accepted,
    AnalyticsSummary,
    Answer,
    Collection,
    CollectionList,
    Document,
    DocumentPage,
    DocumentWithPassages,
    Erased,
    Health,
    IngestPlan,
    Job,
    Json,
    KeptFeedback,
    Passage,
    PassageInDocument,
    SearchResult,
    ServerReadiness,
    StreamEvent,
)
from kedge.surfaces.client.endpoints import as_object, calls, nothing, reads, taken_in
from kedge.surfaces.client.wire import ClientCall, Upload, at

Where: TypeAlias = Mapping[str, Json] | Sequence[str]
"""Conditions that all hold: `{"page": {"gte": 3}}`, or terms as the command line has them: `["page>=3"]`."""

# ------------------------------------------------------------ asking


def _question(
    query: str,
    collection: str | None,
    top_k: int | None,
    *,
    include_graph: bool,
    topic: str | None,
    where: Where | None,
    session_id: str | None,
    reading: int | None = None,
    as_of: str | date | None = None,
) -> dict[str, Any]:
    return {
        "query": query,
        "collection": collection,
        "top_k": top_k,
        "include_graph": include_graph,
        "topic_filter": topic,
        "filter": dict(where or {}) if isinstance(where, Mapping | None) else list(where),
        "session_id": session_id,
        **({"reading": reading} if reading is not None else {}),
        **({"as_of": as_of if isinstance(as_of, str) else as_of.isoformat()} if as_of is not None else {}),
    }


@calls("POST /api/query")
def ask(
    query: str,
    *,
    collection: str | None = None,
    top_k: int | None = None,
    include_graph: bool = True,
    topic: str | None = None,
    where: Where | None = None,
    session_id: str | None = None,
    reading: int | None = None,
    as_of: str | date | None = None,
) -> ClientCall[Answer]:
    """An answer made of cited sentences, or a refusal that says so (`answer.refused`).

    `reading` says which of several readings of a question over a table is meant, from 1. `as_of` asks what was live
    then: a date (its end), or a time, UTC unless it says a zone.
    """
    body = _question(
        query,
        collection,
        top_k,
        include_graph=include_graph,
        topic=topic,
        where=where,
        session_id=session_id,
        reading=reading,
        as_of=as_of,
    )
    return ClientCall("POST", "/api/query", reads(Answer), body=body)


@calls("POST /api/query/stream")
def stream(
    query: str,
    *,
    collection: str | None = None,
    top_k: int | None = None,
    include_graph: bool = True,
    topic: str | None = None,
    where: Where | None = None,
    session_id: str | None = None,
    reading: int | None = None,
    as_of: str | date | None = None,
) -> ClientCall[StreamEvent]:
    """Like `ask`, event by event: tokens, citations, metadata, done. Leaving the loop stops the server's work."""
    body = _question(
        query,
        collection,
        top_k,
        include_graph=include_graph,
        topic=topic,
        where=where,
        session_id=session_id,
        reading=reading,
        as_of=as_of,
    )
    return ClientCall("POST", "/api/query/stream", reads(StreamEvent), body=body, streams=True)


@calls("POST /api/search")
def search(
    query: str,
    *,
    collection: str | None = None,
    top_k: int | None = None,
    include_graph: bool = True,
    topic: str | None = None,
    where: Where | None = None,
    as_of: str | date | None = None,
) -> ClientCall[SearchResult]:
    """Passages by meaning, by words and through the graph, best first; with `as_of`, of what was live then."""
    body = _question(
        query,
        collection,
        top_k,
        include_graph=include_graph,
        topic=topic,
        where=where,
        session_id=None,
        as_of=as_of,
    )
    return ClientCall("POST", "/api/search", reads(SearchResult), body=body)


@calls("GET /api/analytics")
def analytics(*, days: float = PERIOD_DAYS, top: int = 10) -> ClientCall[AnalyticsSummary]:
    """Counts and mean times of the queries that are kept, and the `top` most frequent of the last `days`."""
    return ClientCall("GET", "/api/analytics", reads(AnalyticsSummary), query={"days": days, "top": top})


@calls("DELETE /api/analytics/users/{user}")
def forget_user(user: str) -> ClientCall[Erased]:
    """Erase what is kept of a user (an administrator's call); returns how much that was."""
    return ClientCall("DELETE", at("/api/analytics/users/{user}", user=user), reads(Erased))


@calls("POST /api/feedback")
def feedback(query_id: str, rating: int, comment: str | None = None, *, binary: bool = False) -> ClientCall[str]:
    """Rate an answer 1–5, or no and yes as 0 and 1 (`binary`); returns the feedback's id."""
    body = {"query_id": query_id, "rating": rating, "comment": comment, "binary": binary}
    return ClientCall("POST", "/api/feedback", lambda found: from_json(KeptFeedback, found).feedback_id, body=body)


# ------------------------------------------------------------ taking in


@calls("POST /api/ingest")
def ingest(
    *sources: str,
    files: Sequence[Upload] = (),
    collection: str | None = None,
    kind: str = DEFAULT_KIND,
    mode: str = "incremental",
    topic: str | None = None,
    title: str | None = None,
    format: str | None = None,
    metadata: Mapping[str, Json] | None = None,
    options: Mapping[str, Json] | None = None,
    readers: Sequence[str] | None = None,
) -> ClientCall[Accepted]:
    """Queue addresses (or paths, where the server allows them), or upload files; `wait` for the job.

    `readers` may read it, whatever the sources say. `options` are for the kind, and go with addresses alone.
    """
    fields: dict[str, Any] = {
        "collection": collection,
        "kind": kind,
        "mode": mode,
        "topic": topic,
        "title": title,
        "format": format,
        "metadata": _metadata(metadata, as_text=bool(files)),
        **({"options": dict(options)} if options else {}),
        **({} if readers is None else {"readers": ",".join(readers) if files else list(readers)}),
    }
    return taken_in("/api/ingest", sources, files, fields)


@calls("POST /api/ingest/plan")
def plan_ingest(
    *sources: str, collection: str | None = None, kind: str = DEFAULT_KIND, mode: str = "incremental"
) -> ClientCall[IngestPlan]:
    """Which sources are new, modified or gone; nothing is taken in."""
    body = {"sources": list(sources), "collection": collection, "kind": kind, "mode": mode}
    return ClientCall("POST", "/api/ingest/plan", reads(IngestPlan), body=body)


@calls("GET /api/ingest/{job_id}")
def job(job_id: str) -> ClientCall[Job]:
    """How far an ingestion is, and what could not be taken in."""
    return ClientCall("GET", at("/api/ingest/{id}", id=job_id), reads(Job))


def _metadata(metadata: Mapping[str, Json] | None, *, as_text: bool) -> Any:
    if metadata is None:
        return None
    return json.dumps(dict(metadata)) if as_text else dict(metadata)


# ------------------------------------------------------------ what is there


@calls("GET /api/collections")
def collections() -> ClientCall[list[Collection]]:
    """All collections, by name."""
    return ClientCall("GET", "/api/collections", lambda found: list(from_json(CollectionList, found).collections))


@calls("GET /api/collections/{name}")
def collection(name: str) -> ClientCall[Collection]:
    """One collection."""
    return ClientCall("GET", at("/api/collections/{name}", name=name), reads(Collection))


@calls("DELETE /api/collections/{name}")
def delete_collection(name: str) -> ClientCall[None]:
    """Delete a collection with everything in it."""
    return ClientCall("DELETE", at("/api/collections/{name}", name=name), nothing)


@calls("GET /api/documents")
def documents(
    collection: str | None = None, *, status: str | None = None, search: str = "", limit: int = 100, offset: int = 0
) -> ClientCall[list[Document]]:
    """Documents by url; with `search`, those that these words name."""
    query = {"collection": collection, "status": status, "search": search or None, "limit": limit, "offset": offset}
    return ClientCall("GET", "/api/documents", lambda found: list(from_json(DocumentPage, found).documents), query)


@calls("GET /api/documents/{document_id}")
def document(document_id: str) -> ClientCall[tuple[Document, tuple[Passage, ...]]]:
    """One document and its passages in order."""
    return ClientCall("GET", at("/api/documents/{id}", id=document_id), _with_passages)


def _with_passages(found: Any) -> tuple[Document, tuple[Passage, ...]]:
    whole = from_json(DocumentWithPassages, found)
    return whole.document, whole.passages


@calls("DELETE /api/documents/{document_id}")
def delete_document(document_id: str) -> ClientCall[Document]:
    """Delete a document: it is archived, and nothing of it is found any more."""
    return ClientCall("DELETE", at("/api/documents/{id}", id=document_id), reads(Document))


@calls("GET /api/passages/{passage_id}")
def passage(passage_id: str, *, collection: str | None = None, beside: int = 1) -> ClientCall[PassageInDocument]:
    """The passage that a citation names, with its neighbours and its document."""
    query = {"collection": collection, "beside": beside}
    return ClientCall("GET", at("/api/passages/{id}", id=passage_id), reads(PassageInDocument), query)


# ------------------------------------------------------------ chat clients and operations


@calls("POST /v1/chat/completions")
def chat(messages: Sequence[Mapping[str, str]], *, model: str = "kedge") -> ClientCall[dict[str, Any]]:
    """A chat completion, as chat clients ask for it."""
    body = {"model": model, "messages": [dict(message) for message in messages]}
    return ClientCall("POST", "/v1/chat/completions", as_object, body=body)


@calls("GET /v1/models")
def models() -> ClientCall[list[str]]:
    """Collections as models of chat clients."""
    return ClientCall("GET", "/v1/models", lambda found: [str(one["id"]) for one in found["data"]])


@calls("GET /v1/models/{model}")
def model(name: str) -> ClientCall[dict[str, Any]]:
    """A collection as a model of chat clients. NotFoundError."""
    return ClientCall("GET", f"/v1/models/{quote(name)}", as_object)


@calls("GET /health")
def health() -> ClientCall[Health]:
    """Does the process live?"""
    return ClientCall("GET", "/health", reads(Health))


@calls("GET /ready")
def ready() -> ClientCall[ServerReadiness]:
    """Does every part work? `status` is `ready` or `not_ready`, `parts` say why."""
    return ClientCall("GET", "/ready", reads(ServerReadiness), any_status=True)


@calls("GET /metrics")
def metrics() -> ClientCall[str]:
    """Metrics in the format of Prometheus."""
    return ClientCall("GET", "/metrics", str, text=True)


@calls("POST /api/backup")
def backup() -> ClientCall[None]:
    """A backup of everything, as bytes."""
    return ClientCall("POST", "/api/backup", nothing, slow=True)
