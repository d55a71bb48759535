"""Keyword search without sparse vectors (Milvus 2.3): terms are filtered on the server and scored here.

Points that hold a term come with all their weights, so each is scored once. Terms are fetched from rare to common; when
what the remaining terms could add is less than what the last wanted hit has, no unseen point can get in, and the
common terms are never fetched.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence

from kedge.stores.vectors.milvus.schema import unpacked
from kedge.stores.vectors.rules import KEYWORD_DIGITS
from kedge.text.analyze import SparseTerms

Order = Iterable[tuple[list[int], list[int]]]
"""(terms to fetch now, terms that come later), from rare to common."""
HEAVIEST = SparseTerms().k1 + 1
"""A term's weight in a passage stays below this."""
_SMALL = 500
"""Terms that so few points hold are fetched together."""
_MARGIN = 2 * 10.0**-KEYWORD_DIGITS
"""Scores nearer than this may tie."""


def holds(terms: Sequence[int]) -> str:
    """Expression for points with any of these terms."""
    return f"array_contains_any(term_ids, {list(terms)})"


def groups(holding: Mapping[int, int]) -> Order:
    """The terms by how many points hold them; the rarest together."""
    order = sorted(holding, key=lambda term: (holding[term], term))
    start = 0
    while start < len(order):
        end, size = start + 1, holding[order[start]]
        while end < len(order) and size + holding[order[end]] <= _SMALL:
            size += holding[order[end]]
            end += 1
        yield order[start:end], order[end:]
        start = end


def score(term_weights: str, asked: Mapping[int, float]) -> float:
    """BM25 of a stored row for the asked terms (weight × idf)."""
    held = unpacked(term_weights)
    return math.fsum(weight * held[term] for term, weight in asked.items() if term in held)


def settled(scores: Mapping[str, float], limit: int, could_add: float) -> bool:
    """Whether no point unseen so far can be among the best `limit`."""
    if len(scores) < limit:
        return could_add == 0
    return heapq.nlargest(limit, scores.values())[-1] > could_add + _MARGIN
