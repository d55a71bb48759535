"""The vector stores' contract: on random data and operations a store answers as the memory store does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kedge.core.values import Json
from kedge.core.values.filters import Filter, evaluate
from kedge.stores.ports import CanKeywordSearch, Point, VectorStore
from kedge.stores.vectors.memory import MemoryVectors
from kedge.testing.vectors import strategies as made
from kedge.testing.vectors.opened import (
    INDEX,
    OpensVectors,
    T,
    all_ids,
    assert_agrees,
    assert_every_value,
    id_of,
    ids_of,
    on_store,
    spec,
    vector,
    write_every_value,
)


class VectorCongruence(OpensVectors):
    """The memory store is the oracle."""

    @pytest.mark.req("C-07")
    @on_store
    async def test_every_value_is_told_from_every_other(self, store: VectorStore) -> None:
        await write_every_value(store)
        await assert_every_value(store)

    def test_random_filters_mean_what_evaluate_says(self, folder: Path) -> None:
        stored = st.lists(made.payloads, min_size=1, max_size=12)

        @settings(max_examples=self.examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(stored, st.lists(made.filters, min_size=1, max_size=12))
        def check(held: list[dict[str, Json]], wheres: list[Filter]) -> None:
            asyncio.run(self._filters(folder, held, wheres))

        check()

    async def _filters(self, folder: Path, held: list[dict[str, Json]], wheres: list[Filter]) -> None:
        store = await self.open_store(folder)
        try:
            await store.drop(INDEX)
            await store.create(spec())
            same = vector(1, 0, 0, 0)
            await store.upsert(INDEX, T, [Point(id_of(n), same, "", payload) for n, payload in enumerate(held)])
            for where in wheres:
                expected = [id_of(n) for n, payload in enumerate(held) if evaluate(where, payload)]
                assert ids_of(await store.search(INDEX, T, same, 99, where)) == expected, where
                assert await store.count(INDEX, T, where) == len(expected), where
        finally:
            await store.close()

    def test_random_operations_agree_with_the_oracle(self, folder: Path) -> None:
        @settings(max_examples=self.examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(made.operations)
        def check(operations: list[made.Operation]) -> None:
            asyncio.run(self._replay(folder, operations))

        check()

    async def _replay(self, folder: Path, operations: list[made.Operation]) -> None:
        oracle, store = MemoryVectors(), await self.open_store(folder)
        try:
            await store.drop(INDEX)
            await asyncio.gather(oracle.create(spec()), store.create(spec()))
            for operation in operations:
                store = await self._step(folder, oracle, store, operation)
            for tenant in made.TENANTS:
                assert await all_ids(store, tenant) == await all_ids(oracle, tenant)
        finally:
            await store.close()

    async def _step(
        self, folder: Path, oracle: MemoryVectors, store: VectorStore, operation: made.Operation
    ) -> VectorStore:
        match operation:
            case made.Upsert(tenant, points):
                await asyncio.gather(*(each.upsert(INDEX, tenant, points) for each in (oracle, store)))
            case made.Delete(tenant, ids):
                await asyncio.gather(*(each.delete(INDEX, tenant, ids) for each in (oracle, store)))
            case made.Look():
                await self._compare(oracle, store, operation)
            case made.Reopen():
                return await self.reopen(store, folder)
        return store

    async def reopen(self, store: VectorStore, folder: Path) -> VectorStore:  # noqa: ARG002 (durable stores use it)
        """Close and open again, where data outlives that."""
        return store

    async def _compare(self, oracle: MemoryVectors, store: VectorStore, look: made.Look) -> None:
        tenant, limit, where = look.tenant, look.limit, look.where
        assert await store.count(INDEX, tenant, where) == await oracle.count(INDEX, tenant, where)
        whole = await oracle.search(INDEX, tenant, look.vector, 999, where)
        assert_agrees(await store.search(INDEX, tenant, look.vector, limit, where), whole, limit)
        if isinstance(store, CanKeywordSearch):
            ranking = await oracle.keyword_search(INDEX, tenant, look.words, 999, where)
            if self.keyword_scores_agree:
                assert_agrees(await store.keyword_search(INDEX, tenant, look.words, limit, where), ranking, limit)
            else:
                found = await store.keyword_search(INDEX, tenant, look.words, 999, where)
                assert sorted(ids_of(found)) == sorted(ids_of(ranking))
