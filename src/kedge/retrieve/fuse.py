"""Fusing channels: reciprocal rank as the documented base, a blend of normalised scores as the default.

The blend has no fitted parameter between the dense and the keyword channel: each score is divided by the channel's best
score for this question, so a channel whose best hits barely stand out (a question in a language the embedder does not
know) hardly moves the order, and one whose best hit stands out decides. The graph adds an absolute bonus, which is zero
for most passages, so it cannot drown the other two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

RRF_K = 60


@dataclass(frozen=True, slots=True)
class Fused:
    """A passage after fusion, and where each channel had it."""

    passage_id: str
    """The passage."""
    score: float
    """Fused score; comparable within one question only."""
    vector_rank: int | None
    """Rank from 1 in the dense channel, None if it was not there."""
    keyword_rank: int | None
    """Rank from 1 in the keyword channel, None if it was not there."""
    graph_rank: int | None
    """Rank from 1 in the graph channel, None if it was not there."""

    @property
    def in_both(self) -> bool:
        """Whether the dense and the graph channel both found it."""
        return self.vector_rank is not None and self.graph_rank is not None

    def scored(self, score: float) -> Fused:
        """The same with another score."""
        if score == self.score:
            return self
        return Fused(self.passage_id, score, self.vector_rank, self.keyword_rank, self.graph_rank)


def rrf(
    rankings: Sequence[Sequence[str]], *, k: int = RRF_K, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Reciprocal rank fusion: each ranking gives `weight / (k + rank)` to its passages; best first, ties by id."""
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, passage in enumerate(ranking, start=1):
            scores[passage] = scores.get(passage, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def fuse_by_rank(dense: Sequence[str], keyword: Sequence[str], graph: Sequence[str] = ()) -> list[Fused]:
    """The documented base: `rrf` over the three channels' rankings."""
    return with_ranks(rrf([dense, keyword, graph]), dense, keyword, graph)


def blend(dense: Mapping[str, float], keyword: Mapping[str, float], asked: int = 0) -> dict[str, float]:
    """Base score of every passage in either channel, from 0 to 2: the sum of its shares of each channel's best.

    A passage that one channel did not return counts there as that channel's worst hit, the most it can have scored;
    as nothing where the channel returned less than the `asked` hits, since then it has no more. So the one passage
    that holds a code or a number comes before all that lack it.
    """
    first, low = _shares(dense)
    second, least = _shares(keyword)
    low, least = (low if len(first) >= asked else 0.0), (least if len(second) >= asked else 0.0)
    return {passage: first.get(passage, low) + second.get(passage, least) for passage in (first | second)}


def add_bonus(base: Mapping[str, float], bonus: Mapping[str, float]) -> list[tuple[str, float]]:
    """Base scores plus the graph's bonus, best first, ties by id. A passage known to one side only is kept."""
    passages = dict.fromkeys([*base, *bonus])
    scores = {passage: base.get(passage, 0.0) + bonus.get(passage, 0.0) for passage in passages}
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def with_ranks(
    ranked: Iterable[tuple[str, float]], dense: Sequence[str], keyword: Sequence[str], graph: Sequence[str]
) -> list[Fused]:
    """The fused order with each channel's own rank beside it."""
    near, worded, walked = ({one: rank for rank, one in enumerate(ids, start=1)} for ids in (dense, keyword, graph))
    return [Fused(one, score, near.get(one), worded.get(one), walked.get(one)) for one, score in ranked]


def _shares(scores: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """Scores divided by the best one, and the share of an unseen passage; nothing if no score is positive."""
    best = max(scores.values(), default=0.0)
    if best <= 0.0:
        return {}, 0.0
    shares = {passage: max(0.0, score / best) for passage, score in scores.items()}
    return shares, min(shares.values())
