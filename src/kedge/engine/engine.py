"""The composition root: settings become an `Engine` that takes documents in, searches and answers.

async with Engine.open(settings) as engine:
    job = await engine.ingest(IngestRequest(scope, ("docs/",)))
    answer = await engine.ask(Query("What is a kedge?", scope))
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from kedge.answer.conversation.turns import open_turns
from kedge.answer.record import Recorder
from kedge.core.acting import acting_as
from kedge.core.errors import KedgeError, StoreError
from kedge.core.locks import finishing
from kedge.core.settings import Settings
from kedge.core.stages import Fact, stage, watched
from kedge.core.tasks import stop
from kedge.core.values import (
    Answer,
    Collection,
    ConnectedSource,
    Document,
    DocumentStatus,
    IngestMode,
    IngestPlan,
    IngestRequest,
    Job,
    Json,
    Passage,
    Query,
    Scope,
    SearchResult,
    StreamEvent,
    Suggestion,
)
from kedge.engine.access.keeper import AccessKeeper
from kedge.engine.collections import CollectionKeeper, usual_embedder
from kedge.engine.conversations import ConversationKeeper
from kedge.engine.home import Home, Lasts
from kedge.engine.intake import Intake
from kedge.engine.jobs.opened import Work, open_work
from kedge.engine.jobs.ports import Duties
from kedge.engine.kinds import OpenKinds
from kedge.engine.library import Library
from kedge.engine.originals import UPLOAD, Originals
from kedge.engine.readiness import Readiness
from kedge.engine.reindex import OnCount, Reindexer
from kedge.engine.retention import EVERY_SECONDS, Retention
from kedge.engine.tracing import Watch, open_tracer
from kedge.engine.upkeep import Upkeep
from kedge.engine.watching import watch_stores
from kedge.ingest.apart.pool import close_idle
from kedge.ingest.batch import OnStep, no_step
from kedge.ingest.check import Checker, CheckReport, Problem
from kedge.ingest.extract.judge import reader_judge
from kedge.ingest.tracker import OnProgress
from kedge.ingest.write.past import kept_since, release
from kedge.ingest.write.remove import delete_documents, sweep
from kedge.ingest.write.settling import settle_readers
from kedge.kinds import kind_named
from kedge.kinds.ports import Parts
from kedge.models.ports import LanguageModel
from kedge.models.registry import open_writer
from kedge.models.wrappers.timed import OnEmbed
from kedge.stores import registry
from kedge.stores.bundle import Stores
from kedge.stores.catalog.ports import SpareIndex
from kedge.stores.graph.seen import narrow_graph, narrow_nodes

if TYPE_CHECKING:
    from kedge.answer.judge.verdict import Judging
    from kedge.answer.pipeline import Answerer
    from kedge.engine.questions import Questions
    from kedge.models.write.limits import ModelCall

log = logging.getLogger(__name__)
WORKER_AGAIN_SECONDS = 2.0
"""After a failure of the catalog."""


SETTLED_WITHIN = 5.0
"""Seconds that a change of rights waits for the collection's lock, to rewrite the index at once; it holds before."""


class Engine:
    """All of Kedge over one set of stores. Made by `Engine.open`; safe for many tasks of one event loop."""

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        work: Work,
        key: bytes,
        *,
        on_step: OnStep,
        model: LanguageModel | None = None,
    ) -> None:
        self.settings = settings
        narrow_graph(stores.graph, stores.catalog)
        narrow_nodes(stores.nodes, stores.catalog)
        self.stores = stores
        self._work = work
        self._on_step = on_step
        self._keeper = CollectionKeeper(settings, stores)
        self.library = Library(settings, stores.catalog)
        """What is there."""
        self.access = AccessKeeper(settings, stores.catalog, self.library, self._settle_soon)
        """Who may read what, what is held, and who asked."""
        self.originals = Originals(settings, stores.catalog, self.library)
        """The files that documents were made of."""
        self._reindexer = Reindexer(stores, self._keeper, work.locks, on_step)
        self._recorder = Recorder(
            stores.catalog.analytics,
            key,
            settings.threshold,
            keep_words=settings.keep_questions,
            audit=stores.catalog.audit if settings.audit_days else None,
            audit_words=settings.audit_words,
        )
        self.hashed = self._recorder.hashed
        """What stands for a user, a tenant or a question wherever its name must not."""
        self._model = model
        self._turns = open_turns(settings)
        self.kinds = OpenKinds(settings, lambda: self._parts)
        """The kinds of knowledge, each with its two ways and what only it has."""
        self._intake = Intake(
            settings, stores, self._keeper, work, self.kinds, originals=self.originals, on_step=on_step
        )
        self.sources = self._intake.sources
        """Sources that collections stay in step with."""
        self.llm_calls = 0
        """Calls to a language model so far: none, as long as every answer is extractive."""
        self.on_llm_call: Callable[[ModelCall], None] = lambda _call: None
        """Called after every call to a language model with what it cost."""
        self.on_check: Callable[[CheckReport | None], None] = lambda _report: None
        """Called after every check in the background with what it found; None: it failed."""
        self.on_store_failure: Callable[[str], None] = lambda _store: None
        """Called for every call that a store failed: vectors, graph, catalog or cache."""
        self._keeper.on_store_failure = self._store_failed
        watched = {"catalog": stores.catalog, "vectors": stores.vectors, "graph": stores.graph}
        watch_stores(watched, self._store_failed)
        self.watch = Watch()
        """What stages of the work are told to."""
        self.conversations = ConversationKeeper(
            stores.catalog, settings.conversation_days, self._turns, self.hashed, self.stream
        )
        """What is kept of them for their users."""
        self.retention = Retention(
            stores.catalog,
            settings.analytics_days,
            self._turns,
            conversation_days=settings.conversation_days,
            audit_days=settings.audit_days,
        )
        """Forgets what is known of queries, by age and by user."""
        self._readiness = Readiness({**self._keeper.probes(), "worker": self._worker_answers}, settings.ready_timeout)
        self._worker: asyncio.Task[None] | None = None
        self._upkeep = Upkeep(self._keeper.optimize)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings, *, on_step: OnStep = no_step, lasts: Lasts = Lasts.UNKNOWN
    ) -> AsyncIterator[Engine]:
        """Lock the home, unless every store is a server, and open the stores. Models load on first use.

        `lasts` is what others are told who want the home meanwhile. HomeBusyError.
        """
        model = open_writer(settings)  # a name or key that cannot be is told now, not at the first question
        home = Home(settings.home)
        home.acquire(shared=registry.on_servers(settings), lasts=lasts)
        try:
            stores = Stores(
                registry.open_catalog(settings),
                registry.open_vectors(settings),
                registry.open_graph(settings),
                registry.open_nodes(settings),
            )
            work = open_work(settings, stores.catalog, home)
            engine = cls(settings, stores, work, home.key(), on_step=on_step, model=model)
            engine.watch = Watch(tracer=open_tracer(settings))
            try:
                await engine.kinds.start()
                yield engine
            finally:
                await engine._close()
        finally:
            home.release()

    @cached_property
    def _parts(self) -> Parts:
        from kedge.engine.parts import open_parts

        return open_parts(
            self.settings,
            self.stores,
            self._keeper,
            self._work,
            recorder=self._recorder,
            model=self._model,
            on_step=self._on_step,
            on_call=self._called,
        )

    @cached_property
    def _questions(self) -> Questions:
        from kedge.engine.questions import Questions

        return Questions(self._parts, self.kinds, self._turns)

    async def suggestions(self, query: Query) -> list[Suggestion]:
        """Questions near this one that have answers, at most three, nearest first. QueryError, NotFoundError."""
        from kedge.engine.suggestions import Suggester
        from kedge.retrieve.query import validate

        validate(query, self.settings.max_top_k)
        return await Suggester(self.answerer, self._keeper, self._recorder, self.settings.threshold).near(query)

    @property
    def answerer(self) -> Answerer:
        """How plain passages are asked: documents, and what kinds leave to them."""
        return self._parts.answerer

    @property
    def judging(self) -> Judging:
        """How the evidence for an answer is measured and judged."""
        return self._parts.judging

    async def stop_worker(self) -> None:
        """Take no job more; the one that runs is handed back, to be resumed by the next worker."""
        if self._worker is not None:
            await stop(self._worker)

    async def _close(self) -> None:
        await self.stop_worker()
        await self._readiness.close()
        await self._work.queue.close()
        await self._upkeep.close()
        await self.kinds.close()
        await asyncio.to_thread(close_idle)
        await self._keeper.close()
        if self._model is not None:
            await self._model.close()
        await self.stores.vectors.close()
        await self.stores.graph.close()
        await self.stores.nodes.close()
        await self.stores.catalog.close()
        await asyncio.to_thread(self.watch.tracer.close)

    def watch_embedding(self, on_embed: OnEmbed) -> None:
        """Have every call of an embedding model told, with its seconds and whether it worked."""
        self._keeper.on_embed = on_embed

    def _store_failed(self, store: str) -> None:
        self.on_store_failure(store)  # whoever listens now

    def _called(self, call: ModelCall) -> None:
        self.llm_calls += 1
        self.on_llm_call(call)

    # ------------------------------------------------------------ way in

    async def ingest(self, request: IngestRequest, on_progress: OnProgress | None = None) -> Job:
        """Take everything in and return the ended job. Faulty sources are in `job.errors`; the others went in."""
        job = await self._intake.ingest(request, on_progress)
        await self._look_after(job.scope)
        return job

    async def submit(self, request: IngestRequest) -> Job:
        """Queue the request for a worker, in this process or another, and return at once. QueueFullError."""
        return await self._intake.submit(request)

    async def ingest_again(self, tenant: str, document_id: str) -> Job:
        """Queue a document to be read anew from where it came from. NotFoundError, QueueFullError."""
        document, _ = await self.document(tenant, document_id)
        collection = await self.collection(document.scope)
        request = IngestRequest(
            document.scope, (), kind=collection.kind, mode=IngestMode.FULL, topic=document.topic_tag
        )
        if not document.url.startswith(UPLOAD):
            return await self.submit(replace(request, sources=(document.url,)))
        _, data = await self.originals.read(tenant, document_id)
        upload = await self.spool(document.url.removeprefix(UPLOAD), _whole(data))
        return await self.submit(replace(request, uploads=(upload,)))

    async def sync_source(
        self, tenant: str, name: str, on_progress: OnProgress | None = None, *, confirm: bool = False
    ) -> Job:
        """Bring a collection in step with a source now, and return the ended job; the source tells how it stands.

        `confirm`: what is gone may be taken out, however much it is. NotFoundError.
        """
        return await self.ingest(await self.sources.request(tenant, name, confirm=confirm), on_progress)

    async def source(self, tenant: str, name: str) -> ConnectedSource:
        """A source, as it stands now. NotFoundError."""
        return await self.sources.get(tenant, name)

    async def remove_source(self, tenant: str, name: str, *, documents: bool = False) -> None:
        """Forget a source; with `documents`, take out what came from it alone. NotFoundError."""
        source = await self.sources.get(tenant, name)
        async with self._work.locks.writing(source.scope):
            taken = await self.sources.own_documents(source) if documents else []
            if taken:
                await delete_documents(self.stores, source.scope, taken, self._on_step)
            await self.sources.kept.delete(source.id)

    async def plan(self, request: IngestRequest) -> IngestPlan:
        """Which sources of the request are new, modified or gone; nothing is written. UsageError."""
        return await self._intake.plan(request)

    async def estimate(self, request: IngestRequest) -> int | None:
        """About how many passages the request will give; None where the size of a source is not known."""
        return await self._intake.estimate(request)

    async def spool(self, name: str, chunks: AsyncIterator[bytes]) -> tuple[str, str]:
        """Keep an upload until its job has run; the result goes into `IngestRequest.uploads`. QueueFullError."""
        return await self._intake.keep(name, chunks)

    async def warm_up(self) -> None:
        """Load the models of the settings now rather than at the first use."""
        await self._keeper.embedder(self.settings.embedder)
        await self._parts.retriever.warm_up()
        await self.judging.readings.warm_up()

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
        """A catalog that fails for a while must not end the work for good."""
        duties = Duties(self._run_queued, self._check, self.settings.check_every, at_once)
        async with asyncio.TaskGroup() as group:
            group.create_task(self.retention.run())
            group.create_task(self._let_go())
            group.create_task(self.sources.run_due())
            while True:
                try:
                    await self._look_after()
                    await self._work.queue.work(duties)
                except* KedgeError as errors:
                    log.error("the worker was broken off, it goes on: %s", errors.exceptions[0])
                await asyncio.sleep(WORKER_AGAIN_SECONDS)

    async def _run_queued(self, job: Job) -> None:
        facts: dict[str, Fact] = {"job_id": job.id, "tenant": self.hashed(job.scope.tenant)[:16]}
        with watched(self.watch, facts), stage("ingest", **facts, kind=job.kind):
            await self._intake.run_queued(job)
        await self._look_after(job.scope)

    async def workers(self) -> int:
        """Workers that live, in this process and in others."""
        return await self._work.queue.workers()

    async def _worker_answers(self) -> None:
        """The worker of this process, if it is to have one, works, and what it makes is kept."""
        self._work.spool.require()
        if self._worker is not None and self._worker.done() and not self._worker.cancelled():
            raise StoreError("The worker of this process has ended.", hint="The log says why; start the server again.")

    async def _look_after(self, scope: Scope | None = None) -> None:
        catalog = self.stores.catalog.collections
        for collection in await catalog.everywhere() if scope is None else [await catalog.get(scope)]:
            if collection is not None:
                self._upkeep.due(collection)
                await self._settle_soon(collection.scope)

    async def _settle_readers(self, scope: Scope) -> None:
        """Let the index know who may read what now, after the writers before."""
        if await self.stores.catalog.rights.unsettled(scope):
            async with self._work.locks.writing(scope):
                await settle_readers(self.stores, scope, self._on_step)

    async def _settle_soon(self, scope: Scope) -> None:
        try:
            async with asyncio.timeout(SETTLED_WITHIN):
                await self._settle_readers(scope)
        except TimeoutError:  # an ingestion has the collection, and does it at its end
            log.info("the index of %s learns of changed rights later; the catalog decides until then", scope.collection)

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
        return await self._questions.search(query)

    async def rank(self, query: Query, limit: int) -> SearchResult:
        """Like search, with as many results as wanted and a question of any length: for evaluation."""
        return await self._parts.retriever.rank(query, limit)

    async def ask(self, query: Query) -> Answer:
        """An answer made of cited sentences, or a refusal that says so."""
        return await self._questions.ask(query)

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        """The answer in events: tokens, citations, metadata, done; or an error event."""
        async with aclosing(self._questions.stream(query)) as events:
            async for event in events:
                yield event

    async def feedback(
        self, tenant: str, query_id: str, rating: int, comment: str | None = None, *, binary: bool = False
    ) -> str:
        """Keep what somebody thought of an answer, from 1 to 5 or as no (0) and yes (1); returns the feedback's id.

        UsageError for another rating; NotFoundError for an unknown query.
        """
        return await self.stores.catalog.analytics.feedback(tenant, query_id, rating, comment, binary=binary)

    # ------------------------------------------------------------ what is there, and administration

    async def collections(self, tenant: str) -> list[Collection]:
        """All collections of the tenant, by name."""
        return await self.library.collections(tenant)

    async def collection(self, scope: Scope) -> Collection:
        """One collection. NotFoundError."""
        return await self.library.collection(scope)

    async def delete_collection(self, scope: Scope) -> None:
        """Remove a collection with everything in it. NotFoundError."""
        found = await self._keeper.get(scope)
        await self.access.refuse_held(scope)
        with acting_as(None):  # it goes whole, with what the caller may not read
            async with self._work.locks.writing(scope):
                await self.access.refuse_held(scope)
                kind = self.kinds.find(found.kind)
                if kind is not None:
                    await kind.delete(scope)
                documents = [document async for document in self.library.all_documents(scope)]
                await self.sources.forget(scope)
                await self._keeper.delete(scope)
                await self.originals.forget(documents)

    async def reindex(
        self, scope: Scope, embedder: str | None, on_count: OnCount | None = None, *, keep_old: bool = True
    ) -> Collection:
        """Embed anew with another model beside the old index, then switch. Broken off, it goes on when called again.

        None: with what new collections of its kind are embedded by.
        """
        held = await self._keeper.get(scope)
        embedder = embedder or usual_embedder(self.settings, kind_named(held.kind))
        with acting_as(None):
            collection = await self._reindexer.run(scope, embedder, keep=keep_old, on_count=on_count)
            await self.kinds.named(collection.kind).reindexed(collection)
            self._upkeep.due(collection)
            return collection

    async def rollback(self, scope: Scope, on_count: OnCount | None = None) -> Collection:
        """Return to the index that was in use before the last re-index or rollback. NotFoundError when none is kept."""
        await self._keeper.get(scope)
        with acting_as(None):
            collection = await self._reindexer.rollback(scope, on_count=on_count)
            await self.kinds.named(collection.kind).reindexed(collection)
            return collection

    async def discard_indexes(self, scope: Scope) -> int:
        """Drop the former index of a collection and half-built ones; returns how many."""
        return await self._reindexer.discard(scope)

    async def spare_indexes(self, scope: Scope) -> list[SpareIndex]:
        """Indexes of a collection beside the one in use: being built, or kept for a rollback. NotFoundError."""
        await self._keeper.get(scope)
        return await self.stores.catalog.indexes.spare(scope)

    async def documents(
        self,
        scope: Scope,
        *,
        status: DocumentStatus | None = None,
        search: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Document]:
        """Documents of a collection, by url; with `search`, those whose identity or url has these words."""
        return await self.library.documents(scope, status=status, search=search, limit=limit, offset=offset)

    async def document(self, tenant: str, document_id: str) -> tuple[Document, list[Passage]]:
        """One document with its live passages in order. NotFoundError."""
        return await self.library.document(tenant, document_id)

    async def passage(self, scope: Scope, passage_id: str, beside: int = 1) -> tuple[Document, list[Passage]]:
        """A live passage among up to `beside` passages before and after it, and its document. NotFoundError."""
        return await self.library.passage(scope, passage_id, beside)

    async def delete_document(self, tenant: str, document_id: str) -> Document:
        """Take a document out: hidden at once, then cleared from the indexes, then archived. NotFoundError."""
        document, _ = await self.document(tenant, document_id)
        locks = self._work.locks
        await self.access.refuse_held(document.scope, document_id)
        async with locks.writing(document.scope, document_id), locks.named(finishing(document.scope)):
            await delete_documents(self.stores, document.scope, [document_id], self._on_step)
            await self.originals.forget([document])
        return (await self.document(tenant, document_id))[0]

    async def job(self, tenant: str, job_id: str) -> Job:
        """One job. NotFoundError."""
        return await self.library.job(tenant, job_id)

    async def jobs(self, tenant: str, limit: int = 50) -> list[Job]:
        """Jobs of the tenant, newest first."""
        return await self.library.jobs(tenant, limit)

    async def check(self, repair: bool = False) -> CheckReport:
        """Compare the indexes with the catalog; with `repair`, put right what differs."""
        with acting_as(None):
            return await self._checked(repair=repair)

    async def _checked(self, *, repair: bool) -> CheckReport:
        scopes = [collection.scope for collection in await self.stores.catalog.collections.everywhere()]
        writing, days = self._work.locks.writing, self.settings.version_days
        judge = reader_judge(self.settings)
        checker = Checker(
            self.stores, self._keeper.embedder_of, writing, self.kinds.find, version_days=days, judge=judge
        )
        report = await checker.run(scopes, repair=repair)
        for scope in scopes if repair else ():
            await self._reindexer.drop_unneeded(scope)
            await self._settle_readers(scope)
        return replace(report, problems=(*report.problems, *await self._kind_problems(scopes, repair=repair)))

    async def _kind_problems(self, scopes: Sequence[Scope], *, repair: bool) -> list[Problem]:
        """How what only a kind keeps differs from the index."""
        found: list[Problem] = []
        for scope in scopes:
            collection = await self.stores.catalog.collections.get(scope)
            kind = self.kinds.find(collection.kind) if collection is not None else None
            if collection is not None and kind is not None:
                found += await kind.problems(collection, repair=repair)
        return found

    async def sweep(self) -> int:
        """Clear the indexes of what no reader sees any more."""
        removed = 0
        for collection in await self.stores.catalog.collections.everywhere():
            async with self._work.locks.writing(collection.scope):
                removed += await self._swept(collection)
        return removed

    async def _swept(self, collection: Collection) -> int:
        since = self._kept_since(collection.kind)
        await release(self.stores, collection.scope, since)
        return await sweep(self.stores, self._on_step, collection.scope, since=since)

    async def _let_go(self) -> None:
        """Now and every hour: superseded versions go when their time is over, also where nothing is taken in."""
        while True:
            try:
                for collection in await self.stores.catalog.collections.everywhere():
                    if await release(self.stores, collection.scope, self._kept_since(collection.kind)):
                        async with self._work.locks.writing(collection.scope):
                            await self._swept(collection)
            except KedgeError as error:
                log.warning("superseded versions could not be let go: %s", error)
            await asyncio.sleep(EVERY_SECONDS)

    def _kept_since(self, kind_name: str) -> datetime | None:
        """Versions that were superseded later are kept."""
        kind = self.kinds.find(kind_name)
        return kept_since(self.stores, self.settings.version_days) if kind is not None and kind.keeps_past else None

    async def health(self) -> Mapping[str, Json]:
        """For each part, whether it answers within `ready_timeout`."""
        return await self._readiness.parts()


async def _whole(data: bytes) -> AsyncIterator[bytes]:
    yield data
