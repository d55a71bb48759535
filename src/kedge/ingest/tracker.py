"""Keeps a job's record in the catalog while it runs, and tells whoever watches."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kedge.core.errors import KedgeError
from kedge.core.ids import new_id
from kedge.core.urls import without_password
from kedge.core.values import IngestMode, IngestRequest, Job, JobStatus, Json, Metadata, Scope, SourceError
from kedge.stores.catalog.ports import Jobs

OnProgress = Callable[[Job], None]
PERSIST_SECONDS = 0.5
EMBEDDED = 0.9
"""What a passage that has its vector counts of one that is written."""
MAX_REPORTED = 1000
"""Source errors and warnings kept with a job; beyond that they are counted only."""


class JobTracker:
    """The one place that changes a running job. Kept in the catalog at every change of state, else twice a second."""

    def __init__(self, jobs: Jobs, job: Job, on_progress: OnProgress | None = None) -> None:
        self._jobs = jobs
        self._on_progress = on_progress
        self._persisted = 0.0
        self._bytes_total = 0
        self._bytes_done = 0
        self._bytes_read = 0
        """Of the file that is being read."""
        self._embedded = 0
        """Passages that have their vectors and are not written yet."""
        self.job = job

    async def start(self) -> None:
        """Begin, or begin again after an interruption: counters start anew."""
        fresh = Job(
            id=self.job.id,
            scope=self.job.scope,
            kind=self.job.kind,
            mode=self.job.mode,
            request=self.job.request,
            document_id=self.job.document_id,
            created_at=self.job.created_at,
            started_at=datetime.now(UTC),
        )
        self.job = fresh
        await self.move(JobStatus.CHUNKING)

    def expect(self, source_bytes: int) -> None:
        """More bytes to come."""
        self._bytes_total += source_bytes

    async def move(self, status: JobStatus) -> None:
        """Go to the next state."""
        await self._set(force=True, status=status, current_step=status.value)

    async def add(self, *, source_bytes: int = 0, **counts: int) -> None:
        """Add to counters, and show progress: by passages once all are cut, before that by the bytes that are done."""
        self._bytes_done += source_bytes
        self._bytes_read = 0 if source_bytes else self._bytes_read
        self._embedded = max(0, self._embedded - counts.get("passages_created", 0))
        changes: dict[str, Any] = {name: getattr(self.job, name) + count for name, count in counts.items()}
        processed = changes.get("processed_passages", self.job.processed_passages)
        await self._set(force=False, **changes, progress=self._progress(processed, self.job.total_passages))

    async def reading(self, source_bytes: int) -> None:
        """So much of the file that is being read is read; it counts by half, as its passages are still to come."""
        self._bytes_read = source_bytes
        await self._set(force=False, progress=self._progress(self.job.processed_passages, self.job.total_passages))

    async def embedded(self, passages: int) -> None:
        """So many more passages have their vectors; that counts by most until they are written."""
        self._embedded += passages
        await self._set(force=False, progress=self._progress(self.job.processed_passages, self.job.total_passages))

    async def all_cut(self, passages: int) -> None:
        """So many passages are there in all; from now on it can be said how many are left."""
        progress = self._progress(self.job.processed_passages, passages)
        await self._set(force=True, total_passages=passages, progress=progress)

    def _progress(self, processed: int, total: int | None) -> int:
        """Never less than before, and never all before the end. Reading is the first half of it."""
        done = self._bytes_done + self._bytes_read / 2
        share = done / self._bytes_total if self._bytes_total else 0.0
        share = 0.5 + (processed + EMBEDDED * self._embedded) / total / 2 if total else share
        return max(self.job.progress, min(99, int(100 * share)))

    async def report(self, error: SourceError) -> None:
        """Remember a source that could not be taken in."""
        errors = (*self.job.errors, error) if len(self.job.errors) < MAX_REPORTED else self.job.errors
        await self._set(force=False, errors=errors, files_failed=self.job.files_failed + 1)

    async def warn(self, message: str) -> None:
        """Remember something odd."""
        if len(self.job.warnings) < MAX_REPORTED and message not in self.job.warnings:
            await self._set(force=False, warnings=(*self.job.warnings, message))

    async def complete(self) -> Job:
        """Done."""
        await self._set(
            force=True,
            status=JobStatus.COMPLETE,
            current_step="complete",
            progress=100,
            total_passages=self.job.processed_passages,
            completed_at=datetime.now(UTC),
            request=_told(self.job.request),
        )
        return self.job

    async def fail(self, error: KedgeError) -> Job:
        """Ended without success; says why."""
        await self._set(
            force=True,
            status=JobStatus.FAILED,
            error_message=str(error),
            completed_at=datetime.now(UTC),
            request=_told(self.job.request),
        )
        return self.job

    async def _set(self, *, force: bool, **changes: Any) -> None:
        self.job = replace(self.job, **changes)
        now = time.monotonic()
        if force or now - self._persisted >= PERSIST_SECONDS:
            self._persisted = now
            await self._jobs.put(self.job)
        if self._on_progress is not None:
            self._on_progress(self.job)


def new_job(request: IngestRequest, document_id: str | None = None) -> Job:
    """A queued job for the request; `document_id` when it is about one document."""
    return Job(
        id=new_id(),
        scope=request.scope,
        kind=request.kind,
        mode=request.mode,
        request=pack_request(request),
        document_id=document_id,
        created_at=datetime.now(UTC),
    )


def pack_request(request: IngestRequest) -> dict[str, Json]:
    """As JSON, to be kept with the job."""
    uploads: list[Json] = [[name, path] for name, path in request.uploads]
    return {
        "sources": list(request.sources),
        "topic": request.topic,
        "title": request.title,
        "format": request.format,
        "metadata": dict(request.metadata),
        "uploads": uploads,
        "options": dict(request.options),
        "readers": None if request.readers is None else list(request.readers),
        "submitted_by": list(request.submitted_by),
    }


def _told(request: Metadata) -> Metadata:
    """What is kept of the request of a job that has ended and is never run again: no password of a source."""
    sources = request.get("sources")
    if not isinstance(sources, list):
        return request
    return {**request, "sources": [without_password(one) if isinstance(one, str) else one for one in sources]}


def unpack_request(job: Job) -> IngestRequest:
    """The request of a kept job."""
    packed: dict[str, Any] = dict(job.request)
    return IngestRequest(
        scope=Scope(job.scope.tenant, job.scope.collection),
        sources=tuple(packed["sources"]),
        kind=job.kind,
        mode=IngestMode(job.mode),
        topic=packed["topic"],
        title=packed["title"],
        format=packed["format"],
        metadata=packed["metadata"],
        uploads=tuple((name, path) for name, path in packed["uploads"]),
        options=packed.get("options", {}),
        readers=None if packed.get("readers") is None else tuple(packed["readers"]),
        submitted_by=tuple(packed.get("submitted_by", ())),
    )
