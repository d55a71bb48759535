"""Milvus without a server: its URL, names on the server, filters as expressions, which terms are fetched."""

from __future__ import annotations

import asyncio
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.errors import ConfigError, StoreError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import DEFAULT_TENANT, Json
from kedge.core.values.filters import And, Eq, In, Not, Or, Range
from kedge.stores.ports import IndexSpec, Point
from kedge.stores.registry import open_vectors
from kedge.stores.vectors.milvus import MilvusVectors, words
from kedge.stores.vectors.milvus.address import read_address
from kedge.stores.vectors.milvus.names import clipped, collection_name, inner_id, outer_id
from kedge.stores.vectors.milvus.schema import MilvusShape, has_sparse_vectors, row_of, unpacked
from kedge.stores.vectors.milvus.where import compiled, facets_of
from kedge.testing.vectors.opened import id_of
from kedge.text.analyze import SparseTerms

SHAPE = MilvusShape(dimension=2, text="content_text", columns=("topic_tag",), sparse=False)


@pytest.mark.req("D-04", "G-03")
def test_a_url_says_where_and_how() -> None:
    plain = read_address("milvus://example.org")
    assert (plain.uri, plain.consistency, plain.usual.index.kind) == ("http://example.org:19530", "Strong", "HNSW")
    assert plain.usual.index.build() == {"M": 16, "efConstruction": 200}
    assert (plain.usual.index.search(10), plain.usual.index.search(600)) == ({"ef": 512}, {"ef": 600})
    full = read_address("milvus://me:p%40ss@[::1]:1234/books?index=IVF_FLAT&nlist=64&nprobe=8&timeout=2.5&secure=true")
    assert (full.uri, full.user, full.password, full.database) == ("https://[::1]:1234", "me", "p@ss", "books")
    assert (full.usual.index.build(), full.usual.index.search(99), full.timeout) == ({"nlist": 64}, {"nprobe": 8}, 2.5)
    assert read_address("milvus+lite:///a/b.db").uri == "/a/b.db"


@pytest.mark.req("G-21", "G-03")
def test_a_url_says_how_each_kind_is_laid_out() -> None:
    plain = read_address("milvus://example.org")
    chunks, nodes = plain.layout("knowledge_chunks_ab_v1"), plain.layout("graph_nodes_ab_v1")
    assert (chunks.index.kind, chunks.text) == ("HNSW", "content_text")
    assert (nodes.index.kind, nodes.text, nodes.index.build()) == ("IVF_FLAT", "text_content", {"nlist": 128})
    own = read_address("milvus://example.org?M=8&graph_nodes.index=HNSW&graph_nodes.M=32&graph_nodes.text=words")
    assert own.layout("knowledge_chunks_ab_v1").index.build() == {"M": 8, "efConstruction": 200}
    assert own.layout("graph_nodes_ab_v1").index.build() == {"M": 32, "efConstruction": 200}
    assert own.layout("graph_nodes_ab_v1").text == "words"
    every = read_address("milvus://example.org?index=FLAT")
    assert {every.layout(name).index.kind for name in ("knowledge_chunks", "graph_nodes")} == {"FLAT"}


@pytest.mark.parametrize(
    "rest",
    [
        "milvus://",
        "milvus://host:99999",
        "milvus://host?index=ANNOY",
        "milvus://host?nlist=3",
        "milvus://host?index=IVF_FLAT&nlist=0",
        "milvus://host?M=many",
        "milvus://host?timeout=inf",
        "milvus://host?consistency=Perhaps",
        "milvus://host?secure=maybe",
        "milvus://host?text=a%20b",
        "milvus+lite:///folder",
    ],
)
def test_a_url_that_cannot_be(rest: str) -> None:
    with pytest.raises(ConfigError):
        read_address(rest)


def test_the_registry_opens_it_and_a_server_that_is_not_there_is_a_store_error() -> None:
    async def body() -> None:
        store = open_vectors(Settings(vector_url="milvus://127.0.0.1:1?timeout=0.3"))
        assert isinstance(store, MilvusVectors)
        with pytest.raises(StoreError) as caught:
            await store.create(IndexSpec("x", 2))
        assert "vector_url" in caught.value.hint
        await store.close()
        with pytest.raises(StoreError):
            await store.count("x", DEFAULT_TENANT)

    asyncio.run(body())


def test_names_on_the_server() -> None:
    assert collection_name("knowledge_chunks_0f3a_v1") == "knowledge_chunks_0f3a_v1"
    assert collection_name("a/b") == "a__2fb"
    strange = ["", "_", "__", "a_", "a__b", "_é", "é_", "1a", "__31a", "a/b", "a__2fb", "x" * 300, "x" * 301, "ü" * 99]
    names = [collection_name(name) for name in strange]
    assert len(set(names)) == len(strange)
    assert all(name.isascii() and name.isidentifier() and len(name) <= 255 for name in names)


@given(st.text(max_size=6), st.text(max_size=6))
def test_two_indexes_never_share_a_name(one: str, other: str) -> None:
    assert (collection_name(one) == collection_name(other)) == (one == other)


def test_ids_of_tenants_differ_and_lead_back() -> None:
    assert inner_id(id_of(1), DEFAULT_TENANT) == id_of(1)
    keys = [inner_id(id_of(1), tenant) for tenant in (DEFAULT_TENANT, "a", 'a" or id != "')]
    assert len(set(keys)) == 3
    assert {outer_id(key) for key in keys} == {id_of(1)}
    assert not any('"' in key for key in keys)


def test_nothing_that_a_user_writes_stands_in_an_expression() -> None:
    evil = '") or (id != "'
    where = And((Eq(evil, evil), Or((In(evil, (evil, 1, True)), Not(Range(evil, gte=1, lt=2)))), Eq(evil, None)))
    condition = compiled(where)
    for expression in (condition.sure, condition.maybe):
        assert 'id != "' not in expression
        assert expression.count("(") == expression.count(")")


def test_facets_tell_types_apart() -> None:
    values: list[Json] = ["1", 1, True, "True", "", None, 1.5, "null"]
    facets = [frozenset(facets_of({"f": value})) for value in values]
    assert all(one != other for one, other in itertools.combinations(facets, 2))
    assert facets_of({"f": 1}) == facets_of({"f": 1.0})
    assert facets_of({}) == facets_of({"f": None}) == facets_of({"f": []}) == []


@pytest.mark.parametrize("payload", [{"f": list(range(5000))}, {"f": "x" * 70_000}])
def test_a_payload_that_milvus_cannot_hold_is_refused(payload: dict[str, Json]) -> None:
    with pytest.raises(UsageError):
        row_of(DEFAULT_TENANT, Point(id_of(1), np.ones(2, dtype=np.float32), "", payload), SHAPE, SparseTerms())


def test_a_row_holds_the_point() -> None:
    text = "suffix tree tree " + "é" * 70_000
    point = Point(id_of(1), np.array([3, 4], dtype=np.float32), text, {"topic_tag": ["a", "b"]})
    row = row_of("acme", point, SHAPE, SparseTerms())
    assert row["vector"].tolist() == pytest.approx([0.6, 0.8])
    assert len(row["content_text"].encode()) <= 65_535
    assert (row["topic_tag"], row["tenant"]) == ("", "acme")
    assert unpacked(row["term_weights"]) == pytest.approx(SparseTerms().term_weights(text))
    assert clipped("aé", 2) == "a"


def test_common_terms_come_last_and_only_if_they_matter() -> None:
    assert list(words.groups({1: 9000, 2: 3, 3: 400, 4: 800})) == [([2, 3], [4, 1]), ([4], [1]), ([1], [])]
    assert words.settled({"a": 5.0, "b": 4.0}, 2, could_add=3.9)
    assert not words.settled({"a": 5.0, "b": 4.0}, 2, could_add=4.0)
    assert not words.settled({"a": 5.0}, 2, could_add=0.1)


def test_versions() -> None:
    assert [has_sparse_vectors(name) for name in ("v2.3.5-lite", "v2.4.0", "2.6.1", "milvus_lite-3.2.2", "dev")] == [
        False,
        True,
        True,
        True,
        False,
    ]
