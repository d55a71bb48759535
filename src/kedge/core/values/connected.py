"""Sources that a collection stays in step with: where they are, when they were looked at, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from kedge.core.outside import outside
from kedge.core.values.base import Metadata, Scope
from kedge.core.values.job import Job, SourceError

SOURCE_OPTION, CONFIRM_OPTION = "connected_source", "confirm_removal"
"""What the request of a job that brings a collection in step says among its options."""
KEPT_ERRORS = 20
"""Errors of a run that are kept with its source; the job has all of them."""

RunOutcome: TypeAlias = Literal["complete", "held", "failed"]


@outside()
@dataclass(frozen=True, slots=True)
class SourceHold:
    """What is gone from a source and still kept, until somebody says that it is meant so."""

    gone: int
    """Documents that would be taken out."""
    known: int
    """Documents that came from it before."""


@outside()
@dataclass(frozen=True, slots=True)
class SourceRun:
    """One look at a source, and what it changed."""

    job_id: str
    outcome: RunOutcome
    """held: what is new was taken in, and what is gone is kept. failed: the source could not be listed to its end."""
    started_at: datetime
    ended_at: datetime
    new: int = 0
    modified: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: int = 0
    """Documents that could not be taken in."""
    embedded: int = 0
    """Passages that were embedded."""
    errors: tuple[SourceError, ...] = ()
    """The first of them."""
    message: str | None = None
    """Why it failed or is held."""

    @classmethod
    def of(cls, job: Job, outcome: RunOutcome, message: str | None, now: datetime) -> SourceRun:
        """What is kept of an ended job."""
        return cls(
            job_id=job.id,
            outcome=outcome,
            started_at=job.started_at or job.created_at or now,
            ended_at=now,
            new=job.files_new,
            modified=job.files_modified,
            unchanged=job.files_skipped,
            deleted=job.files_deleted,
            failed=job.files_failed,
            embedded=job.passages_created,
            errors=job.errors[:KEPT_ERRORS],
            message=message,
        )


@outside({"collection": "scope.collection", "state": "state", "next_run": "next_run"}, hidden=("id", "cursor"))
@dataclass(frozen=True, slots=True)
class ConnectedSource:
    """A place that a collection stays in step with. Holds names of secrets, never a secret."""

    id: str
    scope: Scope
    name: str
    """Unique within the tenant."""
    url: str
    """Where it is; its scheme says which connector reads it. Without user names' passwords or keys."""
    created_at: datetime
    every: float = 0.0
    """Seconds between two runs; 0: by command alone."""
    options: Metadata = field(default_factory=dict)
    """What its connector is told."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """What it signs in with, as references: `env:NAME` or `file:/path`."""
    documents: int = 0
    """How many entries it had at the end of its last run, with those that are kept though they are gone from it."""
    held: SourceHold | None = None
    """Set while something is gone from it that was not confirmed."""
    last_run: SourceRun | None = None
    begun_at: datetime | None = None
    """When its last run was asked for: the next one is due by this."""
    cursor: str = ""
    """What its connector remembers of the last whole listing."""

    @property
    def state(self) -> Literal["new", "in_step", "held", "failed"]:
        """In one word, as of its last run."""
        if self.last_run is None:
            return "new"
        if self.held is not None:
            return "held"
        return "failed" if self.last_run.outcome == "failed" else "in_step"

    @property
    def next_run(self) -> datetime | None:
        """When it is looked at next, if a worker runs; null: by command alone."""
        if not self.every:
            return None
        try:
            return self.created_at if self.begun_at is None else self.begun_at + timedelta(seconds=self.every)
        except OverflowError:  # after the last date that there is
            return None

    def without_figures(self) -> ConnectedSource:
        """For somebody who may read a part of its collection: nothing that counts or names what is in the rest."""
        run = self.last_run
        if run is not None:
            run = SourceRun(run.job_id, run.outcome, run.started_at, run.ended_at)
        held = None if self.held is None else SourceHold(0, 0)
        return replace(self, documents=0, held=held, last_run=run)

    def due(self, now: datetime) -> bool:
        """Whether it is to be looked at. A clock that was set back does not put it off."""
        if not self.every:
            return False
        return self.begun_at is None or abs((now - self.begun_at).total_seconds()) >= self.every


@outside()
@dataclass(frozen=True, slots=True)
class SourceList:
    """Sources by name."""

    sources: tuple[ConnectedSource, ...]


@dataclass(frozen=True, slots=True)
class SourceItem:
    """What is remembered of one entry of a source. Written before anything of the entry becomes visible."""

    key: str
    """Which entry, within its source."""
    url: str
    """Of its document; of the archive, where it holds several."""
    fingerprint: str | None = None
    """As the listing gave it when the bytes below were read; None where it gives none."""
    content_hash: str | None = None
    """SHA-256 of its bytes; None for one that could not be read, or that holds several documents."""
    several: bool = False
    """Whether it holds several documents: an archive, a corpus. Their urls begin with its own and a `#`."""
    format: str | None = None
    """Name of its format, told from the bytes."""
    size: int = 0
    note: Metadata = field(default_factory=dict)
    """What the connector wants to know of it the next time."""
