"""Many machines: procrastinate's queue in the catalog's PostgreSQL.

A queued entry names a job of the catalog and goes when the job has ended. Workers show by a heartbeat that they live;
what a silent one left goes to another. Because the job's row is written before the entry, a kill in between leaves a
job that nobody runs: such ones are found by comparing both, and put into the queue again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import procrastinate
import psycopg
import psycopg_pool
from procrastinate import exceptions, jobs, retry, schema
from procrastinate.job_context import JobContext
from psycopg.sql import SQL, Identifier

from kedge.core.errors import ConflictError, StoreError
from kedge.core.settings import Settings
from kedge.core.tasks import stop
from kedge.core.values import Job, JobStatus
from kedge.engine.jobs.advisory import AdvisoryLocks, address
from kedge.engine.jobs.ports import Duties, job_lock, lock_of
from kedge.stores.catalog.ports import Jobs
from kedge.stores.catalog.sql.failures import of_server
from kedge.stores.queries import load_queries

log = logging.getLogger(__name__)

QUERIES = load_queries(__package__, "queries.sql")
QUEUE = "kedge"
RUN, CHECK = "kedge.run", "kedge.check"
GRACE_SECONDS = 5.0
"""A job that runs when the worker is told to stop may end within this time; else it goes back to the queue."""
POLL_SECONDS = 5.0
"""New jobs are announced; this is for announcements that were lost."""
AGAIN_SECONDS = 2.0
"""After a failure of the database."""
YOUNG = timedelta(seconds=30)
"""A job this new may be on its way into the queue."""
MOST_ATTEMPTS = 10
"""A job that was broken off so often may be what ends its workers."""
GIVEN_UP = f"Given up: it was broken off {MOST_ATTEMPTS} times. The logs of the workers tell more."
LEFT = "The process that ran it ended before the job did. Run the same command again."


def is_young(job: Job) -> bool:
    """Made just now. One whose time lies ahead is not: a clock that was set back would hide it until then."""
    return job.created_at is not None and abs(datetime.now(UTC) - job.created_at) < YOUNG


class HandBack(retry.BaseRetryStrategy):
    """A job that was broken off runs again: at once on a stop of the worker, a little later after a failure."""

    def get_retry_decision(self, *, exception: BaseException, job: jobs.Job) -> retry.RetryDecision:  # noqa: ARG002
        stopped = isinstance(exception, asyncio.CancelledError | exceptions.JobAborted)
        return retry.RetryDecision(retry_in={"seconds": 0 if stopped else int(AGAIN_SECONDS)})


class PostgresQueue:
    """The `JobQueue` of all processes that use one schema of one database."""

    def __init__(self, url: str, settings: Settings, catalog: Jobs, locks: AdvisoryLocks) -> None:
        self._conninfo, self._server = address(url)
        self._timeout = settings.worker_timeout
        self._jobs = catalog
        self._locks = locks
        self._app: procrastinate.App | None = None
        self._opening = asyncio.Lock()
        self._duties: Duties | None = None
        self._ran = 0

    async def put(self, job: Job) -> None:
        app = await self._opened()
        with self._translated(), suppress(exceptions.AlreadyEnqueued):
            await app.configure_task(RUN, queue=QUEUE, lock=lock_of(job), queueing_lock=job.id).defer_async(
                tenant=job.scope.tenant, job_id=job.id
            )

    async def work(self, duties: Duties) -> None:
        while True:
            try:
                await self._work(duties, wait=True)
            except StoreError as error:
                log.warning("the job queue does not answer, trying again: %s", error)
            await asyncio.sleep(AGAIN_SECONDS)

    async def drain(self, duties: Duties) -> int:
        self._ran = 0
        await self._work(duties, wait=False)
        return self._ran

    async def workers(self) -> int:
        app = await self._opened()
        with self._translated():
            found = await app.connector.execute_query_one_async(QUERIES["count_workers"], seconds=self._timeout)
        return int(found["alive"])

    async def close(self) -> None:
        if self._app is not None:
            app, self._app = self._app, None
            await app.close_async()

    # ------------------------------------------------------------ working

    async def _work(self, duties: Duties, *, wait: bool) -> None:
        app = await self._opened()
        self._duties = duties
        await self._recover(app)
        with self._translated():
            async with _beside(self._look_after(app)):
                await app.run_worker_async(
                    queues=[QUEUE],
                    name="kedge",
                    wait=wait,
                    concurrency=duties.at_once,
                    fetch_job_polling_interval=POLL_SECONDS,
                    shutdown_graceful_timeout=min(GRACE_SECONDS, self._timeout / 2),
                    update_heartbeat_interval=self._timeout / 3,
                    stalled_worker_timeout=self._timeout,
                    install_signal_handlers=False,
                    delete_jobs="always",
                )

    async def _run(self, context: JobContext, tenant: str, job_id: str) -> None:
        """Run by procrastinate. The row is read under the job's lock: whoever waited for another runner skips it."""
        duties = self._duties
        if duties is None:
            return
        async with self._locks.named(job_lock(job_id)):
            job = await self._jobs.get(tenant, job_id)
            if job is None or job.status.ended:
                return
            if context.job.attempts >= MOST_ATTEMPTS:
                await self._fail(job, GIVEN_UP)
                return
            self._ran += 1
            try:
                await duties.run(job)
            except asyncio.CancelledError:
                await asyncio.shield(self._hand_back(tenant, job_id))
                raise
            after = await self._jobs.get(tenant, job_id)
            if after is not None and not after.status.ended:  # the catalog did not answer, so it could not even fail
                raise StoreError(f"Job {job_id} was broken off.", hint="It is run again.")

    async def _hand_back(self, tenant: str, job_id: str) -> None:
        job = await self._jobs.get(tenant, job_id)
        if job is not None and not job.status.ended:
            await self._jobs.put(replace(job, status=JobStatus.QUEUED, current_step=None))
            log.info("job %s is handed back", job_id)

    async def _check(self) -> None:
        if self._duties is not None:
            await self._duties.check()

    # ------------------------------------------------------------ what dead processes left

    async def _look_after(self, app: procrastinate.App) -> None:
        while True:
            await asyncio.sleep(self._timeout / 2)
            try:
                await self._recover(app)
            except StoreError as error:
                log.warning("the job queue could not be looked after: %s", error)

    async def _recover(self, app: procrastinate.App) -> None:
        """Give stalled entries and forgotten jobs to the living; one process at a time does it."""
        with suppress(ConflictError):
            async with self._locks.alone("recover"):
                with self._translated():
                    for entry in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=self._timeout):
                        log.warning("a worker is gone; %s goes to another", entry.task_kwargs.get("job_id", "a check"))
                        await app.job_manager.retry_job(entry)
                    await self._plan_check(app)
                    queued = {entry.task_kwargs.get("job_id") for entry in await app.job_manager.list_jobs_async()}
                await self._put_forgotten(queued)

    async def _plan_check(self, app: procrastinate.App) -> None:
        """One check waits in the queue, for all workers together."""
        duties = self._duties
        if duties is None or not duties.check_every:
            return
        if not list(await app.job_manager.list_jobs_async(task=CHECK)):
            later = {"seconds": max(1, round(duties.check_every))}
            with suppress(exceptions.AlreadyEnqueued):
                await app.configure_task(
                    CHECK, queue=QUEUE, lock=CHECK, queueing_lock=CHECK, schedule_in=later
                ).defer_async()

    async def _put_forgotten(self, queued: Iterable[object]) -> None:
        known = set(queued)
        for job in await self._jobs.unfinished():
            if job.id in known or is_young(job):
                continue
            with suppress(ConflictError):
                async with self._locks.alone(job_lock(job.id)):
                    if _anywhere(job):
                        await self.put(job)
                    else:
                        # Its files are on the machine of the process that died; elsewhere they would look deleted.
                        await self._fail(job, LEFT)

    async def _fail(self, job: Job, why: str) -> None:
        ended = replace(job, status=JobStatus.FAILED, error_message=why, completed_at=datetime.now(UTC))
        await self._jobs.put(ended)

    # ------------------------------------------------------------ opening

    async def _opened(self) -> procrastinate.App:
        """Connects, and makes the tables, when first needed: most commands need no queue."""
        async with self._opening:
            if self._app is None:
                with self._translated():
                    await self._prepare()
                    app = procrastinate.App(connector=self._connector())
                    app.task(name=RUN, queue=QUEUE, retry=HandBack(), pass_context=True)(self._run)
                    app.task(name=CHECK, queue=QUEUE, retry=HandBack())(self._check)
                    await app.open_async()
                    self._app = app
            return self._app

    def _connector(self) -> procrastinate.PsycopgConnector:
        async def configure(connection: psycopg.AsyncConnection[Any]) -> None:
            await self._set_path(connection)
            await connection.commit()

        return procrastinate.PsycopgConnector(conninfo=self._conninfo, min_size=1, max_size=4, configure=configure)

    async def _prepare(self) -> None:
        async with await psycopg.AsyncConnection.connect(self._conninfo) as connection:
            await connection.execute(QUERIES["wait_for_others"], ["kedge/queue"])
            await self._set_path(connection)
            known = await (await connection.execute(QUERIES["find_queue"])).fetchone()
            if known is None or known[0] is None:
                await connection.execute(schema.SchemaManager.get_schema())

    async def _set_path(self, connection: psycopg.AsyncConnection[Any]) -> None:
        if self._server.schema:
            await connection.execute(SQL("SET search_path TO {}").format(Identifier(self._server.schema)))

    def _translated(self) -> AbstractContextManager[None]:
        return _translated(self._server.where)


@contextmanager
def _translated(where: str) -> Iterator[None]:
    """Raise what procrastinate and the driver raise as an error of Kedge."""
    try:
        yield
    except exceptions.ConnectorException as error:
        cause = error.__cause__ if isinstance(error.__cause__, psycopg.Error) else None
        raise of_server(cause or error, where) from error
    except (psycopg.Error, psycopg_pool.PoolTimeout) as error:
        raise of_server(error, where) from error


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let the work go on in the background meanwhile."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        await stop(task)


def _anywhere(job: Job) -> bool:
    """Whether any machine can run it: its sources are addresses or uploads, not files."""
    sources = job.request.get("sources")
    return isinstance(sources, list) and all("://" in str(source) for source in sources)


def open_queue(url: str, settings: Settings, catalog: Jobs) -> tuple[PostgresQueue, AdvisoryLocks]:
    """The queue and the locks in the catalog's database. Connects when first used."""
    locks = AdvisoryLocks(url)
    return PostgresQueue(url, settings, catalog, locks), locks
