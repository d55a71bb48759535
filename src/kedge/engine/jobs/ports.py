"""The port of the job queue: small, so that one process and many machines look alike.

A job's truth is its row in the catalog; the queue only says who runs it next. Running a job again is safe, because its
steps are idempotent and `core.locks.Locks` let one runner at a time come to it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from kedge.core.values import Job


@dataclass(frozen=True, slots=True)
class Duties:
    """What a worker does."""

    run: Callable[[Job], Awaitable[None]]
    """Runs one job. Does not raise for a job that fails: its row says why."""
    check: Callable[[], Awaitable[None]]
    """Compares the indexes with the catalog and repairs."""
    check_every: float = 0.0
    """Seconds between checks; 0: never."""
    at_once: int = 1
    """Jobs run at the same time."""


class JobQueue(Protocol):
    """Hands jobs to workers: each to one of them, those with the same lock one after the other, in their order."""

    async def put(self, job: Job) -> None:
        """Have the job run. Its row must be in the catalog. Putting it twice is fine."""

    async def work(self, duties: Duties) -> None:
        """Do the duties until cancelled, then end or hand back what runs; take over what a dead worker left."""

    async def drain(self, duties: Duties) -> int:
        """Run what is queued, and what a dead worker left; returns how many jobs that were."""

    async def workers(self) -> int:
        """Workers that live, here and elsewhere, as far as they show it."""

    async def close(self) -> None:
        """Release connections. Closing twice is fine."""


def job_lock(job_id: str) -> str:
    """Name of the lock that whoever runs a job holds, also while it waits for its turn."""
    return f"job/{job_id}"


def lock_of(job: Job) -> str:
    """Jobs of the same document, or of the same collection where they are about more, run one after the other."""
    return job.document_id or f"{job.scope.tenant}/{job.scope.collection}"
