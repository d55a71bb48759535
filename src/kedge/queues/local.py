"""One process: the queue is the catalog's list of unfinished jobs, and one writer goes after the other."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kedge.errors import ConflictError
from kedge.queues.base import Duties
from kedge.stores.catalog.base import Jobs
from kedge.types import Job, Scope


class LocalQueue:
    """The `JobQueue` of an engine that has its stores for itself: what is unfinished is nobody else's."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._wake = asyncio.Event()

    async def put(self, job: Job) -> None:  # noqa: ARG002 (it is found in the catalog)
        self._wake.set()

    async def work(self, duties: Duties) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._run(duties))
            if duties.check_every:
                group.create_task(_check(duties))

    async def drain(self, duties: Duties) -> int:
        jobs = await self._jobs.unfinished()
        for job in jobs:
            await duties.run(job)
        return len(jobs)

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
