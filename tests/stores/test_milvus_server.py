"""What only Milvus has: its schema and indexes asked back, long lists of numbers, a server that is killed."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from pymilvus import DataType

from kedge.core.errors import StoreError
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Json, Query, Scope
from kedge.core.values.filters import And, Eq, Filter, Not, Or, Range, evaluate
from kedge.engine.engine import Engine
from kedge.stores.graph.nodes import Node
from kedge.stores.ports import IndexSpec, Point
from kedge.stores.vectors.milvus import MilvusVectors
from kedge.stores.vectors.milvus.address import read_address
from kedge.stores.vectors.milvus.collections import MilvusCollections
from kedge.stores.vectors.milvus.questions import MilvusSearches
from kedge.testing.vectors.opened import INDEX, T, all_ids, id_of, ids_of, point, spec, vector
from tests.services import milvus, need
from tests.services.milvus import client_of

ONE = vector(1, 0, 0, 0)


@pytest.fixture
def server() -> Iterator[str]:
    with milvus.own_database(need("milvus"), "kedge_stores") as url:
        yield url


def fields_of(described: dict[str, Any]) -> dict[str, DataType]:
    return {field["name"]: field["type"] for field in described["fields"]}


def on(url: str, test: Callable[[MilvusVectors], Awaitable[None]]) -> None:
    async def body() -> None:
        store = MilvusVectors(read_address(url))
        try:
            await test(store)
        finally:
            await store.close()

    asyncio.run(body())


@pytest.mark.req("G-03", "D-04")
@pytest.mark.store("vectors", "milvus")
def test_ivf_flat_finds_what_the_filter_passes(server: str) -> None:
    """A cell of the index that is searched alone (nprobe=1) holds few of the points, and none that a filter passes."""
    rng = np.random.default_rng(1)
    held = rng.normal(size=(3000, 16)).astype(np.float32)
    units = held / np.linalg.norm(held, axis=1, keepdims=True)
    options = "?index=IVF_FLAT&nlist=256&nprobe=1&text=text_content"

    async def body(store: MilvusVectors) -> None:
        keywords = {"node_id": "keyword", "node_type": "keyword"}
        await store.create(IndexSpec("graph_nodes", 16, keywords))
        payloads = [{"node_id": f"n{n}", "node_type": "Person", "page": n} for n in range(3000)]
        points = [Point(id_of(n), held[n], f"node {n}", payload) for n, payload in enumerate(payloads)]
        await store.upsert("graph_nodes", T, points)
        assert await store.optimize("graph_nodes")
        assert not await store.optimize("graph_nodes")  # nothing was written since
        admin = client_of(server)
        fields = fields_of(admin.describe_collection("graph_nodes"))
        index = admin.describe_index("graph_nodes", "vector")
        [row] = admin.query("graph_nodes", filter='node_id == "n7"', output_fields=["*"])
        admin.release_collection("graph_nodes")  # as after a restart; the store loads it again
        admin.close()
        assert {"id", "vector", "node_id", "node_type", "text_content", "metadata"} <= fields.keys()
        assert (fields["vector"], fields["metadata"]) == (DataType.FLOAT_VECTOR, DataType.JSON)
        assert (index["index_type"], index["metric_type"], index["nlist"]) == ("IVF_FLAT", "COSINE", "256")
        assert (index["indexed_rows"], index["pending_index_rows"]) == (3000, 0)
        assert (row["id"], row["text_content"], row["metadata"]) == (id_of(7), "node 7", payloads[7])
        for least, limit in ((2999, 5), (2990, 50), (0, 2500)):
            expected = least + np.argsort(-(units[least:] @ units[3]), kind="stable")[:limit]
            hits = await store.search("graph_nodes", T, held[3], limit, Range("page", gte=least))
            assert len(hits) == min(limit, 3000 - least)
            if limit > 3000 - least:  # then all are there, and in order; else the index may have left some out
                assert ids_of(hits) == [id_of(n) for n in expected]

    on(f"{server}{options}", body)


@pytest.mark.req("D-04", "D-18", "Q-04")
@pytest.mark.store("vectors", "milvus")
def test_an_engine_on_milvus(server: str, tmp_path: Path) -> None:
    scope = Scope(DEFAULT_TENANT, "default")
    source = tmp_path / "anchors.md"
    source.write_text("# Anchors\n\nA kedge is a light anchor. It pulls a ship off a sandbank.\n", encoding="utf-8")
    settings = load_settings(environ={}, home=tmp_path / "home", embedder="hash", vector_url=server)

    async def body() -> None:
        async with Engine.open(settings) as engine:
            await engine.ingest(IngestRequest(scope, (str(source),), topic="sea"))
            [hit] = (await engine.search(Query("What is a kedge?", scope, where=Eq("topic_tag", "sea")))).hits
            assert (hit.vector_rank, hit.keyword_rank) == (1, 1)
            assert (await engine.check()).problems == ()
            name = (await engine.collection(scope)).index_name
            source.write_text("# Anchors\n\nA grapnel has four flukes.\n", encoding="utf-8")
            await engine.ingest(IngestRequest(scope, (str(source),), topic="sea"))
            await engine.settle()
            [hit] = (await engine.search(Query("Which anchor has flukes?", scope))).hits
            assert "grapnel" in hit.passage.text
            assert (await engine.check()).problems == ()
            look_at(name, hit.passage.id)
            [document] = await engine.documents(scope)
            await engine.delete_document(DEFAULT_TENANT, document.id)
            await engine.settle()
            assert (await engine.search(Query("grapnel", scope))).hits == ()
            assert (await engine.check()).problems == ()

    def look_at(name: str, id: str) -> None:
        admin = client_of(server)
        fields = fields_of(admin.describe_collection(name))
        index = admin.describe_index(name, "vector")
        row = admin.get(name, id)[0]
        admin.close()
        assert name.startswith("knowledge_chunks")
        assert {"id", "vector", "content_text", "metadata", "topic_tag"} <= fields.keys()
        assert (index["index_type"], index["metric_type"]) == ("HNSW", "COSINE")
        assert (index["M"], index["efConstruction"]) == ("16", "200")
        assert (row["topic_tag"], row["metadata"]["topic_tag"]) == ("sea", "sea")
        assert "grapnel" in row["content_text"]

    asyncio.run(body())


@pytest.mark.req("C-07")
@pytest.mark.store("vectors", "milvus")
def test_numbers_in_long_lists(server: str) -> None:
    """The server knows the least and the greatest; what lies between is asked of `evaluate`."""
    lists: list[list[Json]] = [
        [1, 50, 100],
        [1, 100],
        [1, 2, 3, 100],
        [1, "50", 100, None],
        [49.5],
        list(range(0, 99, 9)),
    ]
    wheres: list[Filter] = [Range("page", gte=40, lte=60), Range("page", gt=45, lt=50), Range("page", gte=2, lt=3)]
    wheres += [Not(where) for where in wheres] + [Or((wheres[0], Eq("page", None))), And((Not(wheres[0]), wheres[2]))]

    async def body(store: MilvusVectors) -> None:
        await store.create(spec())
        await store.upsert(INDEX, "acme", [point(n, page=page) for n, page in enumerate(lists)])
        for where in wheres:
            expected = [id_of(n) for n, page in enumerate(lists) if evaluate(where, {"page": page})]
            assert ids_of(await store.search(INDEX, "acme", vector(1, 0, 0, 0), 9, where)) == expected, where
            assert await store.count(INDEX, "acme", where) == len(expected), where
            assert await store.count(INDEX, T, where) == 0

    on(f"{server}?consistency=Session", body)


@pytest.mark.req("D-18")
@pytest.mark.store("vectors", "milvus")
def test_what_was_written_survives_a_kill(tmp_path: Path) -> None:
    """A server of its own is killed: calls fail with what to do, and after a restart all is there."""
    need("milvus")
    milvus.install()

    async def write(store: MilvusVectors) -> None:
        await store.create(spec())
        await store.upsert(INDEX, T, [point(n, (n, 1, 0, 0), f"word{n} tree", page=n) for n in range(50)])
        await store.delete(INDEX, T, [id_of(7)])
        milvus.kill(tmp_path)
        for call in (store.count(INDEX, T), store.upsert(INDEX, T, [point(1)]), store.search(INDEX, T, ONE, 1)):
            with pytest.raises(StoreError) as caught:
                await call
            assert "vector_url" in caught.value.hint

    async def look(store: MilvusVectors) -> None:
        assert await all_ids(store, T) == [id_of(n) for n in range(50) if n != 7]
        assert len(await store.search(INDEX, T, ONE, 50)) == 49
        assert ids_of(await store.keyword_search(INDEX, T, "word8", 5)) == [id_of(8)]

    try:
        on(f"{milvus.start(tmp_path)}?timeout=2", write)
        on(f"{milvus.start(tmp_path)}?timeout=60", look)
    finally:
        milvus.stop(tmp_path)


def many(place: str, store: MilvusVectors) -> Any:
    """9,000 points whose keys come in no order, each with a list of numbers that the server cannot tell."""
    rng = np.random.default_rng(7)
    ids = [str(UUID(int=int.from_bytes(rng.bytes(16)))) for _ in range(9000)]
    points = [
        Point(id, vector(1, n % 7, n % 5, 1), "", {"marks": [n, float(n) + 0.5], "place": place})
        for n, id in enumerate(ids)
    ]

    async def fill() -> list[str]:
        await store.create(spec())
        for start in range(0, len(points), 3000):
            await store.upsert(INDEX, DEFAULT_TENANT, points[start : start + 3000])
        return ids

    return fill()


async def is_listed_whole(store: MilvusVectors, place: str) -> None:
    ids = await many(place, store)
    listed = [id async for page in store.ids(INDEX, DEFAULT_TENANT) for id in page]
    assert (len(listed), set(listed)) == (9000, set(ids))
    assert await store.count(INDEX, DEFAULT_TENANT) == 9000
    assert await store.count(INDEX, DEFAULT_TENANT, Range("marks", gte=100)) == 8900
    assert await store.count(INDEX, DEFAULT_TENANT, And((Range("marks", lt=200.1), Range("marks", gt=100)))) == 101
    assert len(await store.read(INDEX, DEFAULT_TENANT, ids[:1500])) == 1500


@pytest.mark.req("D-37")
@pytest.mark.store("vectors", "milvus")
def test_listings_are_complete(server: str) -> None:
    on(server, lambda store: is_listed_whole(store, "server"))


@pytest.mark.req("D-37")
@pytest.mark.store("vectors", "milvus-lite")
def test_listings_are_complete_in_a_file(tmp_path: Path) -> None:
    pytest.importorskip("milvus_lite")
    on(f"milvus+lite://{tmp_path}/held.db", lambda store: is_listed_whole(store, "lite"))


@pytest.mark.req("D-37")
def test_listings_are_complete_whatever_order_rows_come_in() -> None:
    """A server that gives each page in an order of its own, as milvus-lite was seen to."""
    keys = [str(UUID(int=n)) for n in range(9000)]

    class Unordered:
        async def ask(self, _index: str, _method: Any, *, filter: str, limit: int, **_: Any) -> list[dict[str, str]]:
            bounds = dict(re.findall(r'id (>=|<) "([^"]*)"', filter))
            found = [key for key in keys if bounds[">="] <= key and (not bounds.get("<") or key < bounds["<"])]
            return [{"id": key} for key in random.Random(filter).sample(found, min(limit, len(found)))]

    async def body() -> list[str]:
        searches = MilvusSearches(Unordered(), read_address("milvus://host"))  # type: ignore[arg-type]
        return [row["id"] async for page in searches.rows("x", "true", ["id"]) for row in page]

    assert sorted(asyncio.run(body())) == keys


@pytest.mark.req("D-38")
@pytest.mark.parametrize(
    ("sealing", "standing", "words"), [(0.0, 60.0, "takes too long"), (60.0, 0.0, "makes no progress")]
)
def test_waiting_for_an_index_ends(sealing: float, standing: float, words: str) -> None:
    class Stuck:
        async def ask(self, method: Any, *_: Any, **__: Any) -> dict[str, int]:
            return {"pending_index_rows": 12} if method.__name__ == "describe_index" else {}

    collections = MilvusCollections(Stuck(), read_address("milvus://host"))  # type: ignore[arg-type]
    collections.sealing, collections.standing, collections.pause = sealing, standing, 0.0
    with pytest.raises(StoreError, match=f"{words}: 12 rows are not indexed") as caught:
        asyncio.run(collections.seal("x"))
    assert caught.value.hint


@pytest.mark.req("G-21", "G-03", "D-04", "D-36")
@pytest.mark.store("vectors", "milvus")
def test_one_server_holds_documents_and_nodes_as_the_design_says(server: str, tmp_path: Path) -> None:
    page = tmp_path / "anchors.md"
    page.write_text("# Anchors\n\nA kedge is a light anchor that pulls a ship off a sandbank.\n")
    settings = load_settings(environ={}, home=tmp_path / "home", embedder="hash", vector_url=server)
    place = Scope(DEFAULT_TENANT, "default")

    async def body() -> None:
        async with Engine.open(settings) as engine:
            await engine.ingest(IngestRequest(place, (str(page),), topic="gear"))
            graphs: Any = engine.kinds.named("graph")
            people = Scope(DEFAULT_TENANT, "people")
            await graphs.nodes.create(people, Node("ada", "Person", "Ada", "She wrote the first program."))
            admin = client_of(server)
            [chunk] = admin.query("knowledge_chunks", filter='topic_tag == "gear"', output_fields=["*"])
            [node] = admin.query("graph_nodes", filter='node_id == "ada"', output_fields=["*"])
            assert "sandbank" in chunk["content_text"]
            assert "first program" in node["text_content"]
            assert node["metadata"]["created_at"] > 0
            chunks, nodes = (admin.describe_index(name, "vector") for name in ("knowledge_chunks", "graph_nodes"))
            assert (chunks["index_type"], chunks["metric_type"]) == ("HNSW", "COSINE")
            assert (chunks["M"], chunks["efConstruction"]) == ("16", "200")
            assert (nodes["index_type"], nodes["metric_type"]) == ("IVF_FLAT", "COSINE")
            before = (await engine.collection(place)).index_name
            await engine.reindex(place, "hash:32")
            now = (await engine.collection(place)).index_name
            assert now != before
            assert admin.describe_collection("knowledge_chunks")["collection_name"] == now
            assert (await engine.search(Query("anchor", place, topic_filter="gear"))).hits
            await engine.delete_collection(place)
            assert not admin.has_collection("knowledge_chunks")
            admin.close()

    asyncio.run(body())
