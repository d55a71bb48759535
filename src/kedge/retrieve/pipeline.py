"""The way out: embed → vectors ∥ keywords ∥ graph → fuse → rerank → by time, if one is named → keep what is live.

Vector and keyword search and the graph's walk from what the question names run at the same time; only what starts at
the hits of the others comes after. A hit that the catalog does not know as live, or whose metadata there does not
pass the filter, is dropped: the indexes are never believed.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime

from kedge.core.errors import NotFoundError, in_collection
from kedge.core.settings import Settings
from kedge.core.stages import stage
from kedge.core.values import (
    Collection,
    Passage,
    Query,
    Scope,
    SearchResult,
)
from kedge.core.values.filters import Eq, all_of, or_moving
from kedge.retrieve.channels.pool import GraphResult
from kedge.retrieve.channels.together import Channels
from kedge.retrieve.fuse import Fused
from kedge.retrieve.live import LiveHits
from kedge.retrieve.order import Ordering
from kedge.retrieve.ports import CollectionSource
from kedge.retrieve.run import Ordered, QueryRun, SearchedQuestion
from kedge.retrieve.sharing import QuestionReads
from kedge.retrieve.told import counts_of, diagnose, hits_of, measures_of, tell_similarity
from kedge.stores.bundle import Stores
from kedge.stores.catalog.ports import ReadPassages
from kedge.stores.narrowing import asked_once, condition, narrowed_to

LOOKS = 5
"""How often a collection of rewritten passages is searched again while it changes."""


class Retriever:
    """Finds passages in one collection at a time."""

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        collections: CollectionSource,
        *,
        rewritten: bool = False,
        passages: ReadPassages | None = None,
    ) -> None:
        """`rewritten`: passages of these collections keep their ids while their documents change (`ingest.moving`).

        `passages`: what readers see; the catalog's live ones, if not given.
        """
        self.stores = stores
        self.passages = passages or stores.catalog.passages
        self._rewritten = rewritten
        self._settings = settings
        self._collections = collections
        self._channels = Channels(settings, stores)
        self._live = LiveHits(stores, self.passages)
        self._ordering = Ordering(settings, stores, self._live)

    async def warm_up(self) -> None:
        """Load what the default order reads now rather than at the first query."""
        await self._ordering.warm_up()

    async def search(
        self,
        query: Query,
        collection: Collection | None = None,
        *,
        warn: bool = True,
        shared: SearchedQuestion | None = None,
    ) -> SearchResult:
        """The query's `top_k` best passages; of the collection as given, NotFoundError if its index is gone by now.

        `warn`: whether it is worth a warning that nothing is found; not where another search stands beside it.
        `shared`: what other searches for the same question have read just before, in a collection as given.
        """
        if collection is not None:
            return await self._rank(query, query.top_k, collection, warn=warn, shared=shared)
        return await self.rank(query, query.top_k)

    async def holds(self, query: Query, collection: Collection) -> bool:
        """Whether the index has anything that passes the query's filter; NotFoundError if the index is gone by now.

        What the actor in force may not read counts too.
        """
        if not collection.passages or query.where is None:
            return collection.passages > 0
        where = or_moving(query.where) if self._rewritten else query.where
        return await self.stores.vectors.count(collection.index_name, query.scope.tenant, where) > 0

    async def rank(self, query: Query, limit: int, *, near: float | None = None) -> SearchResult:
        """The `limit` best passages. Read again once if the collection was re-indexed under our feet.

        `near`: the similarity that the caller tests for, about which scores are measured; else the threshold.
        """
        try:
            with asked_once():
                return await self._rank(query, limit, await self._collections.get(query.scope), near)
        except NotFoundError:
            collection = await self._collections.get(query.scope)
        try:
            return await self._rank(query, limit, collection, near)
        except NotFoundError as error:
            error.hint = "Run `kedge check --repair`: it makes the index again."
            raise

    async def _rank(
        self,
        query: Query,
        limit: int,
        collection: Collection,
        near: float | None = None,
        *,
        warn: bool = True,
        shared: SearchedQuestion | None = None,
    ) -> SearchResult:
        known: SearchedQuestion = QuestionReads() if shared is None or self._rewritten else shared
        known.of(query.text, collection.index_name, graph=self._channels.with_graph(query))
        with in_collection(query.scope.collection, collection.embedder), asked_once():
            return await self._ranked(query, limit, collection, near, warn=warn, shared=known)

    async def _ranked(
        self,
        query: Query,
        limit: int,
        collection: Collection,
        near: float | None,
        *,
        warn: bool,
        shared: SearchedQuestion,
    ) -> SearchResult:
        if not collection.passages:  # its index may not be made yet, or be dropped already
            return SearchResult(query.text, (), {"total": 0.0})
        started = time.perf_counter()
        run = await self._embed(query, collection, shared)
        known = shared.found(run.where, run.index_where)
        if known is not None:
            run = replace(known.run, query=query, timings=run.timings, passages=dict(known.run.passages))
        fused, kept, passages = await self._found(run, limit)
        if self._rewritten and (run.unseen or await self._changing(query.scope, run.since)):
            run, fused, kept, passages = await self._settled(run, kept, passages, limit)
        hits = hits_of(run, kept, passages, self._settings.threshold)
        tell_similarity(run, self._settings.threshold if near is None else near)
        run.timings["total"] = 1000 * (time.perf_counter() - started)
        return SearchResult(
            query=query.text,
            hits=tuple(hits),
            timings_ms=run.timings,
            counts=counts_of(run, fused),
            warnings=tuple(await diagnose(self.stores.vectors, run, hits)) if warn else (),
            measures=measures_of(run),
            strategy="hybrid" if self._channels.with_graph(query) else "vector_only",
        )

    async def _changing(self, scope: Scope, since: datetime) -> bool:
        """Whether anything was written to the collection since then."""
        recent = [job for job in await self.stores.catalog.jobs.recent(scope.tenant) if job.scope == scope]
        return any(not job.status.ended or job.completed_at is None or job.completed_at >= since for job in recent)

    async def _settled(
        self, run: QueryRun, kept: list[Fused], passages: dict[str, Passage], limit: int
    ) -> tuple[QueryRun, list[Fused], list[Fused], dict[str, Passage]]:
        """Search again until twice the same is found.

        A document may have been replaced between the index and the catalog: then its old passages were found, which
        nobody sees any more, and not all of the new. The index has all of what the catalog has shown before.
        """
        for _ in range(LOOKS):
            seen = [(item.passage_id, passages[item.passage_id].version_id) for item in kept]
            run = replace(run, passages={}, reads=0, unseen=set(), graph=GraphResult((), {}), stored={}, said={})
            run.shared = QuestionReads()
            fused, kept, passages = await self._found(run, limit)
            if seen == [(item.passage_id, passages[item.passage_id].version_id) for item in kept]:
                break
        return run, fused, kept, passages

    async def _found(self, run: QueryRun, limit: int) -> tuple[list[Fused], list[Fused], dict[str, Passage]]:
        """All candidates, those that are kept of them, and their passages."""
        known = run.shared.found(run.where, run.index_where)
        fused, ranked = (known.fused, known.ranked) if known is not None else await self._in_order(run)
        with run.timed("live"):
            kept, passages = await self._live.kept(run, ranked, limit)
            await self._live.measure(run, kept)
        return fused, kept, passages

    async def _in_order(self, run: QueryRun) -> tuple[list[Fused], list[Fused]]:
        """All candidates, as they were fused and in their final order."""
        await self._channels.search(run)
        with run.timed("fuse"):
            fused = self._ordering.fuse(run)
        run.fused = {item.passage_id: item.score for item in fused}
        with run.timed("rerank"):
            ranked = await self._ordering.ranked(run, fused)
        run.reranked_top = ranked[0].score if ranked else None
        run.shared.searched.append((run.where, run.index_where, Ordered(run, fused, ranked)))
        return fused, ranked

    async def _embed(self, query: Query, collection: Collection, shared: SearchedQuestion) -> QueryRun:
        started = time.perf_counter()
        embedder = await self._collections.embedder_of(collection)
        with stage("embed"):
            vector = await embedder.embed_query(query.text)
        topic = Eq("topic_tag", query.topic_filter) if query.topic_filter is not None else None
        where = all_of(topic, query.where)
        narrowed = await narrowed_to(self.stores.catalog, query.scope)
        within = None if narrowed is None else condition(narrowed)
        asked = all_of(or_moving(where) if self._rewritten else where, within)
        run = QueryRun(query, collection, where, asked, vector, within=within, shared=shared)
        run.unsettled = narrowed is not None and bool(narrowed.unsettled)
        run.timings["embed"] = 1000 * (time.perf_counter() - started)
        return run
