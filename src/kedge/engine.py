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
from pathlib import Path

from kedge import registry
from kedge.answer.answerer import Answerer
from kedge.config import Settings
from kedge.errors import KedgeError, NotFoundError, UsageError
from kedge.home import Home
from kedge.ingest.check import Checker, CheckReport
from kedge.ingest.jobs import JobTracker, OnProgress, new_job, unpack_request
from kedge.ingest.parts import OnStep, Target, no_step
from kedge.ingest.pipeline import Pipeline
from kedge.ingest.remove import delete_documents, sweep
from kedge.keeper import CollectionKeeper
from kedge.kinds import kind_named
from kedge.retrieve.pipeline import Retriever, validate
from kedge.retrieve.record import Recorder
from kedge.stores.opened import Stores
from kedge.types import (
    Answer,
    Collection,
    Document,
    DocumentStatus,
    IngestMode,
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

    def __init__(self, settings: Settings, home: Home, stores: Stores, on_step: OnStep) -> None:
        self.settings = settings
        self.stores = stores
        self._home = home
        self._on_step = on_step
        self._keeper = CollectionKeeper(settings, stores)
        self._retriever = Retriever(settings, stores, self._keeper)
        recorder = Recorder(stores.catalog.analytics, home.key(), settings.threshold)
        self._answerer = Answerer(settings, self._retriever, self._keeper, recorder)
        self._writing = asyncio.Lock()
        self._wake = asyncio.Event()
        self.llm_calls = 0
        """Calls to a language model so far: none, as long as every answer is extractive."""
        self._worker: asyncio.Task[None] | None = None
        self._upkeep = Upkeep(self._keeper.optimize)

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, *, on_step: OnStep = no_step) -> AsyncIterator[Engine]:
        """Lock the home, open the stores, finish what an earlier process left half-swept. Models load on first use."""
        if settings.llm != "extractive":
            registry.open_language_model(settings.llm, settings)  # says which there are; never ignored in silence
        home = Home(settings.home)
        home.acquire()
        try:
            stores = Stores(
                registry.open_catalog(settings), registry.open_vectors(settings), registry.open_graph(settings)
            )
            engine = cls(settings, home, stores, on_step)
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
        await self._upkeep.close()
        await self._keeper.close()
        await self.stores.vectors.close()
        await self.stores.graph.close()
        await self.stores.catalog.close()

    # ------------------------------------------------------------ way in

    async def ingest(self, request: IngestRequest, on_progress: OnProgress | None = None) -> Job:
        """Take everything in and return the ended job. Faulty sources are in `job.errors`; the others went in."""
        job = await self._register(request)
        return await self._run(job, on_progress)

    async def submit(self, request: IngestRequest) -> Job:
        """Queue the request for the worker and return at once."""
        job = await self._register(request)
        self._wake.set()
        return job

    async def spool(self, name: str, chunks: AsyncIterator[bytes]) -> tuple[str, str]:
        """Keep an upload until its job has run; the result goes into `IngestRequest.uploads`."""
        path = await self._home.spool(chunks, self.settings.max_upload_bytes)
        return Path(name).name or "upload", str(path)

    async def warm_up(self) -> None:
        """Load the embedding model of the settings now rather than at the first use."""
        await self._keeper.embedder(self.settings.embedder)

    async def settle(self) -> None:
        """Wait for the search index that is built behind large ingests.

        Search works without it, only slower. An engine that is closed before loses nothing but that work: the next
        ingest into the collection, or the next worker, takes it up.
        """
        await self._upkeep.settle()

    def start_worker(self) -> None:
        """Run queued jobs, and finish what a former process left (jobs, indexes), until the engine closes."""
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())

    async def drain(self, on_progress: OnProgress | None = None) -> int:
        """Run every unfinished job now and have every index looked after; returns how many jobs there were."""
        for collection in await self.stores.catalog.collections.everywhere():
            self._upkeep.due(collection)
        jobs = await self.stores.catalog.jobs.unfinished()
        for job in jobs:
            try:
                await self._run(job, on_progress)
            except KedgeError as error:
                log.error("job %s failed: %s", job.id, error)
        return len(jobs)

    async def _register(self, request: IngestRequest) -> Job:
        if not request.sources and not request.uploads:
            raise UsageError("There is nothing to take in.", hint="Name a file, a folder, a glob or a URL.")
        job = new_job(request, kind_named(request.kind).sole_document(request))
        await self.stores.catalog.jobs.put(job)
        return job

    async def _run(self, job: Job, on_progress: OnProgress | None) -> Job:
        request = unpack_request(job)
        kind = kind_named(request.kind)
        tracker = JobTracker(self.stores.catalog.jobs, job, on_progress)
        async with self._writing:
            try:
                if request.mode is IngestMode.RECREATE:
                    await self._keeper.delete(request.scope)
                collection, embedder = await self._keeper.ensure(request.scope, kind)
            except KedgeError as error:
                await tracker.fail(error)
                raise
            target = Target(self.stores, collection, embedder, self.settings, self._on_step)
            ended = await Pipeline(target, kind, request, tracker).run()
        self._home.discard([Path(path) for _, path in request.uploads])
        self._upkeep.due(collection)
        return ended

    async def _work(self) -> None:
        while True:
            self._wake.clear()
            await self.drain()
            await self._wake.wait()

    # ------------------------------------------------------------ way out

    async def search(self, query: Query) -> SearchResult:
        """Passages for the query, best first. Raises QueryError for a query that cannot be."""
        validate(query)
        return await self._retriever.search(query)

    async def rank(self, query: Query, limit: int) -> SearchResult:
        """Like search, with as many results as wanted and a question of any length: for evaluation."""
        return await self._retriever.rank(query, limit)

    async def ask(self, query: Query) -> Answer:
        """An answer made of cited sentences, or a refusal that says so."""
        validate(query)
        return await self._answerer.ask(query)

    async def stream(self, query: Query) -> AsyncIterator[StreamEvent]:
        """The answer in events: tokens, citations, metadata, done; or an error event."""
        validate(query)
        async with aclosing(self._answerer.stream(query)) as events:
            async for event in events:
                yield event

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
        async with self._writing:
            await self._keeper.get(scope)
            await self._keeper.delete(scope)

    async def reindex(
        self, scope: Scope, embedder: str, on_progress: Callable[[int, int], None] | None = None
    ) -> Collection:
        """Embed the collection anew with another model, beside the old index, then switch at once."""
        async with self._writing:
            collection = await self._keeper.reindex(scope, embedder, on_progress)
        self._upkeep.due(collection)
        return collection

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

    async def delete_document(self, tenant: str, document_id: str) -> Document:
        """Take a document out: hidden at once, then cleared from the indexes, then archived. NotFoundError."""
        document, _ = await self.document(tenant, document_id)
        async with self._writing:
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
        async with self._writing:
            collections = await self.stores.catalog.collections.everywhere()
            return await Checker(self.stores, self._keeper.embedder_of).run(collections, repair=repair)

    async def sweep(self) -> int:
        """Clear the indexes of what no reader sees any more."""
        async with self._writing:
            return await sweep(self.stores, self._on_step)

    async def health(self) -> Mapping[str, Json]:
        """For each part, whether it answers."""
        return await self._keeper.health()
