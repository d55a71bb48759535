"""Keeps a job's record in the catalog while it runs, and tells whoever watches."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kedge.core.errors import KedgeError
from kedge.core.ids import new_id
from kedge.core.values import IngestMode, IngestRequest, Job, JobStatus, Json, Scope, SourceError
from kedge.stores.catalog.ports import Jobs

OnProgress = Callable[[Job], None]
PERSIST_SECONDS = 0.5
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
        """Add to counters, and show progress by the share of bytes that is done."""
        self._bytes_done += source_bytes
        changes: dict[str, Any] = {name: getattr(self.job, name) + count for name, count in counts.items()}
        share = self._bytes_done / self._bytes_total if self._bytes_total else 0.0
        changes["progress"] = max(self.job.progress, min(99, int(100 * share)))
        await self._set(force=False, **changes)

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
        )
        return self.job

    async def fail(self, error: KedgeError) -> Job:
        """Ended without success; says why."""
        await self._set(force=True, status=JobStatus.FAILED, error_message=str(error), completed_at=datetime.now(UTC))
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
    }


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
    )
