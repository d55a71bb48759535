"""How rare the words of a question are in a collection, by the keyword index's own statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from kedge.core.values import Collection
from kedge.stores.ports import CanWeighTerms, VectorStore
from kedge.text.analyze import SparseTerms, term_id

Idf = Callable[[str], float]
_SPARSE = SparseTerms()


async def term_weights(vectors: VectorStore, collection: Collection, question: str) -> dict[int, float]:
    """Inverse document frequency of the question's terms by term id; 1 for each where the store cannot tell."""
    ids = list(_SPARSE.query_weights(question))
    if not isinstance(vectors, CanWeighTerms):
        return dict.fromkeys(ids, 1.0)
    return dict(zip(ids, await vectors.term_idf(collection.index_name, ids), strict=True))


def as_idf(weights: Mapping[int, float], collection: Collection) -> Idf:
    """The weights as a function of the term. A term that no passage has is the rarest of all."""
    unseen = math.log(1 + (collection.passages + 0.5) / 0.5)
    return lambda term: weights.get(term_id(term)) or unseen
