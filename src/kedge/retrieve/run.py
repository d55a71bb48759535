"""One query on its way: what is asked, and what each stage found."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeAlias

from kedge.core.stages import stage
from kedge.core.values import Collection, Passage, Query, Scored
from kedge.core.values.filters import Filter
from kedge.retrieve.channels.pool import GraphResult
from kedge.retrieve.features import StoredFeatures
from kedge.retrieve.fuse import Fused, blend
from kedge.retrieve.sharing import QuestionReads
from kedge.stores.ports import CanReadPoints, StoredPoint, Vector
from kedge.stores.vectors.rules import KEYWORD_DIGITS
from kedge.text.analyze import SparseTerms

TOLD_AS = {"vector": "vectors", "keyword": "keywords", "graph_question": "graph"}
"""Names of stages where they differ from those of the times."""
SPARSE = SparseTerms()
"""How the words of a question are weighed."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """A search whose candidates are in order."""

    run: QueryRun
    fused: list[Fused]
    ranked: list[Fused]


SearchedQuestion: TypeAlias = QuestionReads[Ordered]


@dataclass(slots=True)
class QueryRun:
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
    weighed: bool = False
    """Whether these are the weights by which the keyword channel scores."""
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
    shared: QuestionReads[Ordered] = field(default_factory=QuestionReads)
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
        share = max(self.word_scores().values(), default=0.0) / possible if possible else 0.0
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
        return blend(scores_of(self.dense), scores_of(self.keyword), asked if known else 0)

    def paths(self) -> dict[str, tuple[str, ...]]:
        """What led the graph to each passage."""
        return {hit.passage_id: hit.path for hit in self.graph.hits}

    def reader(self, points: CanReadPoints) -> StoredFeatures:
        """What reads the store for this run: each point once."""
        if self.shared.points is None:
            self.shared.points = StoredFeatures(points, self.collection.index_name)
        return self.shared.points

    def keyword_score(self, point: StoredPoint) -> float:
        """The keyword channel's score of a point that it may not have returned."""
        return sum(weight * point.terms.get(term, 0.0) for term, weight in self.weights.items())

    def word_scores(self) -> dict[str, float]:
        """The keyword channel's score of each of its hits, by id.

        Where a hit's point was read, the score is summed here: a store adds 32-bit numbers in an order that its files
        decide, so that the last digit that is kept would differ from home to home.
        """
        scores = scores_of(self.keyword)
        if self.weighed:
            read = scores.keys() & self.stored.keys()
            scores |= {key: round(self.keyword_score(self.stored[key]), KEYWORD_DIGITS) for key in read}
        return scores

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            with stage(TOLD_AS.get(name, name)):
                yield
        finally:
            self.timings[name] = 1000 * (time.perf_counter() - started)


def scores_of(hits: Sequence[Scored]) -> dict[str, float]:
    """The score of each hit by its id."""
    return {hit.id: hit.score for hit in hits}
