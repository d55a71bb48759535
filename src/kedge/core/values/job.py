"""Taking in: what is asked for, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from kedge.core.outside import outside
from kedge.core.values.base import Metadata, Scope

DEFAULT_KIND = "documents"
"""The kind of what is taken in where none is said. No other code names a kind but the kind itself."""


class IngestMode(StrEnum):
    """incremental skips what is unchanged; full takes everything again; recreate empties the collection first."""

    INCREMENTAL = "incremental"
    FULL = "full"
    RECREATE = "recreate"


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What to take in, where to, and how."""

    scope: Scope
    sources: tuple[str, ...]
    """Files, folders, globs, URLs, JSONL corpora."""
    kind: str = DEFAULT_KIND
    mode: IngestMode = IngestMode.INCREMENTAL
    topic: str | None = None
    """topic_tag of every passage."""
    title: str | None = None
    """Overrides the detected title; for a single source."""
    format: str | None = None
    """Name of a format, instead of the detected one."""
    metadata: Metadata = field(default_factory=dict)
    """Kept with every document; filters see it."""
    uploads: tuple[tuple[str, str], ...] = ()
    """(file name, path of the spooled bytes) of uploads; set by the engine."""
    options: Metadata = field(default_factory=dict)
    """What only this kind knows; a table's `delimiter`, `encoding`, `header`."""
    readers: tuple[str, ...] | None = None
    """Who may read what is taken in, whatever the sources say; None: they say it, and where they do not, everybody."""
    submitted_by: tuple[str, ...] = ()
    """Principals of the actor who asked for it; none: the owner. Set by the engine."""

    def for_reader_of(self, readers: tuple[str, ...] | None) -> bool:
        """Whether whoever asked for it may read what has these readers."""
        return not self.submitted_by or readers is None or not set(readers).isdisjoint(self.submitted_by)


class JobStatus(StrEnum):
    """queued → chunking → embedding → extracting → complete, or failed."""

    QUEUED = "queued"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    EXTRACTING = "extracting"
    COMPLETE = "complete"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        return self in (JobStatus.COMPLETE, JobStatus.FAILED)


@outside()
@dataclass(frozen=True, slots=True)
class SourceError:
    """A source that could not be taken in, and why; the others go on."""

    url: str
    code: str
    message: str
    hint: str


JobState: TypeAlias = Literal["queued", "running", "completed", "failed"]
_STATES: Mapping[JobStatus, JobState] = {
    JobStatus.QUEUED: "queued",
    JobStatus.COMPLETE: "completed",
    JobStatus.FAILED: "failed",
}


@outside(
    {
        "job_id": "id",
        "collection": "scope.collection",
        "state": "state",
        "duration_seconds": "duration_seconds",
        "files_modified": "files_modified",
    },
    hidden=("request",),
)
@dataclass(frozen=True, slots=True)
class Job:
    """A job and how far it is: one ingestion, as the catalog remembers it across restarts."""

    id: str
    scope: Scope
    kind: str
    mode: IngestMode
    request: Metadata
    """What was asked for (sources and options), enough to run it again."""
    status: JobStatus = JobStatus.QUEUED
    current_step: str | None = None
    progress: int = 0
    """0–100."""
    total_passages: int | None = None
    processed_passages: int = 0
    files_discovered: int = 0
    files_processed: int = 0
    files_new: int = 0
    """Of those processed, how many were not there before."""
    files_skipped: int = 0
    files_failed: int = 0
    files_deleted: int = 0
    passages_created: int = 0
    passages_deleted: int = 0
    errors: tuple[SourceError, ...] = ()
    warnings: tuple[str, ...] = ()
    error_message: str | None = None
    document_id: str | None = None
    """Set when the job is about one document."""
    created_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None

    def without_figures(self) -> Job:
        """For somebody who may read a part of what it takes in: how it stands, without counts and names."""
        plain = Job(self.id, self.scope, self.kind, self.mode, self.request, self.status, self.current_step)
        return replace(plain, created_at=self.created_at, started_at=self.started_at, completed_at=self.completed_at)

    @property
    def state(self) -> JobState:
        """The status without its steps."""
        return _STATES.get(self.status, "running")

    @property
    def files_modified(self) -> int:
        """Of those processed, how many took the place of an earlier version."""
        return self.files_processed - self.files_new

    @property
    def duration_seconds(self) -> float | None:
        """From its start to its end; null before that."""
        if self.started_at is None or self.completed_at is None:
            return None
        return round((self.completed_at - self.started_at).total_seconds(), 3)


@outside()
@dataclass(frozen=True, slots=True)
class IngestPlan:
    """What would be taken in, by the names of the sources, each list in order."""

    new: tuple[str, ...]
    """Not known yet."""
    modified: tuple[str, ...]
    """Known, and of another SHA-256 or with other options than the live version."""
    deleted: tuple[str, ...]
    """Known and not there any more; they would be taken out."""
    unchanged: int
    """How many would be skipped."""
    errors: tuple[SourceError, ...] = ()
    """Sources that cannot be read."""


@outside(optional=("estimated_chunks",))
@dataclass(frozen=True, slots=True)
class Accepted:
    """An ingestion that was queued; its job shows how it goes."""

    job_id: str
    status: JobStatus
    document_id: str | None = None
    """Where the job is about one document and its id is known."""
    estimated_chunks: int | None = None
    """By the size of the sources; null where that is not known before they are fetched."""

    @classmethod
    def of(cls, job: Job, estimated_chunks: int | None = None) -> Accepted:
        """What is told of a job that has just been queued."""
        return cls(job.id, job.status, job.document_id, estimated_chunks)


@outside()
@dataclass(frozen=True, slots=True)
class JobList:
    """Jobs, newest first."""

    jobs: tuple[Job, ...]


@outside()
@dataclass(frozen=True, slots=True)
class JobsDone:
    """What a worker did before it stopped."""

    jobs: int
    """That it ran to their end."""
