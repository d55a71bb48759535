"""How often a job was begun without an end: one that ends its process again and again is not run for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from kedge.core.errors import KedgeError
from kedge.core.locks import tell_waits
from kedge.core.values import Job, Json
from kedge.ingest.tracker import OnProgress
from kedge.stores.catalog.ports import Jobs

MOST_RUNS = 2
"""Runs in a row that ended with their process and came no further than the one before."""
RUNS, REACHED = "runs", "reached"
"""Kept with what the job was asked for, so that they outlive the process."""


def counted_run(job: Job) -> Job | None:
    """The job with one run more, to be kept before it begins; None when it has had its runs."""
    runs, reached = _number(job.request.get(RUNS)), _number(job.request.get(REACHED))
    came = job.files_processed + job.files_skipped + job.processed_passages
    if came > reached:
        runs = min(runs, 1)
    if runs >= MOST_RUNS:
        return None
    return replace(job, request={**job.request, RUNS: runs + 1, REACHED: max(came, reached)})


async def forget_run(jobs: Jobs, job: Job) -> None:
    """The process stops in order: that says nothing about the job. `job` is as it was before `counted_run`."""
    now = await jobs.get(job.scope.tenant, job.id)
    if now is not None and not now.status.ended:
        kept = {name: job.request[name] for name in (RUNS, REACHED) if name in job.request}
        plain = {name: value for name, value in now.request.items() if name not in (RUNS, REACHED)}
        await jobs.put(replace(now, request={**plain, **kept}))


@asynccontextmanager
async def standing_still(seconds: float) -> AsyncIterator[OnProgress]:
    """Break the work off with an error when nothing was told of it for so long. 0: never.

    While it waits for its turn to write, it does not stand still.
    """
    loop = asyncio.get_running_loop()
    clock = asyncio.timeout(seconds or None)

    def on_progress(_job: Job) -> None:
        waits(False)

    def waits(begins: bool) -> None:
        if seconds and not clock.expired():
            clock.reschedule(None if begins else loop.time() + seconds)

    tell_waits(waits)

    try:
        async with clock:
            yield on_progress
    except TimeoutError as error:
        if not clock.expired():
            raise
        raise KedgeError(
            f"The job stood still for {seconds:g} s and was broken off.",
            hint="Take its sources in one by one to find the one that does it, or raise job_timeout.",
        ) from error


def _number(value: Json) -> int:
    return value if isinstance(value, int) else 0
