"""One process: the queue is the catalog's list of unfinished jobs; a collection has one writer at a time."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

from kedge.core.errors import ConflictError
from kedge.core.locks import waiting
from kedge.core.values import Job, JobStatus, Scope
from kedge.engine.jobs.ports import Duties
from kedge.stores.catalog.ports import Jobs

log = logging.getLogger(__name__)


class LocalQueue:
    """The `JobQueue` of an engine that has its stores for itself: what is unfinished is nobody else's.

    Tenants take turns, and where several jobs run at once one place is left to those who have none running.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._wake = asyncio.Event()
        self._working = 0
        self._turns: dict[str, int] = {}
        """By tenant, when it had its last turn."""
        self._turn = 0

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
        done: set[str] = set()
        while (job := self._next(await self._jobs.unfinished(), [], done, at_once=1)) is not None:
            done.add(job.id)
            await self._work_on(job, duties)
        return len(done)

    async def workers(self) -> int:
        return self._working

    async def close(self) -> None:
        """Nothing to release."""

    async def _run(self, duties: Duties) -> None:
        """As many jobs at once as the duties say, each in a task of its own."""
        running: dict[asyncio.Task[None], Job] = {}
        done: set[str] = set()
        try:
            while True:
                if self._wake.is_set():
                    self._wake.clear()
                    done &= {job.id for job in running.values()}  # what could not be ended is tried again with the next
                while len(running) < max(1, duties.at_once):
                    found = self._next(
                        await self._jobs.unfinished(), list(running.values()), done, at_once=duties.at_once
                    )
                    if found is None:
                        break
                    done.add(found.id)
                    running[asyncio.create_task(self._work_on(found, duties))] = found
                await self._any(set(running))
                for task in [task for task in running if task.done()]:
                    del running[task]
                    task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _any(self, tasks: set[asyncio.Task[None]]) -> None:
        """Until one of them has ended or a job was put."""
        put = asyncio.create_task(self._wake.wait())
        try:
            await asyncio.wait({put, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            put.cancel()

    def _next(self, jobs: list[Job], running: list[Job], done: set[str], *, at_once: int) -> Job | None:
        """The oldest job of the tenant that waits longest for its turn, in a collection that nobody writes to."""
        busy = {job.scope for job in running}
        of_tenant = Counter(job.scope.tenant for job in running)
        most = max(1, at_once - 1)
        ready = [
            job
            for job in jobs
            if job.id not in done and job.scope not in busy and of_tenant[job.scope.tenant] < most
        ]  # fmt: skip
        if not ready:
            return None
        chosen = min(ready, key=lambda job: (of_tenant[job.scope.tenant], self._turns.get(job.scope.tenant, 0)))
        self._turn += 1
        self._turns[chosen.scope.tenant] = self._turn
        return chosen

    async def _work_on(self, job: Job, duties: Duties) -> None:
        try:
            await duties.run(job)
        except asyncio.CancelledError:
            await asyncio.shield(self._hand_back(job))
            raise

    async def _hand_back(self, job: Job) -> None:
        """The process stops: the job waits again, for the next one."""
        now = await self._jobs.get(job.scope.tenant, job.id)
        if now is not None and not now.status.ended:
            await self._jobs.put(replace(now, status=JobStatus.QUEUED, current_step=None))
            log.info("job %s is handed back", job.id)


async def _check(duties: Duties) -> None:
    while True:
        await asyncio.sleep(duties.check_every)
        await duties.check()


class LocalLocks:
    """The `Locks` of one process. A collection has one writer, whichever document it writes."""

    def __init__(self) -> None:
        self._held: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._wanted: Counter[str] = Counter()
        """By name, how many hold it or wait for it: a lock that nobody wants is forgotten."""

    def writing(self, scope: Scope, document_id: str | None = None) -> AbstractAsyncContextManager[None]:  # noqa: ARG002
        return self.named(f"collection/{scope.tenant}\x1f{scope.collection}")

    def named(self, name: str) -> AbstractAsyncContextManager[None]:
        return self._taken(name)

    def alone(self, name: str) -> AbstractAsyncContextManager[None]:
        return self._taken(name, alone=True)

    @asynccontextmanager
    async def _taken(self, name: str, *, alone: bool = False) -> AsyncIterator[None]:
        if alone and self._wanted[name]:
            raise ConflictError(f"{name} is in work already.", hint="Wait for it to end.")
        self._wanted[name] += 1
        try:
            lock = self._held[name]
            if lock.locked():
                with waiting():
                    await lock.acquire()
            else:
                await lock.acquire()
            try:
                yield
            finally:
                lock.release()
        finally:
            self._wanted[name] -= 1
            if not self._wanted[name]:
                del self._wanted[name], self._held[name]
