"""The way out: embed → vectors ∥ keywords ∥ graph → fuse → rerank → by time, if one is named → keep what is live.

Vector and keyword search and the graph's walk from what the question names run at the same time; only what starts at
the hits of the others comes after. A hit that the catalog does not know as live, or whose metadata there does not
pass the filter, is dropped: the indexes are never believed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kedge.core.errors import NotFoundError, QueryError, in_collection
from kedge.core.settings import Settings
from kedge.core.stages import measure, stage
from kedge.core.untrusted import fault_in_line
from kedge.core.values import (
    MAX_QUERY_CHARS,
    MAX_TOP_K,
    Collection,
    Passage,
    Predicate,
    Query,
    Scope,
    Scored,
    SearchHit,
    SearchResult,
)
from kedge.core.values.filters import Eq, Filter, all_of, check_filter, evaluate, or_moving
from kedge.core.values.filters import fields as filter_fields
from kedge.models.carried.tokenizer import unchecked_tokenizer
from kedge.models.languages import offer_for_question
from kedge.models.ports import Reranker
from kedge.models.read.chain import open_chain_reader
from kedge.models.registry import open_reranker
from kedge.retrieve.channels.graph import search_graph
from kedge.retrieve.channels.named import NamedConcepts, read_question
from kedge.retrieve.channels.pool import GraphResult, TraversalQuestion, weigh_question
from kedge.retrieve.features import StoredFeatures
from kedge.retrieve.fuse import Fused, add_bonus, blend, fuse_by_rank, with_ranks
from kedge.retrieve.parameters import PARAMETERS
from kedge.retrieve.ports import CollectionSource
from kedge.retrieve.rarity import term_weights
from kedge.retrieve.rerank import adaptive, exact_blend, smooth
from kedge.retrieve.second import READ, best_cover, by_steps, takes_steps
from kedge.retrieve.sharing import QuestionReads
from kedge.retrieve.soft import open_vectors, soft_match
from kedge.retrieve.topical import Kind, by_topic, dense_weight, kind_of
from kedge.retrieve.when import asks_for_now, by_time, newest_first
from kedge.stores.bundle import Stores
from kedge.stores.catalog.ports import ReadPassages
from kedge.stores.narrowing import asked_once, condition, narrowed_to
from kedge.stores.ports import CanKeywordSearch, CanReadPoints, CanWeighTerms, CanWeighWithin, StoredPoint, Vector
from kedge.text.analyze import SparseTerms
from kedge.text.periods import periods

log = logging.getLogger(__name__)
LOOKS = 5
"""How often a collection of rewritten passages is searched again while it changes."""
RERANKED = 50
"""Best candidates that the light reranker orders."""
SOFT: float = PARAMETERS["soft"]
"""What a full soft match of the question's words adds to a score, which is on the scale 0 to 2."""
NEAR = 0.1
"""How far from the threshold a similarity may be to be measured as near it."""
MEASURED = 10
"""Best hits of the vector channel whose scores are kept as metrics."""
READ_BY_MODEL = 20
"""Best candidates that a reranking model reads."""
MODEL = 0.5
"""What a model that is sure of a passage adds to its share of the best score."""
TOLD_AS = {"vector": "vectors", "keyword": "keywords", "graph_question": "graph"}
"""Names of stages where they differ from those of the times."""
SPARSE = SparseTerms()
RELATIONS = frozenset(predicate.value for predicate in Predicate)
"""Steps of a path that name a relation, not a concept."""
Array = NDArray[np.float32]


def validate(query: Query, most: int = MAX_TOP_K) -> None:
    """Raise QueryError for a query that cannot be (D-15)."""
    if not query.text.strip():
        raise QueryError("Query cannot be empty", hint="Type a question.")
    if len(query.text) > MAX_QUERY_CHARS:
        raise QueryError(
            "Query exceeds maximum length",
            hint=f"Use at most {MAX_QUERY_CHARS} characters.",
            details={"length": len(query.text), "maximum": MAX_QUERY_CHARS},
        )
    if fault := fault_in_line(query.text):
        raise QueryError(f"The question {fault}.", hint="Type it again, or remove what cannot be seen.")
    if query.where is not None:
        check_filter(query.where)
    if type(query.top_k) is not int or query.top_k < 1:
        raise QueryError(
            f"top_k must be positive integer, got {query.top_k}",
            hint=f"Ask for 1 to {most}.",
            details={"top_k": query.top_k},
        )
    if query.top_k > most:
        raise QueryError(
            f"top_k must be between 1 and {most}",
            hint="Ask for fewer, or raise the setting max_top_k.",
            details={"top_k": query.top_k},
        )


@dataclass(frozen=True, slots=True)
class _Ordered:
    """A search whose candidates are in order."""

    run: _QueryRun
    fused: list[Fused]
    ranked: list[Fused]


SearchedQuestion: TypeAlias = QuestionReads[_Ordered]


@dataclass(slots=True)
class _QueryRun:
    """One query on its way; what each stage found and how long it took."""

    query: Query
    collection: Collection
    where: Filter | None
    index_where: Filter | None
    """What the indexes are asked; the catalog is asked for `where`."""
    vector: Vector
    within: Filter | None = None
    """What the actor in force may read; None: all of it."""
    unsettled: bool = False
    """Whether the indexes do not know the readers of some documents yet."""
    timings: dict[str, float] = field(default_factory=dict)
    dense: list[Scored] = field(default_factory=list)
    keyword: list[Scored] = field(default_factory=list)
    weights: Mapping[int, float] = field(default_factory=dict)
    """Weight of each term of the question."""
    graph: GraphResult = field(default_factory=lambda: GraphResult((), {}))
    fused: dict[str, float] = field(default_factory=dict)
    """Score of each candidate before reranking."""
    reranked_top: float | None = None
    """The best score after it."""
    said: dict[str, float] = field(default_factory=dict)
    """What the reranking model said of those that it read."""
    steps: dict[str, float] = field(default_factory=dict)
    """How surely each that the chain reader read is a step of the answer."""
    stored: dict[str, StoredPoint] = field(default_factory=dict)
    """Points of candidates, read from the store."""
    shared: QuestionReads[_Ordered] = field(default_factory=QuestionReads)
    """What this search shares with others for the same question."""
    passages: dict[str, Passage | None] = field(default_factory=dict)
    """What the catalog was asked for: each passage, or None for one that it does not show to readers."""
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    reads: int = 0
    """How often it was asked."""
    unseen: set[str] = field(default_factory=set)
    """What it does not show to readers, of all that it was asked for."""

    def strength(self) -> float:
        """How near the nearest hit is, from 0 to 1: by cosine, or by the share of the question's words it holds."""
        cosine = max((hit.score for hit in self.dense), default=0.0)
        possible = (SPARSE.k1 + 1) * sum(self.weights.values())
        share = max((hit.score for hit in self.keyword), default=0.0) / possible if possible else 0.0
        return max(0.0, min(1.0, max(cosine, share)))

    def blended(self, asked: int) -> dict[str, float]:
        """Base scores of what the two channels found, each asked for so many hits.

        A keyword channel that ran out of hits has no more only as far as it knows the question: of a question in
        another language it may know a number alone.
        """
        words = SPARSE.query_weights(self.query.text)
        possible = (SPARSE.k1 + 1) * sum(self.weights.values())
        best = max((hit.score for hit in self.keyword), default=0.0)
        known = 2 * len(self.weights) >= len(words) and 2 * best >= possible
        return blend(_scores(self.dense), _scores(self.keyword), asked if known else 0)

    def paths(self) -> dict[str, tuple[str, ...]]:
        """What led the graph to each passage."""
        return {hit.passage_id: hit.path for hit in self.graph.hits}

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            with stage(TOLD_AS.get(name, name)):
                yield
        finally:
            self.timings[name] = 1000 * (time.perf_counter() - started)


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
        self._reranker: Reranker | None = None

    async def warm_up(self) -> None:
        """Load what the default order reads now rather than at the first query."""
        if self._settings.reranker == "default":
            await asyncio.to_thread(open_vectors)

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
        known.of(query.text, collection.index_name, graph=self._with_graph(query))
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
        hits = _hits(run, kept, passages, self._settings.threshold)
        _tell_similarity(run, self._settings.threshold if near is None else near)
        run.timings["total"] = 1000 * (time.perf_counter() - started)
        return SearchResult(
            query=query.text,
            hits=tuple(hits),
            timings_ms=run.timings,
            counts=_counts(run, fused),
            warnings=tuple(await self._diagnose(run, hits)) if warn else (),
            measures=_measures(run),
            strategy="hybrid" if self._with_graph(query) else "vector_only",
        )

    async def _changing(self, scope: Scope, since: datetime) -> bool:
        """Whether anything was written to the collection since then."""
        recent = [job for job in await self.stores.catalog.jobs.recent(scope.tenant) if job.scope == scope]
        return any(not job.status.ended or job.completed_at is None or job.completed_at >= since for job in recent)

    async def _settled(
        self, run: _QueryRun, kept: list[Fused], passages: dict[str, Passage], limit: int
    ) -> tuple[_QueryRun, list[Fused], list[Fused], dict[str, Passage]]:
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

    async def _found(self, run: _QueryRun, limit: int) -> tuple[list[Fused], list[Fused], dict[str, Passage]]:
        """All candidates, those that are kept of them, and their passages."""
        known = run.shared.found(run.where, run.index_where)
        fused, ranked = (known.fused, known.ranked) if known is not None else await self._in_order(run)
        with run.timed("live"):
            kept, passages = await self._live(run, ranked, limit)
            await self._measure(run, kept)
        return fused, kept, passages

    async def _in_order(self, run: _QueryRun) -> tuple[list[Fused], list[Fused]]:
        """All candidates, as they were fused and in their final order."""
        await self._channels(run)
        with run.timed("fuse"):
            fused = self._fuse(run)
        run.fused = {item.passage_id: item.score for item in fused}
        with run.timed("rerank"):
            ranked = await self._timely(run, await self._stepped(run, await self._rerank(run, fused)))
        run.reranked_top = ranked[0].score if ranked else None
        run.shared.searched.append((run.where, run.index_where, _Ordered(run, fused, ranked)))
        return fused, ranked

    async def _embed(self, query: Query, collection: Collection, shared: SearchedQuestion) -> _QueryRun:
        started = time.perf_counter()
        embedder = await self._collections.embedder_of(collection)
        with stage("embed"):
            vector = await embedder.embed_query(query.text)
        topic = Eq("topic_tag", query.topic_filter) if query.topic_filter is not None else None
        where = all_of(topic, query.where)
        narrowed = await narrowed_to(self.stores.catalog, query.scope)
        within = None if narrowed is None else condition(narrowed)
        asked = all_of(or_moving(where) if self._rewritten else where, within)
        run = _QueryRun(query, collection, where, asked, vector, within=within, shared=shared)
        run.unsettled = narrowed is not None and bool(narrowed.unsettled)
        run.timings["embed"] = 1000 * (time.perf_counter() - started)
        return run

    # ------------------------------------------------------------ channels

    async def _channels(self, run: _QueryRun) -> None:
        """All channels at once; what the graph's walk does from the hits of the other two follows them."""
        dense = asyncio.create_task(self._dense(run))
        keyword = asyncio.create_task(self._keyword(run))
        weights = asyncio.create_task(self._weights(run))
        named = asyncio.create_task(self._named(run))
        await asyncio.gather(dense, keyword, weights, named)
        run.dense, run.keyword, run.weights = dense.result(), keyword.result(), weights.result()
        if run.unsettled:
            await self._leave_out(run)
        question = named.result()
        if question is not None and isinstance(self.stores.vectors, CanReadPoints):
            with run.timed("graph"):
                run.graph = await self._walk(run, question, self.stores.vectors)

    async def _leave_out(self, run: _QueryRun) -> None:
        """Hits of documents whose readers the index does not know yet, and whom the catalog does not show."""
        ids = [hit.id for hit in (*run.dense, *run.keyword)]
        seen = await self.stores.catalog.passages.visible(run.query.scope, ids)
        run.dense = [hit for hit in run.dense if hit.id in seen]
        run.keyword = [hit for hit in run.keyword if hit.id in seen]

    async def _dense(self, run: _QueryRun) -> list[Scored]:
        if "vector" not in self._settings.channels:
            return []
        index, limit = run.collection.index_name, self._settings.candidates
        with run.timed("vector"):
            hits = await self.stores.vectors.search(index, run.query.scope.tenant, run.vector, limit, run.index_where)
        _log_search("vector search", run, hits)
        return hits

    async def _keyword(self, run: _QueryRun) -> list[Scored]:
        if "keyword" not in self._settings.channels or not isinstance(self.stores.vectors, CanKeywordSearch):
            return []
        with run.timed("keyword"):
            index, tenant = run.collection.index_name, run.query.scope.tenant
            text, limit, vectors = run.query.text, self._settings.candidates, self.stores.vectors
            if run.within is not None and isinstance(vectors, CanWeighWithin):
                own, within = run.index_where, run.within
                hits = await vectors.keyword_search_within(index, tenant, text, limit, own, within=within)
            else:
                hits = await vectors.keyword_search(index, tenant, text, limit, run.index_where)
        _log_search("keyword search", run, hits)
        return hits

    async def _named(self, run: _QueryRun) -> NamedConcepts | None:
        """What the question names in the graph; None when the graph is not to be searched."""
        if not self._with_graph(run.query):
            return None
        points = self.stores.vectors
        reader = self._points(run, points) if isinstance(points, CanReadPoints) else None
        if run.shared.named is None:
            with run.timed("graph_question"):
                scope, text = run.query.scope, run.query.text
                run.shared.named = await read_question(self.stores.graph, scope, text, reader=reader)
        return run.shared.named

    def _points(self, run: _QueryRun, points: CanReadPoints) -> StoredFeatures:
        """What reads the store for this run: each point once."""
        if run.shared.points is None:
            run.shared.points = StoredFeatures(points, run.collection.index_name)
        return run.shared.points

    def _with_graph(self, query: Query) -> bool:
        """Whether the graph is to be searched: by the query and by the settings."""
        return query.include_graph and "graph" in self._settings.channels

    async def _weights(self, run: _QueryRun) -> Mapping[int, float]:
        if run.shared.weights is None:
            idf = await term_weights(self.stores.vectors, run.collection, run.query.text, run.within)
            run.shared.weights = weigh_question(run.query.text, SPARSE, idf)
        return run.shared.weights

    async def _walk(self, run: _QueryRun, question: NamedConcepts, points: CanReadPoints) -> GraphResult:
        asked = TraversalQuestion(run.query.text, run.vector, run.weights)
        reader = self._points(run, points)
        base = run.blended(self._settings.candidates)
        return await search_graph(self.stores.graph, reader, run.query.scope, asked, base, question=question)

    # ------------------------------------------------------------ fusion, live check, rerank

    def _fuse(self, run: _QueryRun) -> list[Fused]:
        dense, keyword = [hit.id for hit in run.dense], [hit.id for hit in run.keyword]
        graph = [hit.passage_id for hit in run.graph.hits]
        if self._settings.fusion == "rrf":
            return fuse_by_rank(dense, keyword, graph)
        base = run.blended(self._settings.candidates)
        bonus = {hit.passage_id: hit.bonus for hit in run.graph.hits}
        return with_ranks(add_bonus({**run.graph.base, **base}, bonus), dense, keyword, graph)

    async def _live(
        self, run: _QueryRun, ranked: Sequence[Fused], limit: int
    ) -> tuple[list[Fused], dict[str, Passage]]:
        """The first `limit` that the catalog shows to readers and that pass the filter there, and their passages."""
        kept: list[Fused] = []
        passages: dict[str, Passage] = {}
        at_once = limit + limit // 2 + 2
        for start in range(0, len(ranked), at_once):
            part = ranked[start : start + at_once]
            found = await self._visible(run, [item.passage_id for item in part])
            passages |= found
            kept += [item for item in part if item.passage_id in found]
            if len(kept) >= limit:
                break
        kept = kept[:limit]
        if run.reads > 1:  # at different moments: a document may have been switched in between
            run.passages.clear()
            passages = await self._visible(run, [item.passage_id for item in kept])
            kept = [item for item in kept if item.passage_id in passages]
        paths = run.paths()
        steps = {step for item in kept for step in paths.get(item.passage_id, ()) if step in run.graph.base}
        passages |= await self._visible(run, sorted(steps - passages.keys()))
        return kept, passages

    async def _measure(self, run: _QueryRun, kept: Sequence[Fused]) -> None:
        """Read the points of hits that a channel did not return, where they were not read before: for raw scores."""
        points = self.stores.vectors
        found = _scores(run.dense).keys() & _scores(run.keyword).keys() | run.stored.keys()
        lacking = [item.passage_id for item in kept if item.passage_id not in found]
        if lacking and isinstance(points, CanReadPoints):
            run.stored |= await self._points(run, points).stored(run.query.scope, lacking)

    async def _visible(self, run: _QueryRun, ids: Sequence[str], *, filtered: bool = True) -> dict[str, Passage]:
        asked = [key for key in ids if key not in run.passages]
        if asked:
            live = await self.passages.live(run.query.scope, asked)
            run.reads += 1
            run.passages |= {key: live.get(key) for key in asked}
            run.unseen |= set(asked) - live.keys()
        found = {key: passage for key in ids if (passage := run.passages[key]) is not None}
        if run.where is None or not filtered:
            return found
        return {key: passage for key, passage in found.items() if evaluate(run.where, passage.payload())}

    async def _rerank(self, run: _QueryRun, fused: Sequence[Fused]) -> list[Fused]:
        """By the light default, by a model of that name, or not at all."""
        if self._settings.reranker == "none" or len(fused) < 2:
            return list(fused)
        if self._settings.reranker == "default":
            return await self._lightly(run, fused)
        return await self._rerank_by_model(run, fused)

    async def _lightly(self, run: _QueryRun, fused: Sequence[Fused]) -> list[Fused]:
        """Exact scores in both channels, soft word match, smoothing: see `rerank.py` and `soft.py`."""
        points = self.stores.vectors
        if not isinstance(points, CanReadPoints):
            return list(fused)
        head = list(fused[:RERANKED])
        wanted = [item.passage_id for item in head]
        stored = await self._points(run, points).stored(run.query.scope, wanted)
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

    async def _soft(self, run: _QueryRun, wanted: Sequence[str]) -> Array:
        """Soft match of each passage above the worst one's."""
        vectors = await asyncio.to_thread(open_vectors)
        if vectors is None:
            return np.zeros(len(wanted), dtype=np.float32)
        passages = await self._visible(run, wanted, filtered=False)
        texts = [passages[key].embed_text if key in passages else "" for key in wanted]
        shares = soft_match(vectors, run.query.text, texts)
        return np.asarray(shares - shares.min(), dtype=np.float32)

    async def _rerank_by_model(self, run: _QueryRun, fused: Sequence[Fused]) -> list[Fused]:
        """The light order, to which the model adds what it thinks of the best; those it did not read follow."""
        ranked = await self._lightly(run, fused)
        if self._reranker is None:
            self._reranker = await asyncio.to_thread(open_reranker, self._settings.reranker, self._settings)
        passages = await self._visible(run, [item.passage_id for item in ranked[:READ_BY_MODEL]])
        head = [item for item in ranked[:READ_BY_MODEL] if item.passage_id in passages]
        said = await self._reranker.rerank(run.query.text, [passages[item.passage_id].embed_text for item in head])
        run.said = {item.passage_id: one for item, one in zip(head, said, strict=True)}
        best = max(ranked[0].score, 1e-9)
        mixed = _reordered(head, [item.score / best + MODEL * one for item, one in zip(head, said, strict=True)])
        last = mixed[-1].score if mixed else 1.0
        return [*mixed, *(item.scored(min(item.score / best, last)) for item in ranked[READ_BY_MODEL:])]

    async def _stepped(self, run: _QueryRun, ranked: list[Fused]) -> list[Fused]:
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
        passages = await self._visible(run, head)
        ranked, run.steps = await asyncio.to_thread(by_steps, reader, run.query.text, ranked, passages)
        return ranked

    async def _timely(self, run: _QueryRun, ranked: list[Fused]) -> list[Fused]:
        """What is about the time that the question names first, or what is newest: see `when.py`."""
        named = bool(periods(run.query.text))
        if not named and not asks_for_now(run.query.text):
            return ranked
        passages = await self._visible(run, [item.passage_id for item in ranked[:RERANKED]], filtered=False)
        return by_time(run.query.text, ranked, passages) if named else newest_first(ranked, passages)

    async def _diagnose(self, run: _QueryRun, hits: Sequence[SearchHit]) -> list[str]:
        """Nothing found although there is something to find: say what is known about it (Q-05).

        Found in another language than asked in, by a model that knows one: say what brings another.
        """
        if hits or not run.collection.passages:
            spoken = [hit.passage.language for hit in hits]
            scope, embedder = run.query.scope, run.collection.embedder
            return list(filter(None, [offer_for_question(run.query.text, spoken, scope.collection, embedder)]))
        passing = await self.stores.vectors.count(run.collection.index_name, run.query.scope.tenant, run.index_where)
        samples = ", ".join(f"{hit.score:.3f}" for hit in run.dense[:3]) or "none"
        log.warning(
            "vector search returned 0 results although %d passages have embeddings, %d of which pass the filter; "
            "collection %s, index %s, top_k %d, best vector scores: %s",
            *(run.collection.passages, passing, run.query.scope.collection, run.collection.index_name),
            *(run.query.top_k, samples),
        )
        return [
            f"Nothing was found for {run.query.text[:80]!r} (top_k {run.query.top_k}) although the collection holds "
            f"{run.collection.passages} passages, of which {passing} pass the filter; best vector scores: {samples}. "
            "If this is unexpected, run `kedge check`."
        ]


def _tell_similarity(run: _QueryRun, threshold: float) -> None:
    """The best similarities and those about the threshold, for tuning it: as metrics, and in the log (G-28)."""
    if not run.dense:
        return
    kind, measured = run.collection.kind, run.dense[:MEASURED]
    close = [hit.score for hit in measured if abs(hit.score - threshold) <= NEAR]
    measure("similarity", max(0.0, min(1.0, run.dense[0].score)), kind)
    for score in close:
        measure("similarity_near", max(0.0, min(1.0, score)), kind)
    best, about = (
        ", ".join(f"{score:.3f}" for score in scores) or "none"
        for scores in ([hit.score for hit in measured[:3]], close)
    )
    where = run.query.scope.collection
    log.info("best similarities in %s (%s): %s; near the threshold %.2f: %s", where, kind, best, threshold, about)


def _log_search(operation: str, run: _QueryRun, hits: Sequence[Scored]) -> None:
    """What was asked of an index and what it gave; never a vector or the words of a question (Q-13)."""
    if log.isEnabledFor(logging.DEBUG):
        fields = ", ".join(sorted(filter_fields(run.index_where))) if run.index_where is not None else "none"
        best = ", ".join(f"{hit.score:.4f}" for hit in hits[:3]) or "none"
        log.debug(
            "%s in index %s: top_k %d, filter on %s, %d hits, best scores %s",
            *(operation, run.collection.index_name, run.query.top_k, fields, len(hits), best),
        )


def _exact(run: _QueryRun, head: Sequence[Fused], stored: Mapping[str, StoredPoint], kind: Kind) -> Array:
    """Blended score of each hit with the graph's bonus, where each channel's own score is computed, never assumed."""
    points = [stored[item.passage_id] for item in head]
    cosines = np.stack([point.vector for point in points]) @ run.vector
    keyword = [_bm25(run, point) for point in points]
    bonus = {hit.passage_id: hit.bonus for hit in run.graph.hits}
    best = [max((hit.score for hit in hits), default=0.0) for hits in (run.dense, run.keyword)]
    weight = dense_weight(run.collection.embedder, kind)
    base = exact_blend(cosines, np.array(keyword, dtype=np.float32), best[0], best[1], dense=weight)
    return base + np.array([bonus.get(item.passage_id, 0.0) for item in head], dtype=np.float32)


def _bm25(run: _QueryRun, point: StoredPoint) -> float:
    """The keyword channel's score of a point that it may not have returned."""
    return sum(weight * point.terms.get(term, 0.0) for term, weight in run.weights.items())


def _reordered(head: Sequence[Fused], scores: Sequence[float]) -> list[Fused]:
    """The hits with these scores instead, best first, ties by id."""
    scored = [item.scored(score) for item, score in zip(head, scores, strict=True)]
    return sorted(scored, key=lambda item: (-item.score, item.passage_id))


def _scores(hits: Sequence[Scored]) -> dict[str, float]:
    return {hit.id: hit.score for hit in hits}


def _counts(run: _QueryRun, fused: Sequence[Fused]) -> dict[str, int]:
    return {
        "vector": len(run.dense),
        "keyword": len(run.keyword),
        "graph": len(run.graph.hits),
        "overlap": sum(item.in_both for item in fused),
        "concepts": len(
            {
                step
                for hit in run.graph.hits
                for step in hit.path
                if step not in run.graph.base and step not in RELATIONS
            }
        ),
        "candidates": len(fused),
    }


def _measures(run: _QueryRun) -> dict[str, float]:
    """What `SearchResult.measures` holds."""
    best = [hit.score for hit in run.dense[:MEASURED]]
    found = {
        "vector_top": max(best, default=None),
        "vector_avg": sum(best) / len(best) if best else None,
        "fused_top": max(run.fused.values(), default=None),
        "reranked_top": run.reranked_top,
    }
    return {name: value for name, value in found.items() if value is not None}


def _hits(run: _QueryRun, ranked: Sequence[Fused], live: Mapping[str, Passage], threshold: float) -> list[SearchHit]:
    dense, keyword = _scores(run.dense), _scores(run.keyword)
    paths = run.paths()
    best = max((item.score for item in ranked), default=0.0)
    strength = run.strength()
    hits = []
    for rank, item in enumerate(ranked, 1):
        score = strength * max(0.0, item.score / best) if best > 0 else 0.0
        point = run.stored.get(item.passage_id)
        cosine, bm25 = dense.get(item.passage_id), keyword.get(item.passage_id)
        hits.append(
            SearchHit(
                rank=rank,
                passage=live[item.passage_id],
                score=score,
                vector_rank=item.vector_rank,
                keyword_rank=item.keyword_rank,
                graph_rank=item.graph_rank,
                vector_score=cosine,
                keyword_score=bm25,
                cosine=cosine if cosine is not None or point is None else float(point.vector @ run.vector),
                bm25=bm25 if bm25 is not None or point is None else _bm25(run, point),
                fused_score=run.fused.get(item.passage_id),
                model_score=run.said.get(item.passage_id),
                step=run.steps.get(item.passage_id),
                path=(shown := _readable(paths.get(item.passage_id, ()), live, run.graph.base)),
                path_ids=paths.get(item.passage_id, ()) if shown else (),
                above_threshold=score >= threshold,
            )
        )
    return hits


def _readable(path: Sequence[str], shown: Mapping[str, Passage], known: Mapping[str, float]) -> tuple[str, ...]:
    """The steps with passages named by their title; nothing where a step leads through one that must not be shown."""
    if any(step in known and step not in shown for step in path):
        return ()
    return tuple(shown[step].title if step in shown else step for step in path)
