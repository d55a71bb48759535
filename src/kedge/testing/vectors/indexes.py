"""The vector stores' contract: indexes by name, each with its dimension."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kedge.core.errors import DimensionMismatchError, NotFoundError
from kedge.core.values import Json
from kedge.core.values.filters import And, Eq, Filter, In, Not, Or, Range, evaluate
from kedge.stores.ports import IndexSpec, Point, VectorStore
from kedge.testing.vectors import strategies as made
from kedge.testing.vectors.opened import (
    INDEX,
    OpensVectors,
    T,
    all_ids,
    id_of,
    ids_of,
    on_store,
    point,
    spec,
    vector,
)


class VectorIndexesContract(OpensVectors):
    """What collections rely on."""

    @pytest.mark.req("D-04", "D-19")
    @on_store
    async def test_create_twice_keeps_points(self, store: VectorStore) -> None:
        await store.upsert(INDEX, T, [point(1)])
        await store.create(spec())
        assert await store.count(INDEX, T) == 1

    @pytest.mark.req("D-19")
    @on_store
    async def test_create_with_another_dimension_is_refused(self, store: VectorStore) -> None:
        with pytest.raises(DimensionMismatchError) as caught:
            await store.create(spec(dimension=5))
        assert (caught.value.details["found"], caught.value.details["expected"]) == (5, 4)

    @on_store
    async def test_create_again_adds_payload_indexes(self, store: VectorStore) -> None:
        await store.upsert(INDEX, T, [point(1, note="x"), point(2, note="y")])
        await store.create(IndexSpec(INDEX, made.DIMENSION, {"note": "keyword"}))
        assert await store.count(INDEX, T, Eq("note", "x")) == 1

    @pytest.mark.req("C-06", "C-07")
    @on_store
    async def test_payload_indexes_of_every_type_serve_the_filters_of_courses(self, store: VectorStore) -> None:
        types = {"book_id": "tenant", "module": "keyword", "chapter": "integer", "hardware_tier": "integer"}
        await store.create(IndexSpec("typed", made.DIMENSION, {**types, "weight": "float", "moving": "bool"}))
        payloads: list[dict[str, Json]] = [
            {
                "book_id": f"book {n % 2}",
                "module": str(n % 3),
                "chapter": n % 5,
                "hardware_tier": 1 + n % 4,
                "weight": n / 4,
                "moving": n % 7 == 0,
            }
            for n in range(30)
        ]
        same = vector(1, 0, 0, 0)
        await store.upsert("typed", T, [Point(id_of(n), same, "", held) for n, held in enumerate(payloads)])
        of_book = (Eq("book_id", "book 1"), Range("hardware_tier", lte=2))
        wheres: list[Filter] = [
            And(of_book),
            And((*of_book, Eq("module", "1"), Range("chapter", gte=1, lte=3))),
            And((Eq("book_id", "book 0"), In("chapter", (0, 2)), Not(Eq("module", "2")))),
            Or((And((*of_book, Range("weight", gt=2.5))), Eq("moving", True))),
        ]
        for where in wheres:
            expected = [id_of(n) for n, held in enumerate(payloads) if evaluate(where, held)]
            assert 0 < len(expected) < len(payloads)
            assert ids_of(await store.search("typed", T, same, 99, where)) == expected, where
            assert await store.count("typed", T, where) == len(expected), where

    @on_store
    async def test_drop_removes_all_and_only_that(self, store: VectorStore) -> None:
        await store.create(spec("other"))
        await store.upsert(INDEX, T, [point(1)])
        await store.upsert("other", T, [point(1), point(2)])
        await store.drop(INDEX)
        await store.drop(INDEX)
        await store.drop("never was")
        with pytest.raises(NotFoundError):
            await store.count(INDEX, T)
        assert await store.count("other", T) == 2
        await store.create(spec(dimension=3))
        assert await store.count(INDEX, T) == 0

    @pytest.mark.parametrize("name", ["a/b", "..", "über 東京", "x" * 60, "%2e", "A.b-c_d"])
    def test_index_names_are_free(self, folder: Path, name: str) -> None:
        async def body() -> None:
            store = await self.open_store(folder)
            await store.create(spec(name))
            await store.upsert(name, T, [point(1)])
            assert await store.count(name, T) == 1
            await store.drop(name)
            await store.close()

        asyncio.run(body())

    @on_store
    async def test_unknown_index_is_not_found(self, store: VectorStore) -> None:
        for call in (
            store.upsert("nope", T, [point(1)]),
            store.delete("nope", T, [id_of(1)]),
            store.search("nope", T, vector(1, 0, 0, 0), 1),
            store.count("nope", T),
            all_ids(store, T, "nope"),
        ):
            with pytest.raises(NotFoundError):
                await call
