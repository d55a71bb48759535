"""What the parts of the vector stores' contract share."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

import numpy as np
import pytest

from kedge.core.values import DEFAULT_TENANT, Json, Scored
from kedge.core.values.filters import Eq, Filter, Not, Range, evaluate
from kedge.stores.ports import CanKeywordSearch, IndexSpec, Point, Vector, VectorStore
from kedge.testing.vectors import strategies as made

TOLERANCE = 1e-4
INDEX = "knowledge_chunks"
T = DEFAULT_TENANT


def on_store(test: Callable[[Any, Any], Awaitable[None]]) -> Callable[[Any, Path], None]:
    """Turn `async def test_x(self, store)` into a plain test on a store of its own with one empty index."""

    def run(self: OpensVectors, folder: Path) -> None:
        async def body() -> None:
            store = await self.open_store(folder)
            try:
                await store.create(spec())
                await test(self, store)
            finally:
                await store.close()

        asyncio.run(body())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def spec(name: str = INDEX, dimension: int = made.DIMENSION) -> IndexSpec:
    """The index that the suite works on."""
    return IndexSpec(name, dimension, made.INDEXED)


def id_of(n: int) -> str:
    """A readable id; sorts as `n` does."""
    return str(UUID(int=n))


def point(n: int, vector: Sequence[float] = (1, 0, 0, 0), text: str = "", **payload: Json) -> Point:
    """A point in short."""
    return Point(id_of(n), np.array(vector, dtype=np.float32), text, payload)


def vector(*values: float) -> Vector:
    """A vector in short."""
    return np.array(values, dtype=np.float32)


def ids_of(hits: Sequence[Scored]) -> list[str]:
    """The ids, in order."""
    return [hit.id for hit in hits]


async def all_ids(store: VectorStore, tenant: str, index: str = INDEX) -> list[str]:
    """What `ids` yields, as one sorted list."""
    return sorted([id async for batch in store.ids(index, tenant) for id in batch])


def assert_agrees(got: Sequence[Scored], oracle: Sequence[Scored], limit: int) -> None:
    """`got` is what the oracle's whole ranking allows: right length, right scores, best first, ties by id."""
    scores = {hit.id: hit.score for hit in oracle}
    assert len(got) == min(limit, len(oracle)), (got, oracle)
    assert list(got) == sorted(got, key=lambda hit: (-hit.score, hit.id))
    assert len({hit.id for hit in got}) == len(got)
    for hit, expected in zip(got, oracle, strict=False):
        assert hit.id in scores, (got, oracle)
        assert abs(hit.score - scores[hit.id]) <= TOLERANCE, (got, oracle)
        assert hit.id == expected.id or abs(scores[hit.id] - expected.score) <= TOLERANCE, (got, oracle)


async def write_every_value(store: VectorStore) -> None:
    """One point for each of the values that could be confused, the same in every field."""
    same = vector(1, 0, 0, 0)
    held = [Point(id_of(n), same, "", dict.fromkeys(made.FIELDS, value)) for n, value in enumerate(made.VALUES)]
    await store.upsert(INDEX, T, held)


async def assert_every_value(store: VectorStore) -> None:
    """After `write_every_value`: each filter finds exactly what `evaluate` says."""
    for field in made.FIELDS:
        for where in filters_on(field):
            await assert_filter(store, field, where)


def filters_on(field: str) -> list[Filter]:
    """Every question about one field that could take one value for another."""
    wheres: list[Filter] = [Eq(field, value) for value in made.VALUES if not isinstance(value, (list, dict))]
    wheres += [Range(field, gte=number) for number in made.NUMBERS]
    return wheres + [Range(field, lt=number) for number in made.NUMBERS]


async def assert_filter(store: VectorStore, field: str, where: Filter) -> None:
    """After `write_every_value`: this filter on this field finds exactly what `evaluate` says."""
    expected = [id_of(n) for n, value in enumerate(made.VALUES) if evaluate(where, {field: value})]
    assert ids_of(await store.search(INDEX, T, vector(1, 0, 0, 0), 99, where)) == expected, where
    assert await store.count(INDEX, T, Not(where)) == len(made.VALUES) - len(expected), where


def keywords_of(store: VectorStore) -> CanKeywordSearch:
    """The store as one that searches by words; the test is skipped where it does not."""
    if not isinstance(store, CanKeywordSearch):
        pytest.skip("this backend has no keyword search")
    return store


class OpensVectors(ABC):
    """A test class that can open the vector store under test."""

    examples: ClassVar[int] = 40
    """Random cases per congruence test; slow backends take fewer."""
    keyword_scores_agree: ClassVar[bool] = True
    """Whether keyword scores are the oracle's; else only the set of hits is compared."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """An empty folder for one test; a backend that is slow on disk may give another."""
        return tmp_path

    @abstractmethod
    async def open_store(self, folder: Path) -> VectorStore:
        """Open a store that keeps its data in, or under a name derived from, this folder."""
