"""The vector store in memory: exact, small, and the oracle that every other backend is compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kedge.core.settings import Settings
from kedge.core.values import Json, Scored
from kedge.core.values.filters import Filter, all_of, evaluate
from kedge.stores.ports import IndexSpec, Point, StoredPoint, Vector
from kedge.stores.vectors.rules import (
    COSINE_DIGITS,
    KEYWORD_DIGITS,
    check_dimension,
    check_limit,
    check_points,
    check_query,
    idf,
    ranked,
    unit,
    unknown_index,
)
from kedge.text.analyze import SparseTerms

_BATCH = 1000


def open_vectors(url: str, settings: Settings) -> MemoryVectors:  # noqa: ARG001 (the registry's signature)
    """`memory:` gives a new, empty store each time."""
    return MemoryVectors()


@dataclass(frozen=True, slots=True)
class _Row:
    unit: npt.NDArray[np.float64]
    payload: Mapping[str, Json]
    weights: Mapping[int, float]


@dataclass(slots=True)
class _Index:
    dimension: int
    tenants: dict[str, dict[str, _Row]] = field(default_factory=dict)

    def rows(self, tenant: str, where: Filter | None) -> dict[str, _Row]:
        rows = self.tenants.get(tenant, {})
        return rows if where is None else {id: row for id, row in rows.items() if evaluate(where, row.payload)}


class MemoryVectors:
    """Vectors by id in dictionaries. Nothing outlives the process; closing keeps the data until then."""

    def __init__(self) -> None:
        self._indexes: dict[str, _Index] = {}
        self._terms = SparseTerms()

    async def create(self, spec: IndexSpec) -> None:
        index = self._indexes.setdefault(spec.name, _Index(spec.dimension))
        check_dimension(spec, index.dimension)

    async def drop(self, index: str) -> None:
        self._indexes.pop(index, None)

    async def upsert(self, index: str, tenant: str, points: Sequence[Point]) -> None:
        found = self._index(index)
        check_points(points, found.dimension, index)
        rows = found.tenants.setdefault(tenant, {})
        for point in points:
            weights = self._terms.term_weights(point.text)
            rows[point.id] = _Row(unit(point.vector), dict(point.payload), weights)

    async def delete(self, index: str, tenant: str, ids: Sequence[str]) -> None:
        rows = self._index(index).tenants.get(tenant, {})
        for id in ids:
            rows.pop(id, None)

    async def search(
        self, index: str, tenant: str, vector: Vector, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        check_limit(limit)
        found = self._index(index)
        check_query(vector, found.dimension, index)
        rows = found.rows(tenant, where)
        if not rows:
            return []
        scores = np.stack([row.unit for row in rows.values()]) @ unit(vector)
        return ranked(zip(rows, scores.tolist(), strict=True), limit, COSINE_DIGITS)

    async def keyword_search(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        return self._by_words(index, tenant, query, limit, where, within=None)

    async def keyword_search_within(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None, *, within: Filter
    ) -> list[Scored]:
        return self._by_words(index, tenant, query, limit, all_of(where, within), within=within)

    def _by_words(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None, *, within: Filter | None
    ) -> list[Scored]:
        check_limit(limit)
        found = self._index(index)
        rare = _rarity(found.rows(tenant, within).values())
        asked = {term: weight * rare[term] for term, weight in self._terms.query_weights(query).items() if term in rare}
        scores = ((id, _dot(asked, row.weights)) for id, row in found.rows(tenant, where).items())
        return ranked(((id, score) for id, score in scores if score > 0), limit, KEYWORD_DIGITS)

    async def read(self, index: str, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
        rows = self._index(index).rows(tenant, None)
        held = {id: rows[id] for id in ids if id in rows}
        return {id: StoredPoint(row.unit.astype(np.float32), dict(row.weights)) for id, row in held.items()}

    async def term_idf(self, index: str, term_ids: Sequence[int]) -> list[float]:
        rare = _rarity(row for rows in self._index(index).tenants.values() for row in rows.values())
        return [rare.get(term, 0.0) for term in term_ids]

    async def term_idf_within(self, index: str, tenant: str, term_ids: Sequence[int], within: Filter) -> list[float]:
        rare = _rarity(self._index(index).rows(tenant, within).values())
        return [rare.get(term, 0.0) for term in term_ids]

    async def ids(self, index: str, tenant: str) -> AsyncIterator[list[str]]:
        found = list(self._index(index).rows(tenant, None))
        for start in range(0, len(found), _BATCH):
            yield found[start : start + _BATCH]

    async def count(self, index: str, tenant: str, where: Filter | None = None) -> int:
        return len(self._index(index).rows(tenant, where))

    async def close(self) -> None:
        """Nothing to release."""

    def _index(self, name: str) -> _Index:
        index = self._indexes.get(name)
        if index is None:
            raise unknown_index(name)
        return index


def _rarity(rows: Iterable[_Row]) -> dict[int, float]:
    """Each term's idf among those points that have terms at all."""
    texts = [row.weights for row in rows if row.weights]
    holding = Counter(term for weights in texts for term in weights)
    return {term: idf(len(texts), count) for term, count in holding.items()}


def _dot(asked: Mapping[int, float], weights: Mapping[int, float]) -> float:
    return sum(weight * weights[term] for term, weight in asked.items() if term in weights)
