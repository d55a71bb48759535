"""The vector stores' contract: search by meaning, narrowed by filters, readers and time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kedge.core.errors import QueryError
from kedge.core.values import Narrowed
from kedge.core.values.filters import Eq, Filter, In, Not, Range
from kedge.stores.narrowing import condition, with_readers
from kedge.stores.past import SINCE, UNTIL, past_index, was_live, was_there
from kedge.stores.ports import (
    CanKeywordSearch,
    CanWeighWithin,
    IndexSpec,
    Point,
    VectorStore,
)
from kedge.testing.vectors import strategies as made
from kedge.testing.vectors.opened import (
    INDEX,
    TOLERANCE,
    OpensVectors,
    T,
    id_of,
    ids_of,
    on_store,
    point,
    spec,
    vector,
)
from kedge.text.analyze import term_id


class VectorSearchContract(OpensVectors):
    """What every search relies on."""

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
