"""One process: the queue is the catalog's list of unfinished jobs, and one writer goes after the other."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from kedge.core.errors import ConflictError
from kedge.core.values import Job, JobStatus, Scope
from kedge.engine.jobs.ports import Duties
from kedge.stores.catalog.ports import Jobs

log = logging.getLogger(__name__)


class LocalQueue:
    """The `JobQueue` of an engine that has its stores for itself: what is unfinished is nobody else's."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._wake = asyncio.Event()
        self._working = 0

    async def put(self, job: Job) -> None:  # noqa: ARG002 (it is found in the catalog)
        self._wake.set()

    async def work(self, duties: Duties) -> None:
        self._working += 1
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._run(duties))
                if duties.check_every:
                    group.create_task(_check(duties))
        finally:
            self._working -= 1

    async def drain(self, duties: Duties) -> int:
        jobs = await self._jobs.unfinished()
        for job in jobs:
            try:
                await duties.run(job)
            except asyncio.CancelledError:
                await asyncio.shield(self._hand_back(job))
                raise
        return len(jobs)

    async def workers(self) -> int:
        return self._working

    async def _hand_back(self, job: Job) -> None:
        """The process stops: the job waits again, for the next one."""
        now = await self._jobs.get(job.scope.tenant, job.id)
        if now is not None and not now.status.ended:
            await self._jobs.put(replace(now, status=JobStatus.QUEUED, current_step=None))
            log.info("job %s is handed back", job.id)

    async def close(self) -> None:
        """Nothing to release."""

    async def _run(self, duties: Duties) -> None:
        while True:
            self._wake.clear()
            await self.drain(duties)
            await self._wake.wait()


async def _check(duties: Duties) -> None:
    while True:
        await asyncio.sleep(duties.check_every)
        await duties.check()


class LocalLocks:
    """The `Locks` of one process: all writing goes one after the other, whatever the collection."""

    def __init__(self) -> None:
        self._writing = asyncio.Lock()
        self._named: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def writing(self, scope: Scope, document_id: str | None = None) -> AsyncIterator[None]:  # noqa: ARG002
        async with self._writing:
            yield

    @asynccontextmanager
    async def named(self, name: str) -> AsyncIterator[None]:
        async with self._named[name]:
            yield

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        lock = self._named[name]
        if lock.locked():
            raise ConflictError(f"{name} is in work already.", hint="Wait for it to end.")
        async with lock:
            yield
