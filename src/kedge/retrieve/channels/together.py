"""All channels of one query at once: vectors, keywords and graph."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from kedge.core.settings import Settings
from kedge.core.values import Query, Scored
from kedge.retrieve.channels.graph import search_graph
from kedge.retrieve.channels.named import NamedConcepts, read_question
from kedge.retrieve.channels.pool import GraphResult, TraversalQuestion, weigh_question
from kedge.retrieve.rarity import term_weights
from kedge.retrieve.run import SPARSE, QueryRun
from kedge.retrieve.told import log_search
from kedge.stores.bundle import Stores
from kedge.stores.narrowing import came_through
from kedge.stores.ports import CanKeywordSearch, CanReadPoints, CanWeighTerms, CanWeighWithin


class Channels:
    """Asks the indexes."""

    def __init__(self, settings: Settings, stores: Stores) -> None:
        self._settings = settings
        self._stores = stores

    async def search(self, run: QueryRun) -> None:
        """All channels at once; what the graph's walk does from the hits of the other two follows them."""
        dense = asyncio.create_task(self._dense(run))
        keyword = asyncio.create_task(self._keyword(run))
        weights = asyncio.create_task(self._weights(run))
        named = asyncio.create_task(self._named(run))
        await asyncio.gather(dense, keyword, weights, named)
        run.dense, run.keyword, run.weights = dense.result(), keyword.result(), weights.result()
        if run.unsettled:
            await self._leave_out(run)
        elif run.within is not None and run.query.as_of is None:
            ids = [hit.id for hit in (*run.dense, *run.keyword)]
            await came_through(self._stores.catalog, run.query.scope, ids)
        question = named.result()
        if question is not None and isinstance(self._stores.vectors, CanReadPoints):
            with run.timed("graph"):
                run.graph = await self._walk(run, question, self._stores.vectors)

    async def _leave_out(self, run: QueryRun) -> None:
        """Hits of documents whose readers the index does not know yet, and whom the catalog does not show."""
        ids = [hit.id for hit in (*run.dense, *run.keyword)]
        seen = await self._stores.catalog.passages.visible(run.query.scope, ids)
        run.dense = [hit for hit in run.dense if hit.id in seen]
        run.keyword = [hit for hit in run.keyword if hit.id in seen]

    async def _dense(self, run: QueryRun) -> list[Scored]:
        if "vector" not in self._settings.channels:
            return []
        index, limit = run.collection.index_name, self._settings.candidates
        with run.timed("vector"):
            hits = await self._stores.vectors.search(index, run.query.scope.tenant, run.vector, limit, run.index_where)
        log_search("vector search", run, hits)
        return hits

    async def _keyword(self, run: QueryRun) -> list[Scored]:
        if "keyword" not in self._settings.channels or not isinstance(self._stores.vectors, CanKeywordSearch):
            return []
        with run.timed("keyword"):
            index, tenant = run.collection.index_name, run.query.scope.tenant
            text, limit, vectors = run.query.text, self._settings.candidates, self._stores.vectors
            if run.within is not None and isinstance(vectors, CanWeighWithin):
                own, within = run.index_where, run.within
                hits = await vectors.keyword_search_within(index, tenant, text, limit, own, within=within)
            else:
                hits = await vectors.keyword_search(index, tenant, text, limit, run.index_where)
        log_search("keyword search", run, hits)
        return hits

    async def _named(self, run: QueryRun) -> NamedConcepts | None:
        """What the question names in the graph; None when the graph is not to be searched."""
        if not self.with_graph(run.query):
            return None
        points = self._stores.vectors
        reader = run.reader(points) if isinstance(points, CanReadPoints) else None
        if run.shared.named is None:
            with run.timed("graph_question"):
                scope, text = run.query.scope, run.query.text
                run.shared.named = await read_question(self._stores.graph, scope, text, reader=reader)
        return run.shared.named

    def with_graph(self, query: Query) -> bool:
        """Whether the graph is to be searched: by the query and by the settings."""
        return query.include_graph and "graph" in self._settings.channels

    async def _weights(self, run: QueryRun) -> Mapping[int, float]:
        if run.shared.weights is None:
            idf = await term_weights(self._stores.vectors, run.collection, run.query.text, run.within)
            run.shared.weights = weigh_question(run.query.text, SPARSE, idf)
        run.weighed = isinstance(self._stores.vectors, CanWeighTerms)
        return run.shared.weights

    async def _walk(self, run: QueryRun, question: NamedConcepts, points: CanReadPoints) -> GraphResult:
        asked = TraversalQuestion(run.query.text, run.vector, run.weights)
        reader = run.reader(points)
        base = run.blended(self._settings.candidates)
        return await search_graph(self._stores.graph, reader, run.query.scope, asked, base, question=question)
