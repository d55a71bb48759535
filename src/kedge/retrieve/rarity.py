"""How rare the words of a question are in a collection, by the keyword index's own statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from kedge.core.values import Collection
from kedge.core.values.filters import Filter
from kedge.stores.ports import CanWeighTerms, CanWeighWithin, VectorStore
from kedge.text.analyze import SparseTerms, term_id

Idf = Callable[[str], float]
_SPARSE = SparseTerms()
_KNOWN: ContextVar[dict[tuple[str, str, str], dict[int, float]] | None] = ContextVar("kedge_rarity", default=None)
"""By index, question and what may be read of it."""


@contextmanager
def weighed_once() -> Iterator[None]:
    """Within the block, one question, the store is asked once how rare the question's terms are."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


async def term_weights(
    vectors: VectorStore, collection: Collection, question: str, within: Filter | None = None
) -> dict[int, float]:
    """Inverse document frequency of the question's terms by term id; 1 for each where the store cannot tell.

    `within`: what the actor in force may read, where that is a part of the collection.
    """
    known = _KNOWN.get()
    if known is None:
        return await _term_weights(vectors, collection, question, within)
    asked = (collection.index_name, question, repr(within))
    if asked not in known:
        known[asked] = await _term_weights(vectors, collection, question, within)
    return known[asked]


async def _term_weights(
    vectors: VectorStore, collection: Collection, question: str, within: Filter | None
) -> dict[int, float]:
    ids = list(_SPARSE.query_weights(question))
    if within is not None and isinstance(vectors, CanWeighWithin):
        found = await vectors.term_idf_within(collection.index_name, collection.scope.tenant, ids, within)
        return dict(zip(ids, found, strict=True))
    if not isinstance(vectors, CanWeighTerms):
        return dict.fromkeys(ids, 1.0)
    return dict(zip(ids, await vectors.term_idf(collection.index_name, ids), strict=True))


def as_idf(weights: Mapping[int, float], collection: Collection) -> Idf:
    """The weights as a function of the term. A term that no passage has is the rarest of all."""
    unseen = math.log(1 + (collection.passages + 0.5) / 0.5)
    return lambda term: weights.get(term_id(term)) or unseen
