"""What is special about Qdrant: what goes over the wire, addresses and keys, and what becomes of a server's faults."""

from __future__ import annotations

import asyncio
import json
import socket
import warnings
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qdrant_client import grpc, models
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc

from kedge.core.errors import (
    ConfigError,
    DimensionMismatchError,
    DiskFullError,
    HomeBusyError,
    NotFoundError,
    StoreError,
)
from kedge.core.settings import Settings
from kedge.core.values import DEFAULT_TENANT
from kedge.core.values.filters import And, Eq, Filter, In, Range
from kedge.kinds.courses.kind import KIND as COURSES
from kedge.stores import registry
from kedge.stores.ports import CanKeywordSearch, CanReadPoints, CanWeighTerms, IndexSpec, Point, VectorStore
from kedge.stores.vectors.ids import inner_id
from kedge.stores.vectors.qdrant import QdrantVectors, open_vectors
from kedge.stores.vectors.qdrant.address import QdrantAddress
from kedge.stores.vectors.qdrant.collection import collection_name
from kedge.stores.vectors.qdrant.encode import filter_of
from kedge.testing.vectors import strategies as made
from kedge.testing.vectors.opened import INDEX, id_of, ids_of, point, spec, vector
from tests.stores.qdrant_rest import Fault, QdrantRest

COURSE = {
    "book_id": "tenant",
    "module": "keyword",
    "chapter": "integer",
    "lesson": "integer",
    "hardware_tier": "integer",
    "proficiency_level": "keyword",
    "layer": "keyword",
    "parent_doc_id": "keyword",
    "content_hash": "keyword",
    "source_file_hash": "keyword",
}
Body = Callable[[QdrantVectors], Awaitable[None]]


@pytest.fixture(scope="module")
def running() -> Iterator[QdrantRest]:
    with QdrantRest() as server:
        yield server


@pytest.fixture
def server(running: QdrantRest) -> QdrantRest:
    running.clear()
    running.version = "1.20.0"
    return running


def run(url: str, body: Body) -> None:
    async def whole() -> None:
        store = open_vectors(url, Settings())
        try:
            await body(store)
        finally:
            await store.close()

    asyncio.run(whole())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


# ---------------------------------------------------------------- the wire


@pytest.mark.req("C-06")
def test_the_wire_shows_every_course_index_and_its_tenant_key(server: QdrantRest) -> None:
    async def body(store: QdrantVectors) -> None:
        assert COURSE.items() <= COURSES.fields.items()  # what an engine makes for a course
        await store.create(IndexSpec(INDEX, 4, COURSE))
        sent = [request.body for request in server.requests if request.path.endswith("/index")]
        schemas = {body["field_name"]: body["field_schema"] for body in sent}
        assert set(schemas) == {'"%tenant"', *COURSE}
        assert {name for name, schema in schemas.items() if schema.get("is_tenant")} == {'"%tenant"', "book_id"}
        assert {name for name, schema in schemas.items() if schema["type"] == "float"} == {
            "chapter",
            "lesson",
            "hardware_tier",
        }
        server.requests.clear()
        await store.create(IndexSpec(INDEX, 4, COURSE))
        assert [request.method for request in server.requests] == ["GET"]  # nothing is built twice

    run(server.url, body)


@pytest.mark.req("C-07")
def test_course_filters_reach_the_engine(server: QdrantRest) -> None:
    async def body(store: QdrantVectors) -> None:
        await store.create(IndexSpec(INDEX, 4, COURSE))
        lessons = [
            point(n, book_id="b1", hardware_tier=n, chapter=n, proficiency_level=level, layer="L1")
            for n, level in enumerate(["A1", "A2", "B1", "C2"], start=1)
        ]
        await store.upsert(INDEX, "t", [*lessons, point(9, book_id="b2", hardware_tier=1, chapter=1)])
        where = And(
            (
                Eq("book_id", "b1"),
                Range("hardware_tier", lte=3),
                Range("chapter", gte=2, lte=4),
                In("proficiency_level", ("A2", "B1", "C2")),
                Eq("layer", "L1"),
            )
        )
        assert ids_of(await store.search(INDEX, "t", vector(1, 0, 0, 0), 9, where)) == [id_of(2), id_of(3)]

    run(server.url, body)


@pytest.mark.req("D-04")
def test_the_collection_is_laid_out_for_cosine_hnsw_and_bm25(server: QdrantRest) -> None:
    async def body(store: QdrantVectors) -> None:
        await store.create(spec())
        sent = next(request for request in server.requests if request.method == "PUT")
        assert (sent.path, sent.body) == (
            f"/collections/{INDEX}",
            {
                "vectors": {"dense": {"size": 4, "distance": "Cosine"}},
                "sparse_vectors": {"terms": {"modifier": "idf"}},
                "hnsw_config": {"m": 16, "ef_construct": 200},
            },
        )

    run(server.url, body)


def test_keywords_are_weighed_among_the_tenants_own_points(server: QdrantRest) -> None:
    async def body(store: QdrantVectors) -> None:
        await store.create(spec())
        await store.upsert(INDEX, "acme", [point(1, text="suffix tree")])
        assert ids_of(await store.keyword_search(INDEX, "acme", "trees", 3)) == [id_of(1)]
        sent = server.requests[-1].body
        own = {"must": [{"key": '"%tenant"', "match": {"value": "acme"}}]}
        assert sent["filter"] == own
        assert sent["params"] == {"idf": {"corpus": own}}
        assert len(sent["query"]["nearest"]["indices"]) == 1

    run(server.url, body)


def test_large_writes_are_cut_into_requests_the_server_takes(server: QdrantRest) -> None:
    async def body(store: QdrantVectors) -> None:
        await store.create(IndexSpec(INDEX, 4096))
        await store.upsert(INDEX, "t", [point(n, [1.0] * 4096) for n in range(130)])
        writes = [request for request in server.requests if request.path.endswith("/points")]
        assert [len(request.body["points"]) for request in writes] == [122, 8]
        assert await store.count(INDEX, "t") == 130

    run(server.url, body)


# ---------------------------------------------------------------- addresses and keys


def test_it_has_the_optional_powers() -> None:
    store = registry.open_vectors(Settings(vector_url="qdrant+memory:"))
    assert isinstance(store, VectorStore)
    assert isinstance(store, CanKeywordSearch)
    assert isinstance(store, CanReadPoints)
    assert isinstance(store, CanWeighTerms)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("qdrant://db", {"host": "db", "port": 6333, "https": False, "timeout": 30}),
        ("qdrant://db:99?https=1&timeout=5", {"port": 99, "https": True, "timeout": 5}),
        ("qdrant://:s%2Fcret@db", {"api_key": "s/cret", "https": True}),
        ("qdrant://:k@db?https=0", {"api_key": "k", "https": False}),
        ("qdrant://db/behind/proxy", {"prefix": "behind/proxy"}),
        ("qdrant://db?grpc_port=6334", {"grpc_port": 6334, "prefer_grpc": True}),
        ("qdrant+memory:", {"location": ":memory:"}),
        ("qdrant+local:///data/q", {"path": "/data/q"}),
    ],
)
def test_addresses(url: str, expected: dict[str, Any]) -> None:
    options = QdrantAddress.of(url).options
    assert {name: options[name] for name in expected} == expected


@pytest.mark.parametrize(
    "url",
    [
        "qdrant://",
        "qdrant://db:port",
        "qdrant://db?https=maybe",
        "qdrant://db?timeout=0",
        "qdrant://db?timeout=soon",
        "qdrant://db?colour=red",
        "qdrant://db?api_key=secret",
        "qdrant+local://",
        "qdrant+other://x",
    ],
)
def test_bad_addresses_say_what_to_write(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_vectors(url, Settings())
    assert caught.value.hint
    assert "secret" not in str(caught.value)


def test_the_key_is_sent_and_never_shown(server: QdrantRest) -> None:
    url = server.url.replace("//", "//:s3cret@") + "?https=0"
    assert "s3cret" not in repr(QdrantAddress.of(url))

    async def body(store: QdrantVectors) -> None:
        server.faults.append(Fault(status=403, message="Forbidden"))
        with pytest.raises(StoreError, match="refused the key") as caught:
            await store.count(INDEX, "t")
        assert server.requests[-1].headers["api-key"] == "s3cret"
        assert "s3cret" not in json.dumps(caught.value.as_json())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the client warns of a key without https, and rightly
        run(url, body)


@pytest.mark.parametrize("name", ["a/b", "..", ".", "a%2Fb", 'x"y<z>', "東京", "plain-Name_1.0"])
def test_collection_names_are_allowed_and_unique(name: str) -> None:
    made = collection_name(name)
    assert not set('<>:"/\\|?*') & set(made)
    assert made.strip(".")
    others = {collection_name(other) for other in ("a/b", "a%2Fb", "..", "%2E%2E") if other != name}
    assert made not in others


# ---------------------------------------------------------------- a server's faults


@pytest.mark.parametrize(
    ("fault", "expected", "words"),
    [
        (Fault(status=500, message="Service internal error: boom"), StoreError, "boom"),
        (Fault(status=503, message="overloaded"), StoreError, "overloaded"),
        (Fault(status=401, message="no"), StoreError, "refused the key"),
        (Fault(status=429, message="slow down", headers={"Retry-After": "3"}), StoreError, "slow down"),
        (Fault(status=500, message="IO Error: No space left on device (os error 28)"), DiskFullError, "full"),
        (Fault(status=404, body=b"<html>nginx</html>"), StoreError, "nginx"),
        (Fault(status=200, body=b"<html>hello</html>"), StoreError, "cannot be read"),
        (Fault(status=404, message="Not found: Collection `x` doesn't exist!"), NotFoundError, "no vector index"),
        (Fault(status=400, message="Vector dimension error: expected dim: 9, got 4"), DimensionMismatchError, "of 9"),
        (Fault(cut=True), StoreError, "cannot be reached"),
    ],
    ids=lambda value: value.message if isinstance(value, Fault) else None,
)
def test_faults_of_the_server_are_translated(
    server: QdrantRest, fault: Fault, expected: type[Exception], words: str
) -> None:
    async def body(store: QdrantVectors) -> None:
        await store.create(spec())
        for call in (
            lambda: store.upsert(INDEX, "t", [point(1)]),
            lambda: store.search(INDEX, "t", vector(1, 0, 0, 0), 3),
            lambda: store.count(INDEX, "t"),
        ):
            server.faults.append(fault)
            with pytest.raises(expected, match=words) as caught:
                await call()
            assert type(caught.value) is expected
            assert caught.value.hint
        assert await store.count(INDEX, "t") == 0  # the next call works, and nothing of the broken ones was written

    run(server.url, body)


def test_a_server_that_does_not_answer_in_time(server: QdrantRest) -> None:
    async def body(store: QdrantVectors) -> None:
        server.faults.append(Fault(hang=True))
        with pytest.raises(StoreError, match="in time"):
            await store.count(INDEX, "t")

    run(f"{server.url}?timeout=1", body)


@pytest.mark.parametrize("options", ["", "grpc_port={port}"])
def test_a_server_that_is_not_there(options: str) -> None:
    port = free_port()

    async def body(store: QdrantVectors) -> None:
        with pytest.raises(StoreError, match="cannot be reached"):
            await store.count(INDEX, "t")

    run(f"qdrant://127.0.0.1:{port}?{options.format(port=port)}", body)


@pytest.mark.req("C-18")
def test_an_old_server_serves_the_default_tenant_alone(server: QdrantRest, caplog: pytest.LogCaptureFixture) -> None:
    server.version = "1.18.2"

    async def body(store: QdrantVectors) -> None:
        await store.create(spec())
        assert "1.18.2" in caplog.text
        await store.upsert(INDEX, DEFAULT_TENANT, [point(1)])
        assert await store.count(INDEX, DEFAULT_TENANT) == 1
        with pytest.raises(StoreError, match="cannot keep tenants apart") as caught:
            await store.upsert(INDEX, "another", [point(2)])
        assert "1.19" in caught.value.hint
        assert await store.count(INDEX, "another") == 0
        assert "for the default tenant alone" in await store.version()

    run(server.url, body)


@pytest.mark.req("C-18")
def test_a_server_without_sparse_vectors_is_refused(server: QdrantRest) -> None:
    server.version = "1.9.7"

    async def body(store: QdrantVectors) -> None:
        with pytest.raises(StoreError, match=r"1\.9\.7"):
            await store.create(spec())

    run(server.url, body)


@pytest.mark.req("C-14")
def test_a_point_holds_its_text_where_no_filter_sees_it() -> None:
    async def body(store: QdrantVectors) -> None:
        await store.create(spec())
        await store.upsert(
            INDEX, "t", [point(1, text="Suffix tree"), Point(id_of(2), vector(0, 1, 0, 0), "Heap", {"text": "own"})]
        )
        held, _ = await store._client.scroll(INDEX, with_payload=True)
        assert sorted(one.payload["text"] for one in held if one.payload) == ["Heap", "Suffix tree"]
        assert await store.count(INDEX, "t", Eq("text", "Suffix tree")) == 0
        assert await store.count(INDEX, "t", Eq("text", "own")) == 1

    run("qdrant+memory:", body)


@pytest.mark.req("D-36")
def test_another_name_leads_to_an_index_and_moves_at_once() -> None:
    async def body(store: QdrantVectors) -> None:
        for name, number in (("one", 1), ("two", 2)):
            await store.create(spec(name))
            await store.upsert(name, "t", [point(number)])
        assert await store.aliased("knowledge_chunks") is None
        for name, number in (("one", 1), ("two", 2)):
            await store.alias("knowledge_chunks", name)
            assert await store.aliased("knowledge_chunks") == name
            held, _ = await store._client.scroll("knowledge_chunks")
            assert [one.id for one in held] == [str(inner_id(id_of(number), "t"))]
        await store.drop("two")
        assert await store.aliased("knowledge_chunks") is None

    run("qdrant+memory:", body)


def test_two_that_create_at_once_share_the_index(server: QdrantRest) -> None:
    async def body(store: QdrantVectors) -> None:
        other = open_vectors(server.url, Settings())
        await asyncio.gather(*(each.create(spec()) for each in (store, other, store, other)))
        await other.upsert(INDEX, "t", [point(1)])
        assert await store.count(INDEX, "t") == 1
        await store.drop(INDEX)
        with pytest.raises(NotFoundError):
            await other.count(INDEX, "t")
        await store.create(spec(dimension=3))
        with pytest.raises(DimensionMismatchError):
            await other.search(INDEX, "t", vector(1, 0, 0, 0), 1)
        await other.close()

    run(server.url, body)


def test_a_foreign_collection_is_left_alone(server: QdrantRest) -> None:
    async def body(store: QdrantVectors) -> None:
        foreign = {"vectors": {"other": {"size": 4, "distance": "Dot"}}, "sparse_vectors": {"s": {"modifier": "idf"}}}
        await store._client.create_collection(INDEX, **{f"{name}_config": held for name, held in foreign.items()})
        with pytest.raises(StoreError, match="not laid out by Kedge"):
            await store.create(spec())

    run(server.url, body)


def test_closed_is_closed() -> None:
    async def body() -> None:
        store = open_vectors("qdrant+memory:", Settings())
        await store.create(spec())
        await store.close()
        with pytest.raises(StoreError, match="closed"):
            await store.count(INDEX, "t")

    asyncio.run(body())


def test_a_local_folder_is_used_by_one_at_a_time(tmp_path: Path) -> None:
    async def body(store: QdrantVectors) -> None:
        with pytest.raises(HomeBusyError):
            open_vectors(f"qdrant+local://{tmp_path}", Settings())

    run(f"qdrant+local://{tmp_path}", body)


def test_a_range_without_a_number_finds_nothing() -> None:
    async def body(store: QdrantVectors) -> None:
        await store.create(spec())
        await store.upsert(INDEX, "t", [point(1, page=1)])
        for where in (Range("page", gte=float("nan")), Eq("page", float("nan")), In("page", ())):
            assert await store.count(INDEX, "t", where) == 0

    run("qdrant+memory:", body)


@settings(max_examples=60, deadline=None, database=None)
@given(made.filters, st.sampled_from(made.TENANTS))
def test_filters_survive_the_way_into_grpc_and_back(where: Filter, tenant: str) -> None:
    asked = filter_of(tenant, where)
    sent = RestToGrpc.convert_filter(asked).SerializeToString()
    assert GrpcToRest.convert_filter(grpc.Filter.FromString(sent)) == _lists(asked)


def _lists(asked: models.Filter) -> models.Filter:
    """As the way back spells it: every group is a list."""

    def group(parts: Any) -> Any:
        return [_lists(part) if isinstance(part, models.Filter) else part for part in parts or ()]

    return models.Filter(must=group(asked.must), should=group(asked.should), must_not=group(asked.must_not))
