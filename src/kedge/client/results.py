"""JSON of the HTTP API as Kedge's own values. What the API does not send (a tenant, a version) is empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from kedge.stores.nodes.base import Edge, Node
from kedge.types import (
    Answer,
    Citation,
    Collection,
    Document,
    DocumentStatus,
    IngestMode,
    Job,
    JobStatus,
    Passage,
    Scope,
    SearchHit,
    SearchResult,
    SourceError,
    StreamEvent,
)

Found: TypeAlias = Mapping[str, Any]
_UNKNOWN = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Accepted:
    """An ingestion that was queued; `job(job_id)` or `wait(job_id)` follows it."""

    job_id: str
    status: JobStatus
    document_id: str | None = None


@dataclass(frozen=True, slots=True)
class TableSession:
    """A table session now."""

    id: str
    status: str
    """empty, building, ready, failed or expired."""
    table: str
    rows: int
    bad_rows: int
    columns: tuple[Found, ...]
    """name, type, distinct, empty."""
    files: tuple[Found, ...]
    """name, url, format, rows, bad_rows, role."""
    notes: tuple[str, ...]
    error: str | None
    job_id: str | None
    """The feed that has not ended yet."""
    use_rag: bool
    persist: bool
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class PassageInDocument:
    """A passage, those around it in order, and their document."""

    passage_id: str
    document: Document
    passages: tuple[Passage, ...]
    has_before: bool
    has_after: bool


@dataclass(frozen=True, slots=True)
class Reconciled:
    """How a graph and its index differ, by ids of nodes."""

    ok: bool
    nodes: int
    missing: tuple[str, ...]
    orphaned: tuple[str, ...]
    stale: tuple[str, ...]
    repaired: bool


def answer(found: Found) -> Answer:
    """Of `/api/query` and of a session's."""
    metadata = dict(found["metadata"])
    places = {place.get("id"): place for place in metadata.get("sources", [])}
    return Answer(
        query_id=found["query_id"],
        answer=found["answer"],
        citations=tuple(citation(one, places.get(one["id"], {})) for one in found["citations"]),
        confidence=found["confidence"],
        evidence_probability=found["evidence_probability"],
        short_answer=metadata.get("short_answer"),
        metadata=metadata,
    )


def citation(found: Found, place: Found | None = None) -> Citation:
    """A citation; `place` is what an answer's metadata says about where it stands."""
    place = place or {}
    return Citation(
        id=found["id"],
        passage_id=found["passage_id"],
        document_id=place.get("document_id") or "",
        title=found["title"],
        url=found["url"],
        snippet=found["snippet"],
        start=found["start"],
        end=found["end"],
        relevance_score=found["relevance_score"],
        page=place.get("page"),
        section_path=tuple(place.get("section_path") or ()),
    )


def event(found: Found) -> StreamEvent:
    """One server-sent event."""
    cited = found.get("citation")
    return StreamEvent(
        type=found["type"],
        content=found.get("content"),
        citation=citation(cited) if cited else None,
        metadata=found.get("metadata"),
        error=found.get("error"),
    )


def search_result(found: Found) -> SearchResult:
    """Of `/api/search`."""
    return SearchResult(found["query"], tuple(_hit(hit) for hit in found["results"]), found["timings_ms"])


_PLACE = frozenset(
    "document_id external_id title url page chunk_index has_code has_formula has_table language topic_tag section_path "
    "start end above_threshold in_both path".split()
)


def _hit(found: Found) -> SearchHit:
    said = found["metadata"]
    passage = Passage(
        id=found["passage_id"],
        document_id=found["document_id"],
        version_id="",
        index=said.get("chunk_index") or 0,
        text=found["text"],
        start=said.get("start", 0),
        end=said.get("end", len(found["text"])),
        content_hash="",
        token_count=0,
        title=found["title"],
        url=said.get("url") or "",
        external_id=found["external_id"],
        section_path=tuple(said.get("section_path") or ()),
        page=said.get("page"),
        has_code=bool(said.get("has_code")),
        has_formula=bool(said.get("has_formula")),
        has_table=bool(said.get("has_table")),
        language=said.get("language") or "und",
        topic_tag=said.get("topic_tag"),
        metadata={name: value for name, value in said.items() if name not in _PLACE},
    )
    return SearchHit(
        rank=found["rank"],
        passage=passage,
        score=found["score"],
        vector_rank=found["vector_rank"],
        keyword_rank=found["keyword_rank"],
        graph_rank=found["graph_rank"],
        path=tuple(said.get("path") or ()),
        above_threshold=bool(said.get("above_threshold")),
    )


def accepted(found: Found) -> Accepted:
    """Of everything that is queued."""
    return Accepted(found["job_id"], JobStatus(found["status"]), found.get("document_id"))


def job(found: Found) -> Job:
    """A job and how far it is."""
    plain = "current_step progress total_passages processed_passages files_discovered files_processed files_skipped"
    more = "files_failed files_deleted passages_created passages_deleted error_message document_id"
    return Job(
        id=found["job_id"],
        scope=Scope("", found["collection"]),
        kind=found["kind"],
        mode=IngestMode(found["mode"]),
        request={},
        status=JobStatus(found["status"]),
        errors=tuple(SourceError(**one) for one in found["errors"]),
        warnings=tuple(found["warnings"]),
        created_at=_time(found["created_at"]),
        started_at=_time(found["started_at"]),
        completed_at=_time(found["completed_at"]),
        **{name: found[name] for name in (*plain.split(), *more.split())},
    )


def collection(found: Found) -> Collection:
    """A collection with its counts."""
    return Collection(
        scope=Scope("", found["name"]),
        kind=found["kind"],
        embedder=found["embedder"],
        dimension=found["dimension"],
        generation=found["generation"],
        index_name="",
        created_at=_time(found["created_at"]) or _UNKNOWN,
        topics=tuple(found["topics"]),
        documents=found["documents"],
        passages=found["passages"],
    )


def document(found: Found) -> Document:
    """A document."""
    plain = "url external_id title format author topic_tag file_hash file_size chunk_count error_message metadata"
    return Document(
        id=found["document_id"],
        scope=Scope("", found["collection"]),
        status=DocumentStatus(found["status"]),
        created_at=_time(found["created_at"]),
        updated_at=_time(found["updated_at"]),
        ingested_at=_time(found["ingested_at"]),
        **{name: found[name] for name in plain.split()},
    )


def document_with_passages(found: Found) -> tuple[Document, tuple[Passage, ...]]:
    """A document and its passages in order."""
    whole = document(found)
    return whole, tuple(_passage(one, whole) for one in found["passages"])


def passage_in_document(found: Found) -> PassageInDocument:
    """A passage in its place."""
    whole = document(found["document"])
    around = tuple(_passage(one, whole) for one in found["passages"])
    return PassageInDocument(found["passage_id"], whole, around, found["has_before"], found["has_after"])


def _passage(found: Found, whole: Document) -> Passage:
    plain = "index text start end page token_count has_code has_formula has_table language"
    return Passage(
        id=found["passage_id"],
        document_id=whole.id,
        version_id="",
        content_hash="",
        title=whole.title,
        url=whole.url,
        external_id=whole.external_id,
        section_path=tuple(found["section_path"]),
        topic_tag=whole.topic_tag,
        metadata=whole.metadata,
        **{name: found[name] for name in plain.split()},
    )


def session(found: Found) -> TableSession:
    """A table session."""
    plain = "status table rows bad_rows error job_id use_rag persist"
    return TableSession(
        id=found["session_id"],
        columns=tuple(found["columns"]),
        files=tuple(found["files"]),
        notes=tuple(found["notes"]),
        expires_at=_time(found["expires_at"]),
        **{name: found[name] for name in plain.split()},
    )


def node(found: Found) -> Node:
    """A node of a user's graph."""
    times = {name: _time(found[name]) for name in ("created_at", "updated_at")}
    return Node(**{**found, **times, "aliases": tuple(found["aliases"])})


def edge(found: Found) -> Edge:
    """An edge of a user's graph."""
    return Edge(**{**found, **{name: _time(found[name]) for name in ("created_at", "updated_at")}})


def reconciled(found: Found) -> Reconciled:
    """How a graph and its index differ."""
    ids = {name: tuple(found[name]) for name in ("missing", "orphaned", "stale")}
    return Reconciled(ok=found["ok"], nodes=found["nodes"], repaired=found["repaired"], **ids)


def _time(moment: str | None) -> datetime | None:
    return datetime.fromisoformat(moment) if moment else None
