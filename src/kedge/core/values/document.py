"""Sources that the catalog knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from kedge.core.outside import outside
from kedge.core.values.base import Metadata, Scope
from kedge.core.values.identity import identity_line


class DocumentStatus(StrEnum):
    """pending → chunking → embedding → extracting → active, or failed; archived on delete."""

    PENDING = "pending"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    EXTRACTING = "extracting"
    ACTIVE = "active"
    FAILED = "failed"
    ARCHIVED = "archived"


@outside(
    {"document_id": "id", "collection": "scope.collection", "identity": "identity"},
    hidden=("live_version", "content_hash"),
)
@dataclass(frozen=True, slots=True)
class Document:
    """A document: a source that the catalog knows."""

    id: str
    scope: Scope
    url: str
    """Path or address; unique in its collection."""
    external_id: str
    """The id the source gave: a JSONL row's `_id`, else the url."""
    title: str
    format: str
    status: DocumentStatus
    author: str | None = None
    topic_tag: str | None = None
    file_hash: str | None = None
    """SHA-256 of the source's bytes and of what else decides its passages; equal means unchanged."""
    content_hash: str | None = None
    """SHA-256 of the source's bytes alone; None where it was taken in before this was kept."""
    file_size: int | None = None
    chunk_count: int = 0
    error_message: str | None = None
    metadata: Metadata = field(default_factory=dict)
    live_version: str | None = None
    """The version readers see; None when nothing of it is visible."""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    """When the source itself last changed, as far as known."""
    ingested_at: datetime | None = None
    readers: tuple[str, ...] | None = None
    """Who may read it; None: nobody was ever named, so everybody of the tenant may. Of a version that is begun: what
    its source says; None: nothing, and the document keeps those it has."""

    @property
    def identity(self) -> str:
        """What it calls itself, in one line: title, organisation, type, time and file name, as far as known."""
        return identity_line(self.title, self.metadata)


@outside()
@dataclass(frozen=True, slots=True)
class DocumentPage:
    """One page of documents, by url."""

    documents: tuple[Document, ...]
    limit: int
    offset: int
