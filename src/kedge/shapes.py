"""How Kedge's values look as JSON: the one place that the command line and the HTTP API share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from kedge.answer.shown import NEAREST, excerpt, nearest_json, source_json
from kedge.nodekeeper import Reconciled
from kedge.sessions import Session
from kedge.stores.nodes.base import Edge, Node
from kedge.tables.state import IndexState
from kedge.types import (
    Answer,
    Citation,
    Collection,
    Document,
    Job,
    JobStatus,
    Json,
    Passage,
    SearchHit,
    SearchResult,
    SourceError,
    StreamEvent,
)

__all__ = [
    "all_ok",
    "answer_json",
    "citation_json",
    "collection_json",
    "document_json",
    "event_json",
    "excerpt",
    "health_json",
    "hit_json",
    "job_json",
    "passage_json",
    "search_json",
]


def search_json(result: SearchResult) -> dict[str, Json]:
    """What `kedge search --json` prints."""
    return {
        "query": result.query,
        "results": [hit_json(hit) for hit in result.hits],
        "timings_ms": {stage: round(ms, 3) for stage, ms in result.timings_ms.items()},
    }


def hit_json(hit: SearchHit) -> dict[str, Json]:
    """One search result; place, flags and free metadata of its passage are under `metadata`."""
    passage = hit.passage
    return {
        "rank": hit.rank,
        "passage_id": passage.id,
        "document_id": passage.document_id,
        "external_id": passage.external_id,
        "title": passage.title,
        "text": passage.text,
        "score": hit.score,
        "vector_rank": hit.vector_rank,
        "keyword_rank": hit.keyword_rank,
        "graph_rank": hit.graph_rank,
        "metadata": _hit_metadata(hit),
    }


def _hit_metadata(hit: SearchHit) -> dict[str, Json]:
    passage = hit.passage
    return {
        **passage.payload(),
        "section_path": list(passage.section_path),
        "start": passage.start,
        "end": passage.end,
        "above_threshold": hit.above_threshold,
        "in_both": hit.in_both,
        "path": list(hit.path),
    }


def answer_json(answer: Answer) -> dict[str, Json]:
    """What `kedge ask --json` prints and `POST /api/query` returns."""
    return {
        "query_id": answer.query_id,
        "answer": answer.answer,
        "citations": [citation_json(citation) for citation in answer.citations],
        "confidence": answer.confidence,
        "evidence_probability": answer.evidence_probability,
        "metadata": _answer_metadata(answer),
    }


def _answer_metadata(answer: Answer) -> dict[str, Json]:
    found: dict[str, Json] = {**answer.metadata, "short_answer": answer.short_answer}
    found["sources"] = [source_json(citation) for citation in answer.citations]
    if answer.refused:
        found["nearest"] = [nearest_json(hit) for hit in answer.hits[:NEAREST]]
    return found


def citation_json(citation: Citation) -> dict[str, Json]:
    """A citation; `start` and `end` are offsets in the document's text."""
    return {
        "id": citation.id,
        "passage_id": citation.passage_id,
        "title": citation.title,
        "url": citation.url,
        "snippet": citation.snippet,
        "start": citation.start,
        "end": citation.end,
        "relevance_score": citation.relevance_score,
    }


def session_json(session: Session) -> dict[str, Json]:
    """A table session: how far it is, what it holds and what was odd."""
    state, job = session.state, session.job
    columns: list[Json] = [
        {"name": one.name, "type": one.type.value, "distinct": one.distinct, "empty": one.empty}
        for one in state.columns
    ]
    files: list[Json] = [
        {
            "name": one.name,
            "url": one.url,
            "format": one.format,
            "rows": one.rows,
            "bad_rows": one.bad,
            "role": one.role,
        }
        for one in state.parts
    ]
    return {
        "session_id": session.id,
        "status": session.status,
        "table": state.name,
        "rows": state.rows,
        "bad_rows": state.bad_rows,
        "columns": columns,
        "files": files,
        "use_rag": state.use_rag,
        "persist": state.persist,
        "index": None if state.index is None else index_json(state.index),
        "error": state.error or None,
        "notes": list(state.notes),
        "job_id": job.id if job else None,
        "progress": job.progress if job else None,
        "created_at": _time(state.created_at),
        "fed_at": _time(state.fed_at),
        "expires_at": _time(state.expires_at),
    }


def index_json(index: IndexState) -> dict[str, Json]:
    """How a session's index was built."""
    return {
        "embedder": index.embedder or None,
        "texts": index.texts,
        "embedded_whole": index.whole,
        "embedded_words": index.words,
        "bytes": index.bytes,
    }


def event_json(event: StreamEvent) -> dict[str, Json]:
    """The data of one server-sent event: its type and the one field that the type has."""
    data: dict[str, Json] = {"type": event.type}
    if event.content is not None:
        data["content"] = event.content
    if event.citation is not None:
        data["citation"] = citation_json(event.citation)
    if event.metadata is not None:
        data["metadata"] = dict(event.metadata)
    if event.error is not None:
        data["error"] = dict(event.error)
    return data


def job_json(job: Job) -> dict[str, Json]:
    """A job with its progress and its faults."""
    return {
        "job_id": job.id,
        "document_id": job.document_id,
        "collection": job.scope.collection,
        "kind": job.kind,
        "mode": job.mode.value,
        "status": job.status.value,
        "state": _state(job),
        "current_step": job.current_step,
        "progress": job.progress,
        "total_passages": job.total_passages,
        "processed_passages": job.processed_passages,
        "files_discovered": job.files_discovered,
        "files_processed": job.files_processed,
        "files_skipped": job.files_skipped,
        "files_failed": job.files_failed,
        "files_deleted": job.files_deleted,
        "passages_created": job.passages_created,
        "passages_deleted": job.passages_deleted,
        "errors": [source_error_json(error) for error in job.errors],
        "warnings": list(job.warnings),
        "error_message": job.error_message,
        "created_at": _time(job.created_at),
        "started_at": _time(job.started_at),
        "completed_at": _time(job.completed_at),
        "duration_seconds": _seconds(job),
    }


def _state(job: Job) -> str:
    """The status without its steps (C-10)."""
    plain = {JobStatus.QUEUED: "queued", JobStatus.COMPLETE: "completed", JobStatus.FAILED: "failed"}
    return plain.get(job.status, "running")


def _seconds(job: Job) -> float | None:
    if job.started_at is None or job.completed_at is None:
        return None
    return round((job.completed_at - job.started_at).total_seconds(), 3)


def source_error_json(error: SourceError) -> dict[str, Json]:
    """One source that could not be taken in."""
    return {"url": error.url, "code": error.code, "message": error.message, "hint": error.hint}


def collection_json(collection: Collection) -> dict[str, Json]:
    """A collection with its counts."""
    return {
        "name": collection.scope.collection,
        "kind": collection.kind,
        "embedder": collection.embedder,
        "dimension": collection.dimension,
        "generation": collection.generation,
        "documents": collection.documents,
        "passages": collection.passages,
        "topics": list(collection.topics),
        "created_at": _time(collection.created_at),
    }


def document_json(document: Document, passages: Sequence[Passage] | None = None) -> dict[str, Json]:
    """A document, with its passages where they are given."""
    data: dict[str, Json] = {
        "document_id": document.id,
        "collection": document.scope.collection,
        "url": document.url,
        "external_id": document.external_id,
        "title": document.title,
        "format": document.format,
        "status": document.status.value,
        "author": document.author,
        "topic_tag": document.topic_tag,
        "file_hash": document.file_hash,
        "file_size": document.file_size,
        "chunk_count": document.chunk_count,
        "error_message": document.error_message,
        "metadata": dict(document.metadata),
        "created_at": _time(document.created_at),
        "updated_at": _time(document.updated_at),
        "ingested_at": _time(document.ingested_at),
    }
    if passages is not None:
        data["passages"] = [passage_json(passage) for passage in passages]
    return data


def passage_json(passage: Passage) -> dict[str, Json]:
    """A passage with its place in the document."""
    return {
        "passage_id": passage.id,
        "index": passage.index,
        "text": passage.text,
        "start": passage.start,
        "end": passage.end,
        "section_path": list(passage.section_path),
        "page": passage.page,
        "token_count": passage.token_count,
        "has_code": passage.has_code,
        "has_formula": passage.has_formula,
        "has_table": passage.has_table,
        "language": passage.language,
    }


def all_ok(parts: Mapping[str, Json]) -> bool:
    """Does every part of `Engine.health` say ok?"""
    return all(isinstance(part, dict) and part.get("ok") is True for part in parts.values())


def health_json(parts: Mapping[str, Json], version: str, ready: bool) -> dict[str, Json]:
    """What `/ready` and `kedge doctor --json` say."""
    return {"status": "ready" if ready else "not_ready", "version": version, "parts": dict(parts)}


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def node_json(node: Node) -> dict[str, Json]:
    """A node of a user's graph."""
    return {
        "id": node.id,
        "type": node.type,
        "title": node.title,
        "description": node.description,
        "aliases": list(node.aliases),
        "properties": dict(node.properties),
        "created_at": _time(node.created_at),
        "updated_at": _time(node.updated_at),
    }


def edge_json(edge: Edge) -> dict[str, Json]:
    """An edge of a user's graph."""
    return {
        "id": edge.id,
        "source": edge.source,
        "target": edge.target,
        "type": edge.type,
        "properties": dict(edge.properties),
        "created_at": _time(edge.created_at),
        "updated_at": _time(edge.updated_at),
    }


def reconciled_json(found: Reconciled) -> dict[str, Json]:
    """How a graph and its index differ."""
    return {
        "ok": found.ok,
        "nodes": found.nodes,
        "missing": list(found.missing),
        "orphaned": list(found.orphaned),
        "stale": list(found.stale),
        "repaired": found.repaired,
    }
