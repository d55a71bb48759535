"""The contract of vector stores, written once. A backend binds it by saying how it is opened:

```python
class TestMine(VectorStoreContract):
    async def open_store(self, folder: Path) -> VectorStore:
        return MyVectors(folder)
```

`DurableVectorStoreContract` adds what a store that outlives its process must keep. The memory store is the oracle.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kedge.core.errors import DimensionMismatchError, NotFoundError, QueryError, UsageError
from kedge.core.values import DEFAULT_TENANT, Json, Narrowed, Scored
from kedge.core.values.filters import And, Eq, Filter, In, Not, Or, Range, evaluate
from kedge.stores.narrowing import condition, with_readers
from kedge.stores.past import SINCE, UNTIL, past_index, was_live, was_there
from kedge.stores.ports import (
    CanKeywordSearch,
    CanReadPoints,
    CanWeighTerms,
    CanWeighWithin,
    IndexSpec,
    Point,
    Vector,
    VectorStore,
)
from kedge.stores.vectors.memory import MemoryVectors
from kedge.testing.vectors import strategies as made
from kedge.text.analyze import SparseTerms, term_id

TOLERANCE = 1e-4
INDEX = "knowledge_chunks"
T = DEFAULT_TENANT


def on_store(test: Callable[[Any, Any], Awaitable[None]]) -> Callable[[Any, Path], None]:
    """Turn `async def test_x(self, store)` into a plain test on a store of its own with one empty index."""

    def run(self: VectorStoreContract, folder: Path) -> None:
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


class VectorStoreContract(ABC):
    """What every vector store does."""

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

    # ------------------------------------------------------------ indexes

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

    # ------------------------------------------------------------ writing

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

    # ------------------------------------------------------------ tenants

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

    # ------------------------------------------------------------ search

    @pytest.mark.req("Q-03", "Q-04", "D-04")
    @on_store
    async def test_search_is_ordered_limited_and_scaled(self, store: VectorStore) -> None:
        await store.upsert(
            INDEX, T, [point(1, (3, 0, 0, 0)), point(2, (1, 1, 0, 0)), point(3, (0, 2, 0, 0)), point(4, (-1, 0, 0, 0))]
        )
        hits = await store.search(INDEX, T, vector(2, 0, 0, 0), 10)
        assert ids_of(hits) == [id_of(1), id_of(2), id_of(3), id_of(4)]
        assert [hit.score for hit in hits] == pytest.approx([1, 0.70710678, 0, -1], abs=TOLERANCE)
        assert all(-1 <= hit.score <= 1 for hit in hits)
        assert await store.search(INDEX, T, vector(2, 0, 0, 0), 2) == hits[:2]

    @pytest.mark.req("Q-03")
    @on_store
    async def test_limit_must_be_positive(self, store: VectorStore) -> None:
        for limit in (0, -1):
            with pytest.raises(QueryError):
                await store.search(INDEX, T, vector(1, 0, 0, 0), limit)

    @on_store
    async def test_limit_may_be_huge(self, store: VectorStore) -> None:
        await store.upsert(INDEX, T, [point(1), point(2)])
        assert len(await store.search(INDEX, T, vector(1, 0, 0, 0), 10**9)) == 2

    @on_store
    async def test_ties_are_broken_by_id_across_the_limit(self, store: VectorStore) -> None:
        order = np.random.default_rng(3).permutation(200).tolist()
        await store.upsert(INDEX, T, [point(n, (n % 2, 1, 0, 0)) for n in order])
        even = [id_of(n) for n in range(0, 200, 2)]
        odd = [id_of(n) for n in range(1, 200, 2)]
        for limit in (1, 3, 99, 100, 101, 150, 200):
            assert ids_of(await store.search(INDEX, T, vector(0, 1, 0, 0), limit)) == (even + odd)[:limit]

    @on_store
    async def test_parallel_vectors_tie(self, store: VectorStore) -> None:
        await store.upsert(INDEX, T, [point(3, (1, 2, 3, 1)), point(2, (2, 4, 6, 2)), point(1, (0.1, 0.2, 0.3, 0.1))])
        assert ids_of(await store.search(INDEX, T, vector(3, 1, 1, 0), 3)) == [id_of(1), id_of(2), id_of(3)]

    @on_store
    async def test_zero_vectors_score_zero(self, store: VectorStore) -> None:
        await store.upsert(INDEX, T, [point(1, (0, 0, 0, 0)), point(2)])
        assert ids_of(await store.search(INDEX, T, vector(1, 0, 0, 0), 2)) == [id_of(2), id_of(1)]
        assert [hit.score for hit in await store.search(INDEX, T, vector(0, 0, 0, 0), 2)] == [0.0, 0.0]

    @pytest.mark.req("D-04", "C-07")
    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (Eq("topic", "graphs"), [1]),
            (Not(Eq("topic", "graphs")), [2, 3, 4]),
            (In("topic", ("graphs", "trees")), [1, 2]),
            (Range("page", gte=2, lt=10), [2, 3]),
            (Eq("note", None), [1, 2, 4]),
            (Eq("topic", None), [3]),
            (Eq("flag", True), [1]),
            (Eq("page", 1.0), [1]),
            (Eq("note", "b"), [3]),
        ],
    )
    def test_filters_narrow_search_and_count(self, folder: Path, where: Filter, expected: list[int]) -> None:
        @on_store
        async def body(_: object, store: VectorStore) -> None:
            await store.upsert(
                INDEX,
                T,
                [
                    point(1, topic="graphs", page=1, flag=True),
                    point(2, topic="trees", page=2, flag=False),
                    point(3, topic=None, page=[3, 30], flag=1, note=["a", "b"]),
                    point(4, topic="true", page="1"),
                ],
            )
            assert ids_of(await store.search(INDEX, T, vector(1, 0, 0, 0), 9, where)) == [id_of(n) for n in expected]
            assert await store.count(INDEX, T, where) == len(expected)

        body(self, folder)

    @on_store
    async def test_reads_and_writes_at_once(self, store: VectorStore) -> None:
        await store.upsert(INDEX, T, [point(0)])
        writes = [store.upsert(INDEX, T, [point(n * 10 + k) for k in range(10)]) for n in range(20)]
        reads = [store.search(INDEX, T, vector(1, 0, 0, 0), 3) for _ in range(40)]
        answers = await asyncio.gather(*writes, *reads)
        assert all(id_of(0) == hits[0].id for hits in answers if hits)
        assert await store.count(INDEX, T) == 200

    @on_store
    async def test_close_twice(self, store: VectorStore) -> None:
        await store.close()
        await store.close()

    # ------------------------------------------------------------ keyword search

    @on_store
    async def test_keywords_rank_by_rarity_and_share_a_term(self, store: VectorStore) -> None:
        words = _keywords(store)
        texts = ["suffix tree", "binary tree", "tree of life tree", "graph", ""]
        await store.upsert(INDEX, T, [point(n, text=text, page=n) for n, text in enumerate(texts)])
        hits = await words.keyword_search(INDEX, T, "suffix trees", 10)
        assert hits[0].id == id_of(0)
        assert sorted(ids_of(hits)) == [id_of(0), id_of(1), id_of(2)]
        assert all(hit.score > 0 for hit in hits)
        assert await words.keyword_search(INDEX, T, "suffix trees", 1) == hits[:1]
        assert ids_of(await words.keyword_search(INDEX, T, "tree", 9, Eq("page", 1))) == [id_of(1)]

    @on_store
    async def test_keyword_scores_are_bm25(self, store: VectorStore) -> None:
        words, oracle = _keywords(store), MemoryVectors()
        if not self.keyword_scores_agree:
            pytest.skip("this backend scores by a scale of its own")
        texts = ["", "suffix", "suffix suffix tree", "the", "graph tree tree", "automaton " * 40]
        held = [point(n, text=text) for n, text in enumerate(texts)]
        await oracle.create(spec())
        for each in (store, oracle):
            await each.upsert(INDEX, T, held)
            await each.delete(INDEX, T, [id_of(4)])
        for query in ("suffix", "suffix tree tree", "automaton graph"):
            whole = await oracle.keyword_search(INDEX, T, query, 99)
            assert_agrees(await words.keyword_search(INDEX, T, query, 99), whole, 99)

    @on_store
    async def test_keywords_know_other_scripts(self, store: VectorStore) -> None:
        words = _keywords(store)
        texts = ["東京大学の研究", "Die Straße nach Köln", "деревья отрезков", "C++ runs in O(n)"]
        await store.upsert(INDEX, T, [point(n, text=text) for n, text in enumerate(texts)])
        for query, n in (("東京", 0), ("strasse koln", 1), ("деревья", 2), ("c++", 3), ("o(n)", 3)):
            assert ids_of(await words.keyword_search(INDEX, T, query, 5)) == [id_of(n)], query

    @on_store
    async def test_keywords_without_terms_find_nothing(self, store: VectorStore) -> None:
        words = _keywords(store)
        await store.upsert(INDEX, T, [point(1, text="tree")])
        for query in ("", "  ", "the of", "?!", "unheard"):
            assert await words.keyword_search(INDEX, T, query, 5) == []
        with pytest.raises(QueryError):
            await words.keyword_search(INDEX, T, "tree", 0)

    @on_store
    async def test_keywords_keep_tenants_apart(self, store: VectorStore) -> None:
        words = _keywords(store)
        await store.upsert(INDEX, "a", [point(1, text="tree"), point(2, text="graph")])
        before = await words.keyword_search(INDEX, "a", "tree", 5)
        await store.upsert(INDEX, "b", [point(n, text="tree") for n in range(20)])
        after = await words.keyword_search(INDEX, "a", "tree", 5)
        assert ids_of(after) == [id_of(1)]
        if self.keyword_scores_agree:
            assert after == before  # not even the statistics of another tenant show

    @on_store
    async def test_keyword_ties_are_broken_by_id(self, store: VectorStore) -> None:
        words = _keywords(store)
        order = np.random.default_rng(5).permutation(100).tolist()
        await store.upsert(INDEX, T, [point(n, text="suffix tree") for n in order])
        assert ids_of(await words.keyword_search(INDEX, T, "tree", 7)) == [id_of(n) for n in range(7)]

    # ------------------------------------------------------------ reading points and statistics back

    @on_store
    async def test_read_gives_back_unit_vectors_and_terms(self, store: VectorStore) -> None:
        if not isinstance(store, CanReadPoints):
            pytest.skip("this backend does not give points back")
        await store.upsert(INDEX, T, [point(1, (3, 4, 0, 0), "suffix tree tree"), point(2)])
        await store.upsert(INDEX, "other", [point(3, text="tree")])
        found = await store.read(INDEX, T, [id_of(1), id_of(2), id_of(3), id_of(9), "no uuid"])
        assert set(found) == {id_of(1), id_of(2)}
        assert found[id_of(1)].vector.tolist() == pytest.approx([0.6, 0.8, 0, 0])
        assert found[id_of(1)].terms == pytest.approx(SparseTerms().term_weights("suffix tree tree"))
        assert found[id_of(2)].terms == {}

    @on_store
    async def test_term_idf_is_what_keyword_search_weighs_by(self, store: VectorStore) -> None:
        if not isinstance(store, CanWeighTerms):
            pytest.skip("this backend does not tell how rare a term is")
        texts = ["suffix tree", "binary tree", "tree " * 30, "graph", ""]
        await store.upsert(INDEX, T, [point(n, text=text) for n, text in enumerate(texts)])
        asked = [term_id(term) for term in ("tree", "graph", "unheard")]
        expected = [math.log(1 + (4 - 3 + 0.5) / 3.5), math.log(1 + (4 - 1 + 0.5) / 1.5), 0]
        assert await store.term_idf(INDEX, asked) == pytest.approx(expected, abs=TOLERANCE)
        assert await store.term_idf(INDEX, []) == []

    # ------------------------------------------------------------ readers

    @on_store
    async def test_the_condition_of_readers_leaves_out_what_may_not_be_read(self, store: VectorStore) -> None:
        said = [None, ("user:ann",), ("group:board", "user:bob"), (), ("public",)]
        points = [
            Point(id_of(n), vector(1, 0, 0, 0), "tree", with_readers({"document_id": f"d{n}"}, readers))
            for n, readers in enumerate(said)
        ]
        await store.upsert(INDEX, T, points)
        for principals, unsettled, expected in (
            (("public",), (), [0, 4]),
            (("public", "user:ann"), (), [0, 1, 4]),
            (("group:board", "public", "user:ann"), (), [0, 1, 2, 4]),
            (("public",), ("d3",), [0, 3, 4]),
            (("public", "user:nobody"), (), [0, 4]),
        ):
            where = condition(Narrowed(principals, unsettled))
            found = await store.search(INDEX, T, vector(1, 0, 0, 0), 9, where)
            assert ids_of(found) == [id_of(n) for n in expected]
            assert await store.count(INDEX, T, where) == len(expected)
            if isinstance(store, CanKeywordSearch):
                words = await store.keyword_search(INDEX, T, "tree", 9, where)
                assert sorted(ids_of(words)) == [id_of(n) for n in expected]

    @on_store
    async def test_words_are_weighed_within_a_part_as_if_the_rest_were_not_there(self, store: VectorStore) -> None:
        if not isinstance(store, CanWeighWithin):
            pytest.skip("this backend weighs words by all of a tenant's points")
        whole: Any = store  # which also searches by words and weighs terms
        texts = ["suffix tree", "binary tree graph", "tree " * 30, "graph suffix", "hidden tree", "hidden suffix"]
        mine = [point(n, text=text, part="mine" if n < 4 else "other") for n, text in enumerate(texts)]
        await store.upsert(INDEX, T, mine)
        await store.create(spec("alone"))
        await store.upsert("alone", T, mine[:4])
        within = Eq("part", "mine")
        for asked in ("tree", "suffix tree", "graph hidden"):
            found = await store.keyword_search_within(INDEX, T, asked, 9, None, within=within)
            alone = await whole.keyword_search("alone", T, asked, 9)
            assert ids_of(found) == ids_of(alone)
            assert [hit.score for hit in found] == pytest.approx([hit.score for hit in alone], abs=TOLERANCE)
        terms = [term_id(term) for term in ("tree", "suffix", "hidden", "unheard")]
        inside = await store.term_idf_within(INDEX, T, terms, within)
        assert inside == pytest.approx(await whole.term_idf("alone", terms), abs=TOLERANCE)

    # ------------------------------------------------------------ congruence with the oracle

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

    @on_store
    async def test_what_was_live_before_is_found_as_of_its_time_alone(self, store: VectorStore) -> None:
        """Beside an index stands that of the past: asked with an instant, and by nobody who asks about now."""
        past = past_index(INDEX)
        await store.create(IndexSpec(past, made.DIMENSION, {SINCE: "float", UNTIL: "float"}))
        await store.upsert(
            INDEX, T, [point(1, text="kedge", ingested_at=100.0), point(2, text="kedge", ingested_at=300.5)]
        )
        spans = {3: (100.25, 200.0), 4: (200.0, 300.5), 5: (100.25, 300.5)}
        gone = [
            Point(id_of(n), vector(1, 0, 0, 0), "kedge", {SINCE: since, UNTIL: until})
            for n, (since, until) in spans.items()
        ]
        await store.upsert(past, T, gone)
        assert ids_of(await store.search(INDEX, T, vector(1, 0, 0, 0), 9)) == [id_of(1), id_of(2)]
        for second, now, before in ((50, [], []), (100.25, [1], [3, 5]), (200, [1], [4, 5]), (300.5, [1, 2], [])):
            at = datetime.fromtimestamp(second, UTC)
            found = await store.search(INDEX, T, vector(1, 0, 0, 0), 9, was_there(at))
            assert ids_of(found) == [id_of(n) for n in now]
            found = await store.search(past, T, vector(1, 0, 0, 0), 9, was_live(at))
            assert ids_of(found) == [id_of(n) for n in before]
            assert await store.count(past, T, was_live(at)) == len(before)
            if isinstance(store, CanKeywordSearch):
                found = await store.keyword_search(past, T, "kedge", 9, was_live(at))
                assert ids_of(found) == [id_of(n) for n in before]


class DurableVectorStoreContract(VectorStoreContract):
    """What a store keeps that outlives its process."""

    async def reopen(self, store: VectorStore, folder: Path) -> VectorStore:
        await store.close()
        return await self.open_store(folder)

    def test_everything_is_there_after_reopening(self, folder: Path) -> None:
        async def body() -> None:
            store = await self.open_store(folder)
            await store.create(spec())
            await store.upsert(INDEX, "a", [point(n, (n, 1, 0, 0), f"word{n} tree", page=n) for n in range(50)])
            await store.delete(INDEX, "a", [id_of(7)])
            before = await store.search(INDEX, "a", vector(1, 1, 0, 0), 50)
            store = await self.reopen(store, folder)
            try:
                assert await store.search(INDEX, "a", vector(1, 1, 0, 0), 50) == before
                assert await store.count(INDEX, "a", Range("page", lt=10)) == 9
                assert ids_of(await _keywords(store).keyword_search(INDEX, "a", "word8", 5)) == [id_of(8)]
                with pytest.raises(DimensionMismatchError):
                    await store.create(spec(dimension=3))
            finally:
                await store.close()

        asyncio.run(body())


def _keywords(store: VectorStore) -> CanKeywordSearch:
    if not isinstance(store, CanKeywordSearch):
        pytest.skip("this backend has no keyword search")
    return store
