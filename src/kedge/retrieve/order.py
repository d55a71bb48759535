"""The order of the candidates: fused, reranked, steps of the answer first, by the time that the question names."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kedge.core.settings import Settings
from kedge.models.carried.tokenizer import unchecked_tokenizer
from kedge.models.ports import Reranker
from kedge.models.read.chain import open_chain_reader
from kedge.models.registry import open_reranker
from kedge.retrieve.fuse import Fused, add_bonus, fuse_by_rank, with_ranks
from kedge.retrieve.live import LiveHits
from kedge.retrieve.parameters import PARAMETERS
from kedge.retrieve.rerank import adaptive, exact_blend, smooth
from kedge.retrieve.run import SPARSE, QueryRun
from kedge.retrieve.second import FURTHER, READ, best_cover, by_steps, takes_steps
from kedge.retrieve.soft import open_vectors, soft_match
from kedge.retrieve.topical import Kind, by_topic, dense_weight, kind_of
from kedge.retrieve.when import asks_for_now, by_time, newest_first
from kedge.stores.bundle import Stores
from kedge.stores.ports import CanReadPoints, CanWeighTerms, StoredPoint
from kedge.text.periods import periods

RERANKED = 50
"""Best candidates that the light reranker orders."""
SOFT: float = PARAMETERS["soft"]
"""What a full soft match of the question's words adds to a score, which is on the scale 0 to 2."""
READ_BY_MODEL = 20
"""Best candidates that a reranking model reads."""
MODEL = 0.5
"""What a model that is sure of a passage adds to its share of the best score."""
Array = NDArray[np.float32]


class Ordering:
    """Puts what the channels found in order."""

    def __init__(self, settings: Settings, stores: Stores, live: LiveHits) -> None:
        self._settings = settings
        self._stores = stores
        self._live = live
        self._reranker: Reranker | None = None

    async def warm_up(self) -> None:
        """Load what the default order reads now rather than at the first query."""
        if self._settings.reranker == "default":
            await asyncio.to_thread(open_vectors)

    async def ranked(self, run: QueryRun, fused: Sequence[Fused]) -> list[Fused]:
        """The fused candidates in their final order."""
        return await self._timely(run, await self._stepped(run, await self._reranked(run, fused)))

    def fuse(self, run: QueryRun) -> list[Fused]:
        """What all channels found, in one order."""
        dense, keyword = [hit.id for hit in run.dense], [hit.id for hit in run.keyword]
        graph = [hit.passage_id for hit in run.graph.hits]
        if self._settings.fusion == "rrf":
            return fuse_by_rank(dense, keyword, graph)
        base = run.blended(self._settings.candidates)
        bonus = {hit.passage_id: hit.bonus for hit in run.graph.hits}
        return with_ranks(add_bonus({**run.graph.base, **base}, bonus), dense, keyword, graph)

    async def _reranked(self, run: QueryRun, fused: Sequence[Fused]) -> list[Fused]:
        """By the light default, by a model of that name, or not at all."""
        if self._settings.reranker == "none" or len(fused) < 2:
            return list(fused)
        if self._settings.reranker == "default":
            return await self._lightly(run, fused)
        return await self._rerank_by_model(run, fused)

    async def _lightly(self, run: QueryRun, fused: Sequence[Fused]) -> list[Fused]:
        """Exact scores in both channels, soft word match, smoothing: see `rerank.py` and `soft.py`."""
        points = self._stores.vectors
        if not isinstance(points, CanReadPoints):
            return list(fused)
        head = list(fused[:RERANKED])
        wanted = [item.passage_id for item in head]
        stored = await run.reader(points).stored(run.query.scope, wanted)
        run.stored |= stored
        if any(item.passage_id not in stored for item in head):
            return list(fused)
        scores = np.array([item.score for item in head], dtype=np.float32)
        kind: Kind = "question"
        if self._settings.fusion == "default":
            kind = kind_of(run.query.text, best_cover(run.weights, [stored[key].terms for key in wanted[:READ]]))
            known = isinstance(points, CanWeighTerms)  # else a keyword score cannot be computed here
            scores = (_exact(run, head, stored, kind) if known else scores) + SOFT * await self._soft(run, wanted)
        sure = max((hit.bonus for hit in run.graph.hits), default=0.0)
        vectors = np.stack([stored[item.passage_id].vector for item in head])
        scores = by_topic(scores, vectors, sure) if kind == "topic" else smooth(scores, vectors, adaptive(sure))
        ranked = _reordered(head, scores.tolist())
        last = ranked[-1].score
        return [*ranked, *(item.scored(min(item.score, last)) for item in fused[RERANKED:])]

    async def _soft(self, run: QueryRun, wanted: Sequence[str]) -> Array:
        """Soft match of each passage above the worst one's."""
        vectors = await asyncio.to_thread(open_vectors)
        if vectors is None:
            return np.zeros(len(wanted), dtype=np.float32)
        passages = await self._live.visible(run, wanted, filtered=False)
        texts = [passages[key].embed_text if key in passages else "" for key in wanted]
        shares = soft_match(vectors, run.query.text, texts)
        return np.asarray(shares - shares.min(), dtype=np.float32)

    async def _rerank_by_model(self, run: QueryRun, fused: Sequence[Fused]) -> list[Fused]:
        """The light order, to which the model adds what it thinks of the best; those it did not read follow."""
        ranked = await self._lightly(run, fused)
        if self._reranker is None:
            self._reranker = await asyncio.to_thread(open_reranker, self._settings.reranker, self._settings)
        passages = await self._live.visible(run, [item.passage_id for item in ranked[:READ_BY_MODEL]])
        head = [item for item in ranked[:READ_BY_MODEL] if item.passage_id in passages]
        said = await self._reranker.rerank(run.query.text, [passages[item.passage_id].embed_text for item in head])
        run.said = {item.passage_id: one for item, one in zip(head, said, strict=True)}
        best = max(ranked[0].score, 1e-9)
        mixed = _reordered(head, [item.score / best + MODEL * one for item, one in zip(head, said, strict=True)])
        last = mixed[-1].score if mixed else 1.0
        return [*mixed, *(item.scored(min(item.score / best, last)) for item in ranked[READ_BY_MODEL:])]

    async def _stepped(self, run: QueryRun, ranked: list[Fused]) -> list[Fused]:
        """What are steps of the answer first, where the question takes several: see `second.py`."""
        run.steps = {}
        if (self._settings.reranker, self._settings.reader, self._settings.fusion) != ("default", "minilm", "default"):
            return ranked
        head = [item.passage_id for item in ranked[:READ]]
        held = [run.stored[key].terms for key in head if key in run.stored]
        words = len(SPARSE.query_weights(run.query.text))
        if not takes_steps(run.query.text, best_cover(run.weights, held), words) or unchecked_tokenizer() is None:
            return ranked
        reader = await asyncio.to_thread(open_chain_reader, self._settings)
        passages = await self._live.visible(run, [item.passage_id for item in ranked[: READ + FURTHER]])
        ranked, run.steps = await asyncio.to_thread(by_steps, reader, run.query.text, words, ranked, passages)
        return ranked

    async def _timely(self, run: QueryRun, ranked: list[Fused]) -> list[Fused]:
        """What is about the time that the question names first, or what is newest: see `when.py`."""
        named = bool(periods(run.query.text))
        if not named and not asks_for_now(run.query.text):
            return ranked
        passages = await self._live.visible(run, [item.passage_id for item in ranked[:RERANKED]], filtered=False)
        return by_time(run.query.text, ranked, passages) if named else newest_first(ranked, passages)


def _exact(run: QueryRun, head: Sequence[Fused], stored: Mapping[str, StoredPoint], kind: Kind) -> Array:
    """Blended score of each hit with the graph's bonus, where each channel's own score is computed, never assumed."""
    points = [stored[item.passage_id] for item in head]
    cosines = np.stack([point.vector for point in points]) @ run.vector
    keyword = [run.keyword_score(point) for point in points]
    bonus = {hit.passage_id: hit.bonus for hit in run.graph.hits}
    best = [max((hit.score for hit in hits), default=0.0) for hits in (run.dense, run.keyword)]
    weight = dense_weight(run.collection.embedder, kind)
    base = exact_blend(cosines, np.array(keyword, dtype=np.float32), best[0], best[1], dense=weight)
    return base + np.array([bonus.get(item.passage_id, 0.0) for item in head], dtype=np.float32)


def _reordered(head: Sequence[Fused], scores: Sequence[float]) -> list[Fused]:
    """The hits with these scores instead, best first, ties by id."""
    scored = [item.scored(score) for item, score in zip(head, scores, strict=True)]
    return sorted(scored, key=lambda item: (-item.score, item.passage_id))
