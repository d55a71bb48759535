"""Finds the rows of a question: of each thing that is compared, and reranked where a model for that is set."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from kedge.core.errors import ModelError
from kedge.core.settings import Settings
from kedge.core.values import Query, Scope
from kedge.kinds.tables.finding.amount import RowAmount, amount_of
from kedge.kinds.tables.finding.languages import offer_for
from kedge.kinds.tables.finding.retrieval import FoundRow, Retrieved, retrieve
from kedge.kinds.tables.finding.rowtext import row_text
from kedge.kinds.tables.generation import Generation
from kedge.models.ports import Embedder, Reranker
from kedge.models.registry import open_reranker
from kedge.retrieve.order import MODEL, READ_BY_MODEL
from kedge.retrieve.ports import CollectionSource

log = logging.getLogger(__name__)


class RowFinder:
    """Rows by meaning and by words."""

    def __init__(self, settings: Settings, collections: CollectionSource) -> None:
        self._settings = settings
        self._collections = collections
        self._reranker: Reranker | None = None

    async def find(self, generation: Generation, query: Query, k: int | None = None) -> Retrieved:
        """At most `k` rows at or above the threshold, best first; without `k` as many as the question needs.

        Raises StoreError, ModelError, FilterError.
        """
        amount = amount_of(query.text) if k is None else RowAmount(k)
        threshold = self._settings.threshold if query.threshold is None else query.threshold
        embedder = await self.embedder(generation)
        wanted, each = (amount.entities, amount.each) if amount.entities else ((query.text,), amount.k)
        found = [
            await retrieve(generation, embedder, text, k=each, threshold=threshold, where=query.where)
            for text in wanted
        ]
        whole = found[0] if len(found) == 1 else _together(found, amount.k)
        offer = offer_for(query.text, generation.state.scope.collection, embedder.name if embedder else "")
        if offer:
            whole = replace(whole, warnings=(*whole.warnings, offer))
        return await self._reranked(generation, query, replace(whole, k=amount.k))

    async def embedder(self, generation: Generation) -> Embedder | None:
        """The model that the index was built with; None where it knows words only."""
        index = generation.state.index
        if index is None or not index.embedder:
            return None
        return await self._collections.embedder_of(await self._collections.get(generation.state.scope))

    async def model_of(self, scope: Scope) -> Embedder | None:
        """The embedder of a collection, with vectors or without; None where it cannot be opened."""
        try:
            return await self._collections.embedder_of(await self._collections.get(scope))
        except ModelError as error:
            log.warning("sentences are checked by their words alone: %s", error)
            return None

    async def _reranked(self, generation: Generation, query: Query, found: Retrieved) -> Retrieved:
        """The best rows in the order of the model in `reranker`, where one is set: what it says is added (T-17)."""
        if self._settings.reranker in ("default", "none") or len(found.rows) < 2:
            return found
        if self._reranker is None:
            self._reranker = await asyncio.to_thread(open_reranker, self._settings.reranker, self._settings)
        head = found.rows[:READ_BY_MODEL]
        said = await self._reranker.rerank(query.text, [row_text(generation.table, row.values) for row in head])
        mixed = [
            replace(row, score=max(found.threshold, (row.score + MODEL * one) / (1 + MODEL)))
            for row, one in zip(head, said, strict=True)
        ]
        mixed.sort(key=lambda row: (-row.score, row.number))
        last = mixed[-1].score
        rest = [replace(row, score=min(row.score, last)) for row in found.rows[READ_BY_MODEL:]]
        return replace(found, rows=(*mixed, *rest))


def _together(found: Sequence[Retrieved], k: int) -> Retrieved:
    """What was found for each entity as one list, best first; of a row that several found, the best."""
    best: dict[int, FoundRow] = {}
    each = k // len(found)
    for one in found:
        for row in one.rows[:each]:
            if row.number not in best or row.score > best[row.number].score:
                best[row.number] = row
    timings: dict[str, float] = {}
    for one in found:
        for name, ms in one.timings_ms.items():
            timings[name] = timings.get(name, 0.0) + ms
    rows = tuple(sorted(best.values(), key=lambda row: (-row.score, row.number)))
    return replace(found[0], rows=rows, timings_ms=timings)
