"""The vector stores' contract: points are written, replaced and deleted, and belong to one tenant."""

from __future__ import annotations

import pytest

from kedge.core.errors import DimensionMismatchError, UsageError
from kedge.core.values import Json, Scored
from kedge.core.values.filters import Eq, Not, Range
from kedge.stores.ports import Point, VectorStore
from kedge.testing.vectors.opened import (
    INDEX,
    OpensVectors,
    T,
    all_ids,
    id_of,
    ids_of,
    on_store,
    point,
    vector,
)


class PointsContract(OpensVectors):
    """What ingestion relies on."""

    @pytest.mark.req("D-18")
    @on_store
    async def test_upsert_is_idempotent_and_replaces_whole(self, store: VectorStore) -> None:
        await store.upsert(INDEX, T, [point(1, text="tree", topic="old", page=1)])
        await store.upsert(INDEX, T, [point(1, text="tree", topic="old", page=1)])
        assert await store.count(INDEX, T) == 1
        await store.upsert(INDEX, T, [point(1, (0, 1, 0, 0), "graph", topic="new")])
        assert await store.count(INDEX, T, Eq("page", None)) == 1
        assert await store.count(INDEX, T, Eq("topic", "old")) == 0
        assert await store.search(INDEX, T, vector(0, 1, 0, 0), 5) == [Scored(id_of(1), 1.0)]

    @on_store
    async def test_last_of_equal_ids_in_one_call_wins(self, store: VectorStore) -> None:
        await store.upsert(INDEX, T, [point(1, topic="a"), point(2), point(1, topic="b")])
        assert await store.count(INDEX, T) == 2
        assert await store.count(INDEX, T, Eq("topic", "b")) == 1

    @on_store
    async def test_empty_calls_do_nothing(self, store: VectorStore) -> None:
        await store.upsert(INDEX, T, [])
        await store.delete(INDEX, T, [])
        assert await all_ids(store, T) == []
        assert await store.search(INDEX, T, vector(1, 0, 0, 0), 3) == []

    @pytest.mark.req("D-18")
    @on_store
    async def test_delete_is_idempotent(self, store: VectorStore) -> None:
        await store.upsert(INDEX, T, [point(n) for n in range(5)])
        await store.delete(INDEX, T, [id_of(1), id_of(3), id_of(99)])
        await store.delete(INDEX, T, [id_of(1), "no uuid"])
        assert await all_ids(store, T) == [id_of(0), id_of(2), id_of(4)]

    @pytest.mark.req("D-19", "Q-02")
    @on_store
    async def test_wrong_dimension_writes_nothing_of_the_call(self, store: VectorStore) -> None:
        with pytest.raises(DimensionMismatchError):
            await store.upsert(INDEX, T, [point(1), point(2, (1, 0, 0))])
        with pytest.raises(DimensionMismatchError):
            await store.search(INDEX, T, vector(1, 0), 1)
        assert await store.count(INDEX, T) == 0

    @on_store
    async def test_bad_values_write_nothing_of_the_call(self, store: VectorStore) -> None:
        for bad in (point(2, (1, 0, float("nan"), 0)), Point("no uuid", vector(1, 0, 0, 0), "", {})):
            with pytest.raises(UsageError):
                await store.upsert(INDEX, T, [point(1), bad])
        assert await store.count(INDEX, T) == 0

    @on_store
    async def test_many_points_in_one_call(self, store: VectorStore) -> None:
        many = [point(n, (n % 7, 1, 0, 0), f"word{n}", page=n) for n in range(2500)]
        await store.upsert(INDEX, T, many)
        assert await all_ids(store, T) == sorted(item.id for item in many)
        assert await store.count(INDEX, T, Range("page", gte=2000)) == 500

    @on_store
    async def test_tenants_never_see_each_other(self, store: VectorStore) -> None:
        await store.upsert(INDEX, "a", [point(1, text="tree", topic="x"), point(2, text="tree")])
        await store.upsert(INDEX, "b", [point(1, (0, 1, 0, 0), "graph", topic="y")])
        assert await all_ids(store, "a") == [id_of(1), id_of(2)]
        assert await all_ids(store, "b") == [id_of(1)]
        assert ids_of(await store.search(INDEX, "b", vector(1, 0, 0, 0), 9)) == [id_of(1)]
        assert await store.count(INDEX, "b", Not(Eq("topic", "y"))) == 0
        assert await store.count(INDEX, "c") == 0
        await store.delete(INDEX, "b", [id_of(1), id_of(2)])
        assert await store.count(INDEX, "a") == 2
        assert await store.count(INDEX, "a", Eq("topic", "x")) == 1

    @on_store
    async def test_payload_cannot_forge_a_tenant(self, store: VectorStore) -> None:
        forged: dict[str, Json] = dict.fromkeys(("tenant", "_tenant", "%tenant", "tenant_id"), "b")
        await store.upsert(INDEX, "a", [Point(id_of(1), vector(1, 0, 0, 0), "", forged)])
        assert await store.count(INDEX, "b") == 0
        assert await store.count(INDEX, "a", Eq("%tenant", "b")) == 1
