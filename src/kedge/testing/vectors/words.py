"""The vector stores' contract: search by words, and what a store tells of its points and terms, where it can."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kedge.core.errors import QueryError
from kedge.core.values.filters import Eq
from kedge.stores.ports import CanReadPoints, CanWeighTerms, VectorStore
from kedge.stores.vectors.memory import MemoryVectors
from kedge.testing.vectors.opened import (
    INDEX,
    TOLERANCE,
    OpensVectors,
    T,
    assert_agrees,
    id_of,
    ids_of,
    keywords_of,
    on_store,
    point,
    spec,
)
from kedge.text.analyze import SparseTerms, term_id


class WordsContract(OpensVectors):
    """What keyword search, the walk along the graph and reranking rely on."""

    @on_store
    async def test_keywords_rank_by_rarity_and_share_a_term(self, store: VectorStore) -> None:
        words = keywords_of(store)
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
        words, oracle = keywords_of(store), MemoryVectors()
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
        words = keywords_of(store)
        texts = ["東京大学の研究", "Die Straße nach Köln", "деревья отрезков", "C++ runs in O(n)"]
        await store.upsert(INDEX, T, [point(n, text=text) for n, text in enumerate(texts)])
        for query, n in (("東京", 0), ("strasse koln", 1), ("деревья", 2), ("c++", 3), ("o(n)", 3)):
            assert ids_of(await words.keyword_search(INDEX, T, query, 5)) == [id_of(n)], query

    @on_store
    async def test_keywords_without_terms_find_nothing(self, store: VectorStore) -> None:
        words = keywords_of(store)
        await store.upsert(INDEX, T, [point(1, text="tree")])
        for query in ("", "  ", "the of", "?!", "unheard"):
            assert await words.keyword_search(INDEX, T, query, 5) == []
        with pytest.raises(QueryError):
            await words.keyword_search(INDEX, T, "tree", 0)

    @on_store
    async def test_keywords_keep_tenants_apart(self, store: VectorStore) -> None:
        words = keywords_of(store)
        await store.upsert(INDEX, "a", [point(1, text="tree"), point(2, text="graph")])
        before = await words.keyword_search(INDEX, "a", "tree", 5)
        await store.upsert(INDEX, "b", [point(n, text="tree") for n in range(20)])
        after = await words.keyword_search(INDEX, "a", "tree", 5)
        assert ids_of(after) == [id_of(1)]
        if self.keyword_scores_agree:
            assert after == before  # not even the statistics of another tenant show

    @on_store
    async def test_keyword_ties_are_broken_by_id(self, store: VectorStore) -> None:
        words = keywords_of(store)
        order = np.random.default_rng(5).permutation(100).tolist()
        await store.upsert(INDEX, T, [point(n, text="suffix tree") for n in order])
        assert ids_of(await words.keyword_search(INDEX, T, "tree", 7)) == [id_of(n) for n in range(7)]

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
