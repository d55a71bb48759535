"""The way in, as jobs: a request becomes a row of the catalog, and whoever works runs it under the right locks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace

from kedge.core.acting import acting_as, actor
from kedge.core.errors import KedgeError, QueueFullError, UsageError
from kedge.core.locks import finishing
from kedge.core.settings import Settings
from kedge.core.untrusted import file_name
from kedge.core.values import SOURCE_OPTION, IngestMode, IngestPlan, IngestRequest, Job
from kedge.engine.access.keeper import refuse_held
from kedge.engine.collections import CollectionKeeper, check_name
from kedge.engine.connected import SourceKeeper
from kedge.engine.jobs.opened import Work
from kedge.engine.jobs.ports import job_lock
from kedge.engine.jobs.runs import MOST_RUNS, counted_run, forget_run, standing_still
from kedge.engine.kinds import OpenKinds
from kedge.engine.originals import Originals
from kedge.ingest.batch import OnStep, Target
from kedge.ingest.estimate import estimated_passages
from kedge.ingest.ports import Discovered
from kedge.ingest.tracker import JobTracker, OnProgress, new_job, unpack_request
from kedge.kinds.ports import Estimates, IngestRun, OpenKind, Plans
from kedge.stores.bundle import Stores

log = logging.getLogger(__name__)
USUAL_WINDOW = 256
"""Tokens of a passage while no embedder is loaded that says how many it reads."""
OTHERS_SHARE = 10
"""A tenth of the queue is for other tenants than the one that has filled the rest."""
FULL_SECONDS = 30
"""What is said to callers while the queue is full."""


class Intake:
    """Registers, queues and runs ingestions."""

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        keeper: CollectionKeeper,
        work: Work,
        kinds: OpenKinds,
        *,
        originals: Originals,
        on_step: OnStep,
    ) -> None:
        self._settings = settings
        self._stores = stores
        self._keeper = keeper
        self._work = work
        self._kinds = kinds
        self._originals = originals
        self._on_step = on_step
        self.sources = SourceKeeper(settings, stores.catalog, self.submit, on_step)
        """Sources that collections stay in step with."""

    async def ingest(self, request: IngestRequest, on_progress: OnProgress | None) -> Job:
        """Run the request here and now. Raises what the job failed of."""
        job = await self._register(request)
        async with self._work.locks.named(job_lock(job.id)):
            return await self._run(job, on_progress)

    async def submit(self, request: IngestRequest) -> Job:
        """Queue the request. QueueFullError, and nothing is kept, when as many jobs wait as may."""
        try:
            await self._check_room()
            await self._check_share(request.scope.tenant)
            job = await self._register(request)
        except KedgeError:
            await self._work.spool.discard(request.uploads)
            raise
        await self._work.queue.put(job)
        return job

    async def plan(self, request: IngestRequest) -> IngestPlan:
        """What the request would do. UsageError for a kind that cannot tell."""
        way_in = self._kinds.named(request.kind).way_in
        if not isinstance(way_in, Plans):
            raise UsageError(
                f"What an ingestion of the kind {request.kind} would do cannot be told.",
                hint="Documents and courses can; tables and graphs are taken in whole.",
            )
        check_name(request.scope.collection)
        known = await self._stores.catalog.collections.get(request.scope)
        keeper = self._keeper
        embedder = await (keeper.embedder(self._settings.embedder) if known is None else keeper.embedder_of(known))
        return await way_in.plan(self._stores.catalog, request, embedder, self._settings)

    async def estimate(self, request: IngestRequest) -> int | None:
        """About how many passages the request will give; None where the size of a source is not known."""
        kind = self._kinds.named(request.kind)
        if isinstance(kind.way_in, Estimates):
            return await asyncio.to_thread(kind.way_in.estimate, request)
        window = self._keeper.window or USUAL_WINDOW
        return await asyncio.to_thread(estimated_passages, request, self._settings.chunk_tokens or min(window, 1024))

    async def keep(self, name: str, chunks: AsyncIterator[bytes]) -> tuple[str, str]:
        """Keep an upload until its job has run, where whoever runs it can read it. QueueFullError."""
        await self._check_room()
        return file_name(name), await self._work.spool.keep(chunks)

    async def run_queued(self, job: Job) -> None:
        """Run a job of the queue. What it fails of is in its row and in the log.

        One that ended its process twice, or stood still for `job_timeout`, is set aside.
        """
        counted = counted_run(job)
        if counted is None:
            await self._set_aside(job)
            return
        await self._stores.catalog.jobs.put(counted)
        try:
            async with standing_still(self._settings.job_timeout) as on_progress:
                await self._run(counted, on_progress)
        except asyncio.CancelledError:
            await asyncio.shield(forget_run(self._stores.catalog.jobs, job))
            raise
        except KedgeError as error:
            log.error("job %s failed: %s", job.id, error)
        except Exception as error:  # the job loop goes on with the next job, whatever this one met
            log.exception("job %s failed unexpectedly", job.id)
            unexpected = KedgeError(f"Something unexpected: {type(error).__name__}.", hint="The log tells more.")
            await JobTracker(self._stores.catalog.jobs, job).fail(unexpected)

    async def _set_aside(self, job: Job) -> None:
        error = KedgeError(
            f"Set aside: its process ended {MOST_RUNS} times while it worked on this, without coming further.",
            hint="Take its sources in one by one to find the one that does it; the log may tell more.",
        )
        log.error("job %s: %s", job.id, error)
        await JobTracker(self._stores.catalog.jobs, job).fail(error)
        await self._work.spool.discard(unpack_request(job).uploads)

    async def _check_room(self) -> None:
        waiting, _ = await self._stores.catalog.jobs.waiting()
        if waiting >= self._settings.max_queued:
            raise QueueFullError(
                f"{waiting} ingestions wait or run already, and no more are taken.",
                hint=f"Try again in {FULL_SECONDS} s, start more workers, or raise max_queued.",
                details={"retry_after": FULL_SECONDS, "waiting": waiting, "most": self._settings.max_queued},
            )

    async def _check_share(self, tenant: str) -> None:
        """No tenant fills the queue: a tenth of it is left to the others. QueueFullError."""
        most = self._settings.max_queued - self._settings.max_queued // OTHERS_SHARE
        waiting, _ = await self._stores.catalog.jobs.waiting()
        if waiting < most:
            return
        own = sum(job.scope.tenant == tenant for job in await self._stores.catalog.jobs.unfinished())
        if own >= most:
            raise QueueFullError(
                f"{own} of your ingestions wait or run already, and no more are taken.",
                hint=f"Try again in {FULL_SECONDS} s, start more workers, or raise max_queued.",
                details={"retry_after": FULL_SECONDS, "waiting": own, "most": most},
            )

    async def _register(self, request: IngestRequest) -> Job:
        if not request.sources and not request.uploads and SOURCE_OPTION not in request.options:
            raise UsageError("There is nothing to take in.", hint="Name a file, a folder, a glob or a URL.")
        check_name(request.scope.collection)
        await self._keeper.admit(request.scope)
        who = actor()
        if request.mode is IngestMode.RECREATE:
            await refuse_held(self._stores.catalog, request.scope)
        request = replace(request, submitted_by=() if who is None else who.principals)
        self._work.spool.require()
        from kedge.ingest.parse.formats import check_format  # not loaded by what only lists

        check_format(request.format)
        job = new_job(request, self._kinds.named(request.kind).way_in.sole_document(request))
        await self._stores.catalog.jobs.put(job)
        return job

    async def _run(self, job: Job, on_progress: OnProgress | None) -> Job:
        with acting_as(None):  # ingestion compares with all that is there; who may read it is said by its readers
            return await self._run_whole(job, on_progress)

    async def _run_whole(self, job: Job, on_progress: OnProgress | None) -> Job:
        request = unpack_request(job)
        tracker = JobTracker(self._stores.catalog.jobs, job, on_progress)
        beside = self._work.shared and request.mode is not IngestMode.RECREATE
        async with self._work.spool.fetched(request.uploads) as uploads:
            request_here = replace(request, uploads=uploads)
            run = _JobRun(self, request_here, tracker)
            before = await self._originals.known(request_here)
            await self._originals.keep(request_here)
            try:
                ended = await (run.beside_others(job.document_id) if beside and job.document_id else run.alone())
            finally:
                await self._originals.settle(request_here, before)
        await self._work.spool.discard(request.uploads)
        return ended

    async def _target(
        self, request: IngestRequest, kind: OpenKind, discovered: Discovered | None = None, *, make: bool
    ) -> Target:
        collection, embedder = await self._keeper.ensure(request.scope, kind.kind, make=make)
        work, settings = self._work, self._settings
        return Target(self._stores, collection, embedder, settings, self._on_step, work.shared, discovered)


class _JobRun:
    """One run of one job."""

    def __init__(self, intake: Intake, request: IngestRequest, tracker: JobTracker) -> None:
        self._intake = intake
        self._request = request
        self._tracker = tracker
        self._kind = intake._kinds.named(request.kind)
        self._locks = intake._work.locks

    async def alone(self) -> Job:
        """With the collection for itself."""
        async with self._locks.writing(self._request.scope):
            if self._request.mode is IngestMode.RECREATE and not self._kind.way_in.empties_itself:
                await self._intake._keeper.delete(self._request.scope)
            async with self._intake.sources.following(self._request, self._tracker) as discovered:
                target = await self._target(discovered, make=True)
                await self._say_readers()
                run = self._begun(target)
                await run.take_in()
                return await run.finish()

    async def beside_others(self, document_id: str) -> Job:
        """One document, while other workers take in others; they wait for each other at the short end only."""
        scope = self._request.scope
        if await self._intake._stores.catalog.collections.get(scope) is None:
            async with self._locks.writing(scope):
                await self._target(make=True)
        async with self._locks.writing(scope, document_id):
            run = self._begun(await self._target(make=False))
            await run.take_in()
            async with self._locks.named(finishing(scope)):
                return await run.finish(document_id)

    async def _say_readers(self) -> None:
        """Of a collection that has readers as a whole, before anything of the request is to be seen in it."""
        readers, scope = self._request.readers, self._request.scope
        if readers is None or self._kind.kind.each_has_readers:
            return
        rights = self._intake._stores.catalog.rights
        if self._request.for_reader_of((await rights.rules(scope)).get("")):  # else it was shut since it was asked for
            await rights.rule(scope, "", readers)

    def _begun(self, target: Target) -> IngestRun:
        return self._kind.way_in.run(target, self._request, self._tracker)

    async def _target(self, discovered: Discovered | None = None, *, make: bool) -> Target:
        try:
            return await self._intake._target(self._request, self._kind, discovered, make=make)
        except KedgeError as error:
            await self._tracker.fail(error)
            raise
