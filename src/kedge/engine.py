"""The composition root: settings become an `Engine` that takes documents in, searches and answers.

async with Engine.open(settings) as engine:
    job = await engine.ingest(IngestRequest(scope, ("docs/",)))
    answer = await engine.ask(Query("What is a kedge?", scope))
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress

from kedge import registry
from kedge.answer.answerer import Answerer
from kedge.config import Settings
from kedge.errors import KedgeError, NotFoundError, UsageError
from kedge.home import Home
from kedge.ingest.check import Checker, CheckReport
from kedge.ingest.jobs import OnProgress
from kedge.ingest.parts import OnStep, no_step
from kedge.ingest.remove import delete_documents, sweep
from kedge.intake import Intake
from kedge.keeper import CollectionKeeper
from kedge.kinds.way import PassagesWay, WayOut
from kedge.queues.base import Duties, finishing
from kedge.queues.opened import Work, open_work
from kedge.reindex import OnCount, Reindexer
from kedge.retrieve.pipeline import Retriever, validate
from kedge.retrieve.record import Recorder
from kedge.stores.catalog.base import SpareIndex
from kedge.stores.opened import Stores
from kedge.types import (
    Answer,
    Collection,
    Document,
    DocumentStatus,
    IngestRequest,
    Job,
    Json,
    Passage,
    Query,
    Scope,
    SearchResult,
    StreamEvent,
)
from kedge.upkeep import Upkeep

log = logging.getLogger(__name__)


class Engine:
    """All of Kedge over one set of stores. Made by `Engine.open`; safe for many tasks of one event loop."""

    def __init__(self, settings: Settings, stores: Stores, work: Work, key: bytes, on_step: OnStep) -> None:
        self.settings = settings
        self.stores = stores
        self._work = work
        self._on_step = on_step
        self._keeper = CollectionKeeper(settings, stores)
        self._intake = Intake(settings, stores, self._keeper, work, on_step)
        self._reindexer = Reindexer(stores, self._keeper, work.locks, on_step)
        self._retriever = Retriever(settings, stores, self._keeper)
        recorder = Recorder(stores.catalog.analytics, key, settings.threshold)
        self._passages = PassagesWay(self._retriever, Answerer(settings, self._retriever, self._keeper, recorder))
        self._ways: dict[str, WayOut] = {}
        """By kind: those that are not answered from passages."""
        self.llm_calls = 0
        """Calls to a language model so far: none, as long as every answer is extractive."""
        self.on_check: Callable[[CheckReport | None], None] = lambda _report: None
        """Called after every check in the background with what it found; None: it failed."""
        self._worker: asyncio.Task[None] | None = None
        self._upkeep = Upkeep(self._keeper.optimize)

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, *, on_step: OnStep = no_step) -> AsyncIterator[Engine]:
        """Lock the home, unless every store is a server, and open the stores. Models load on first use."""
        if settings.llm != "extractive":
            registry.open_language_model(settings.llm, settings)  # says which there are; never ignored in silence
        home = Home(settings.home)
        home.acquire(shared=registry.on_servers(settings))
        try:
            stores = Stores(
                registry.open_catalog(settings), registry.open_vectors(settings), registry.open_graph(settings)
            )
            work = open_work(settings, stores.catalog, home)
            engine = cls(settings, stores, work, home.key(), on_step)
            try:
                yield engine
            finally:
                await engine._close()
        finally:
            home.release()

    async def _close(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
            with suppress(asyncio.CancelledError):
                await self._worker
        await self._work.queue.close()
        await self._upkeep.close()
        await self._keeper.close()
        await self.stores.vectors.close()
        await self.stores.graph.close()
        await self.stores.catalog.close()

    # ------------------------------------------------------------ way in

    async def ingest(self, request: IngestRequest, on_progress: OnProgress | None = None) -> Job:
        """Take everything in and return the ended job. Faulty sources are in `job.errors`; the others went in."""
        job = await self._intake.ingest(request, on_progress)
        await self._look_after(job.scope)
        return job

    async def submit(self, request: IngestRequest) -> Job:
        """Queue the request for a worker, in this process or another, and return at once."""
        return await self._intake.submit(request)

    async def spool(self, name: str, chunks: AsyncIterator[bytes]) -> tuple[str, str]:
        """Keep an upload until its job has run; the result goes into `IngestRequest.uploads`."""
        return await self._intake.keep(name, chunks)

    async def warm_up(self) -> None:
        """Load the models of the settings now rather than at the first use."""
        await self._keeper.embedder(self.settings.embedder)
        await self._retriever.warm_up()

    async def settle(self) -> None:
        """Wait for the search index that is built behind large ingests.

        Search works without it, only slower. An engine that is closed before loses nothing but that work: the next
        ingest into the collection, or the next worker, takes it up.
        """
        await self._upkeep.settle()

    def start_worker(self, at_once: int | None = None) -> None:
        """Run queued jobs, finish what a former process left (jobs, indexes) and check now and then, until closed.

        `at_once` is how many jobs run together (default: the setting `workers`). 0 leaves all to other processes,
        where there can be any.
        """
        wanted = self.settings.workers if at_once is None else at_once
        if self._worker is None and (wanted or not self._work.shared):
            self._worker = asyncio.create_task(self._serve(max(1, wanted)))

    async def drain(self) -> int:
        """Run every unfinished job now and have every index looked after; returns how many jobs there were."""
        await self._look_after()
        return await self._work.queue.drain(Duties(self._run_queued, self._check))

    async def _serve(self, at_once: int) -> None:
        await self._look_after()
        await self._work.queue.work(Duties(self._run_queued, self._check, self.settings.check_every, at_once))

    async def _run_queued(self, job: Job) -> None:
        await self._intake.run_queued(job)
        await self._look_after(job.scope)

    async def _look_after(self, scope: Scope | None = None) -> None:
        catalog = self.stores.catalog.collections
        for collection in await catalog.everywhere() if scope is None else [await catalog.get(scope)]:
            if collection is not None:
                self._upkeep.due(collection)

    async def _check(self) -> None:
        """In the background: what it finds and puts right is in the log and in the metrics."""
        report: CheckReport | None = None
        try:
            report = await self.check(repair=True)
            log.info("checked %d collections, %d passages", report.collections, report.passages)
        except KedgeError as error:
            log.error("the check failed: %s", error)
        for problem in report.problems if report else ():
            log.warning("check %s", problem)
        self.on_check(report)

    # ------------------------------------------------------------ way out

    async def search(self, query: Query) -> SearchResult:
        """Passages for the query, best first. Raises QueryError for a query that cannot be."""
        validate(query)
        return await (await self._way(query.scope)).search(query)

    async def rank(self, query: Query, limit: int) -> SearchResult:
        """Like search, with as many results as wanted and a question of any length: for evaluation."""
        return await self._retriever.rank(query, limit)

    async def ask(self, query: Query) -> Answer:
        """An answer made of cited sentences, or a refusal that says so."""
        validate(query)
        return await (await self._way(query.scope)).ask(query)

    async def stream(self, query: Query) -> AsyncIterator[StreamEvent]:
        """The answer in events: tokens, citations, metadata, done; or an error event."""
        validate(query)
        async with aclosing((await self._way(query.scope)).stream(query)) as events:
            async for event in events:
                yield event

    async def _way(self, scope: Scope) -> WayOut:
        collection = await self.stores.catalog.collections.get(scope)
        return self._passages if collection is None else self._ways.get(collection.kind, self._passages)

    async def feedback(self, tenant: str, query_id: str, rating: int, comment: str | None = None) -> str:
        """Keep what somebody thought of an answer; returns the feedback's id."""
        if not 1 <= rating <= 5:
            raise UsageError("The rating must be between 1 and 5.")
        return await self.stores.catalog.analytics.feedback(tenant, query_id, rating, comment)

    # ------------------------------------------------------------ what is there, and administration

    async def collections(self, tenant: str) -> list[Collection]:
        """All collections of the tenant, by name."""
        return await self.stores.catalog.collections.all(tenant)

    async def collection(self, scope: Scope) -> Collection:
        """One collection. NotFoundError."""
        return await self._keeper.get(scope)

    async def delete_collection(self, scope: Scope) -> None:
        """Remove a collection with everything in it. NotFoundError."""
        async with self._work.locks.writing(scope):
            await self._keeper.get(scope)
            await self._keeper.delete(scope)

    async def reindex(
        self, scope: Scope, embedder: str, on_count: OnCount | None = None, *, keep_old: bool = True
    ) -> Collection:
        """Embed anew with another model beside the old index, then switch. Broken off, it goes on when called again."""
        collection = await self._reindexer.run(scope, embedder, keep=keep_old, on_count=on_count)
        self._upkeep.due(collection)
        return collection

    async def rollback(self, scope: Scope, on_count: OnCount | None = None) -> Collection:
        """Return to the index that was in use before the last re-index or rollback. NotFoundError when none is kept."""
        return await self._reindexer.rollback(scope, on_count=on_count)

    async def discard_indexes(self, scope: Scope) -> int:
        """Drop the former index of a collection and half-built ones; returns how many."""
        return await self._reindexer.discard(scope)

    async def spare_indexes(self, scope: Scope) -> list[SpareIndex]:
        """Indexes of a collection beside the one in use: being built, or kept for a rollback. NotFoundError."""
        await self._keeper.get(scope)
        return await self.stores.catalog.indexes.spare(scope)

    async def documents(
        self, scope: Scope, *, status: DocumentStatus | None = None, limit: int = 100, offset: int = 0
    ) -> list[Document]:
        """Documents of a collection, by url."""
        await self._keeper.get(scope)
        return await self.stores.catalog.documents.page(scope, status=status, limit=limit, offset=offset)

    async def document(self, tenant: str, document_id: str) -> tuple[Document, list[Passage]]:
        """One document with its live passages in order. NotFoundError."""
        while True:
            document = await self.stores.catalog.documents.get(tenant, document_id)
            if document is None:
                raise NotFoundError(f"There is no document {document_id}.", hint="`kedge document list` shows all.")
            passages = await self.stores.catalog.passages.of_document(tenant, document_id)
            versions = {passage.version_id for passage in passages}
            if versions <= {document.live_version} and len(passages) == document.chunk_count:
                return document, passages  # else it was switched between the two reads

    async def passage(self, scope: Scope, passage_id: str, beside: int = 1) -> tuple[Document, list[Passage]]:
        """A live passage among up to `beside` passages before and after it, and its document. NotFoundError."""
        passages = self.stores.catalog.passages
        while (found := (await passages.live(scope, [passage_id])).get(passage_id)) is not None:
            document = await self.stores.catalog.documents.get(scope.tenant, found.document_id)
            first, last = max(0, found.index - beside), found.index + beside
            around = await passages.of_document(scope.tenant, found.document_id, first=first, last=last)
            versions = {passage.version_id for passage in around}
            if document is not None and versions == {found.version_id} == {document.live_version}:
                return document, around  # else it was switched between the reads
        raise NotFoundError(
            f"There is no passage {passage_id} in {scope.collection!r}.",
            hint="Its document may have changed or gone since: ask again.",
        )

    async def delete_document(self, tenant: str, document_id: str) -> Document:
        """Take a document out: hidden at once, then cleared from the indexes, then archived. NotFoundError."""
        document, _ = await self.document(tenant, document_id)
        locks = self._work.locks
        async with locks.writing(document.scope, document_id), locks.named(finishing(document.scope)):
            await delete_documents(self.stores, document.scope, [document_id], self._on_step)
        return (await self.document(tenant, document_id))[0]

    async def job(self, tenant: str, job_id: str) -> Job:
        """One job. NotFoundError."""
        job = await self.stores.catalog.jobs.get(tenant, job_id)
        if job is None:
            raise NotFoundError(f"There is no job {job_id}.", hint="`kedge job list` shows all.")
        return job

    async def jobs(self, tenant: str, limit: int = 50) -> list[Job]:
        """Jobs of the tenant, newest first."""
        return await self.stores.catalog.jobs.recent(tenant, limit=limit)

    async def check(self, repair: bool = False) -> CheckReport:
        """Compare the indexes with the catalog; with `repair`, put right what differs."""
        scopes = [collection.scope for collection in await self.stores.catalog.collections.everywhere()]
        checker = Checker(self.stores, self._keeper.embedder_of, self._work.locks.writing)
        report = await checker.run(scopes, repair=repair)
        for scope in scopes if repair else ():
            await self._reindexer.drop_unneeded(scope)
        return report

    async def sweep(self) -> int:
        """Clear the indexes of what no reader sees any more."""
        removed = 0
        for collection in await self.stores.catalog.collections.everywhere():
            async with self._work.locks.writing(collection.scope):
                removed += await sweep(self.stores, self._on_step, collection.scope)
        return removed

    async def health(self) -> Mapping[str, Json]:
        """For each part, whether it answers."""
        return await self._keeper.health()
