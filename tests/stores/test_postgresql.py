"""What is special about the stores on PostgreSQL: a server that goes away, HNSW, schemas, several writers at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import make_url

from kedge.core.errors import ConfigError, ConflictError, StoreError, UsageError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.core.values.filters import Eq, Filter, Range
from kedge.engine.engine import Engine
from kedge.stores.catalog.sql.catalog import SqlCatalog, open_catalog
from kedge.stores.catalog.sql.database import Database
from kedge.stores.catalog.sql.schema import metadata
from kedge.stores.graph.sql import open_graph
from kedge.stores.ports import IndexSpec, Point
from kedge.stores.vectors.memory import MemoryVectors
from kedge.stores.vectors.pgvector import PgVectors, open_vectors
from kedge.testing.catalog.sample import HERE, THEN, collection, document, publish
from kedge.testing.graph.sample import library
from kedge.testing.vectors.opened import INDEX, T, assert_agrees, id_of, point, spec, vector
from kedge.text.analyze import SparseTerms
from tests.contract.postgresql import url_of
from tests.services import ROOT, Unavailable, need, postgresql

pytestmark = pytest.mark.store("all", "postgresql")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return url_of(tmp_path)


# ---------------------------------------------------------------- the whole engine


@pytest.mark.req("Q-01", "D-18")
def test_an_engine_with_everything_on_the_server(tmp_path: Path, url: str) -> None:
    folder, scope = tmp_path / "docs", Scope(DEFAULT_TENANT, "default")
    folder.mkdir()
    (folder / "anchors.md").write_text("# Anchors\n\nA kedge is a light anchor. It pulls a ship off a sandbank.\n")
    (folder / "tides.md").write_text("# Tides\n\nSpring tides come at new and full moon. See [Anchors](anchors.md).\n")
    settings = load_settings(
        environ={}, home=tmp_path / "home", embedder="hash", catalog_url=url, vector_url=url, graph_url=url
    )

    async def titles(engine: Engine, words: str) -> list[str]:
        return [hit.passage.title for hit in (await engine.search(Query(words, scope))).hits]

    async def body() -> None:
        async with Engine.open(settings) as engine:
            job = await engine.ingest(IngestRequest(scope, (str(folder),)))
            assert (job.files_processed, job.errors) == (2, ())
            assert (await titles(engine, "light anchor"))[0] == "Anchors"
            assert (await engine.check()).problems == ()
            (folder / "anchors.md").write_text("# Anchors\n\nA drogue slows a ship in a storm.\n")
            job = await engine.ingest(IngestRequest(scope, (str(folder),)))
            assert (job.files_processed, job.files_skipped) == (1, 1)
        async with Engine.open(settings) as engine:
            assert (await titles(engine, "drogue storm"))[0] == "Anchors"
            tides = next(held for held in await engine.documents(scope) if held.title == "Tides")
            await engine.delete_document(DEFAULT_TENANT, tides.id)
            assert "Tides" not in await titles(engine, "spring tides new moon")
            await engine.sweep()
            assert (await engine.check()).problems == ()
            (found,) = await engine.collections(DEFAULT_TENANT)
            assert (found.documents, found.passages) == (1, 1)

    asyncio.run(body())


# ---------------------------------------------------------------- a server that goes away


@pytest.fixture
def own_server() -> Iterator[tuple[Path, str]]:
    """A server that a test may crash."""
    need("postgresql")
    folder = ROOT / "postgresql-away"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        postgresql.install()
        yield folder, f"{postgresql.start(folder)}?schema=t{os.urandom(6).hex()}"
    except Unavailable as error:
        pytest.skip(f"postgresql: {error}")
    finally:
        postgresql.stop(folder)


def test_a_server_that_crashes_and_comes_back(own_server: tuple[Path, str]) -> None:
    folder, url = own_server

    async def body() -> None:
        catalog, graph, vectors = (opened(url, Settings()) for opened in (open_catalog, open_graph, open_vectors))
        await catalog.collections.put(collection())
        await publish(catalog, document("one"), "1", ["a"])
        await graph.write(HERE, library())
        await vectors.create(spec())
        await vectors.upsert(INDEX, T, [point(1)])
        postgresql.crash(folder)
        for call in (
            catalog.collections.get(HERE),
            catalog.collections.put(collection()),
            graph.concepts_by_key(HERE, ["trie"]),
            vectors.count(INDEX, T),
            vectors.upsert(INDEX, T, [point(2)]),
        ):
            with pytest.raises(StoreError) as caught:
                await call
            assert "server" in caught.value.hint
        for opened in (open_catalog, open_graph, open_vectors):
            with pytest.raises(StoreError, match="cannot be reached"):
                opened(url, Settings())
        postgresql.start(folder)
        assert await catalog.collections.get(HERE) == collection(documents=1, passages=1)
        assert len(await graph.concepts_by_key(HERE, ["trie"])) == 1
        await vectors.upsert(INDEX, T, [point(2)])
        assert await vectors.count(INDEX, T) == 2
        for store in (catalog, graph, vectors):
            await store.close()

    asyncio.run(body())


def test_a_server_that_is_not_there_is_a_store_error_without_the_password() -> None:
    for opened in (open_catalog, open_graph, open_vectors):
        with pytest.raises(StoreError, match=r"127\.0\.0\.1:1/none cannot be reached") as caught:
            opened("postgresql://me:secret@127.0.0.1:1/none", Settings())
        assert "host, port" in caught.value.hint
        assert "secret" not in str(caught.value)


# ---------------------------------------------------------------- schema, times, writers


@pytest.mark.req("D-09")
def test_migrations_build_the_declared_schema(url: str) -> None:
    database = Database(url)
    server = make_url(url)
    schema = server.query["schema"]
    engine = create_engine(server.difference_update_query(["schema"]).set(drivername="postgresql+psycopg"))
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT set_config('search_path', :path, false)"), {"path": schema})
            opts = {"include_name": lambda name, kind, _: kind != "table" or "_fts" not in str(name)}
            assert compare_metadata(MigrationContext.configure(connection, opts=opts), metadata) == []
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
            connection.commit()
    finally:
        engine.dispose()
        asyncio.run(database.close())
    with pytest.raises(StoreError, match=r"newer Kedge \(schema 9999"):
        open_graph(url, Settings())


def test_opened_by_many_at_once_and_written_by_two(url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        first, second, *_ = opened = list(pool.map(lambda _: open_catalog(url, Settings()), range(3)))
        vectors = list(pool.map(lambda _: open_vectors(url, Settings()), range(3)))

    async def take_in(catalog: SqlCatalog, name: str) -> None:
        for content in "123":
            await publish(catalog, document(name), content, [content] * 5)

    async def body() -> None:
        await first.collections.put(collection())
        await asyncio.gather(take_in(first, "one"), take_in(second, "two"), take_in(first, "six"))
        assert await second.collections.get(HERE) == collection(documents=3, passages=15)
        assert await first.integrity() == []
        await asyncio.gather(*(store.create(spec()) for store in vectors))
        same = [point(n, text="tree") for n in range(50)]
        await asyncio.gather(*(store.upsert(INDEX, T, some) for store in vectors for some in (same, same[::-1])))
        assert await vectors[0].count(INDEX, T) == 50
        assert len(await vectors[1].keyword_search(INDEX, T, "tree", 99)) == 50
        for store in (*opened, *vectors):
            await store.close()

    asyncio.run(body())


def test_times_do_not_depend_on_the_zone_of_the_session(url: str) -> None:
    async def body() -> None:
        catalog = open_catalog(f"{url}&options=-ctimezone%3DAmerica/New_York", Settings())
        await catalog.collections.put(collection())
        found = await catalog.collections.get(HERE)
        assert found is not None
        assert str(found.created_at) == str(THEN)
        await catalog.close()

    asyncio.run(body())


def test_what_the_server_refuses_is_told_apart(url: str) -> None:
    async def body() -> None:
        catalog = open_catalog(url, Settings())
        await catalog.collections.put(collection())
        await publish(catalog, document("one"), "1", ["a"])
        with pytest.raises(UsageError, match="cannot be stored"):
            await catalog.documents.begin([(document("two", title="half \0 a"), "v")])
        with pytest.raises(ConflictError):
            await catalog.documents.begin([(document("two", url=document("one").url), "v")])
        await catalog.close()
        with pytest.raises(StoreError, match="closed"):
            await catalog.documents.page(HERE)

    asyncio.run(body())


# ---------------------------------------------------------------- vectors


def many(count: int, dimension: int) -> list[Point]:
    found = np.random.default_rng(7).standard_normal((count, dimension)).astype(np.float32)
    return [Point(id_of(n), found[n], "", {"page": n, "even": n % 2 == 0}) for n in range(count)]


@pytest.mark.req("D-04")
@pytest.mark.parametrize(("dimension", "kind"), [(16, "vector"), (2001, "halfvec"), (4001, None)])
def test_hnsw_is_built_in_the_background_and_filters_stay_exact(url: str, dimension: int, kind: str | None) -> None:
    held = many(300 if dimension < 2000 else 60, dimension)
    wheres: list[Filter | None] = [None, Eq("even", True), Range("page", gte=7, lt=9), Eq("page", 11)]

    async def answers(store: PgVectors) -> list[object]:
        found = [await store.search(INDEX, T, one.vector, 5, where) for one in held[:4] for where in wheres]
        return [[hit.id for hit in hits] for hits in found]

    async def body() -> None:
        store = PgVectors(f"{url}&ef_search=300", optimize_after=50, exact_below=10)
        await store.create(IndexSpec(INDEX, dimension, {"page": "integer"}))
        await store.upsert(INDEX, T, held)
        exact = await answers(store)
        assert await store.optimize(INDEX)
        assert not await store.optimize(INDEX), "nothing was added since"
        assert await answers(store) == exact
        await store.delete(INDEX, T, [held[0].id])
        assert (await store.search(INDEX, T, held[0].vector, 1))[0].id != held[0].id
        built = await store._database.read(_hnsw)
        await store.close()
        if kind is None:
            assert built == []
        else:
            assert len(built) == 1
            assert f"{kind}_ip_ops" in built[0]
            assert "m='16', ef_construction='200'" in built[0]

    asyncio.run(body())


def _hnsw(connection: Connection) -> list[str]:
    where = "schemaname = current_schema() AND indexdef LIKE '%USING hnsw%'"
    return list(connection.execute(text(f"SELECT indexdef FROM pg_indexes WHERE {where}")).scalars())


def test_hnsw_is_what_answers(url: str) -> None:
    """With all other ways made dear, the plan of a search goes by the index, so the expressions match."""

    async def body() -> None:
        store = PgVectors(url, optimize_after=10, exact_below=0)
        await store.create(IndexSpec(INDEX, 16, {"page": "integer"}))
        await store.upsert(INDEX, T, many(400, 16))
        assert await store.optimize(INDEX)
        await store.search(INDEX, T, many(1, 16)[0].vector, 5)
        await store.close()

    server = make_url(url)
    schema = str(server.query["schema"])
    asyncio.run(body())
    with psycopg.connect(server.difference_update_query(["schema"]).render_as_string(False), autocommit=True) as driver:
        driver.execute("SELECT pg_stat_force_next_flush()")
        driver.execute(
            "SELECT set_config('search_path', %s, false), set_config('enable_seqscan', 'off', false)",
            [f"{schema}, public"],
        )
        (table,) = driver.execute(
            "SELECT tablename FROM pg_tables WHERE tablename LIKE 'kedge_points%%' AND schemaname = %s", [schema]
        ).fetchone() or ("",)
        for condition, expected in (
            ("ORDER BY vector <#> (SELECT vector FROM near) LIMIT 3", "kedge_hnsw"),
            ("WHERE payload @> '{\"even\": true}' OR payload @> '{\"even\": [true]}'", "kedge_payload"),
            ("WHERE jsonb_typeof(payload -> 'page') = 'number' AND payload -> 'page' <= '3'", "kedge_n"),
        ):
            query = f'EXPLAIN WITH near AS (SELECT vector FROM "{table}" LIMIT 1) SELECT id FROM "{table}" {condition}'
            plan = "\n".join(row[0] for row in driver.execute(query.encode()).fetchall())
            assert expected in plan, plan


@pytest.mark.parametrize(
    "option", ["m=1", "m=x", "ef_construction=5", "ef_search=0", "ef_search=1001", "schema=a&schema=b"]
)
def test_options_out_of_range_are_refused(option: str) -> None:
    with pytest.raises(ConfigError):
        open_vectors(f"postgresql://127.0.0.1:1/none?{option}", Settings())


def test_terms_stay_right_while_points_come_and_go(url: str) -> None:
    texts = ["suffix tree", "tree of life", "graph", "suffix automaton graph", ""]

    async def body() -> None:
        store, oracle = open_vectors(url, Settings()), MemoryVectors()
        held = [point(n, text=texts[n % 5], page=n) for n in range(1500)]
        for each in (store, oracle):
            await each.create(spec())
            await each.upsert(INDEX, T, held)
            await each.delete(INDEX, T, [id_of(n) for n in range(0, 1500, 3)])
            await each.upsert(INDEX, T, [point(n, text=texts[n % 4], page=n) for n in range(900, 1600)])
            await each.upsert(INDEX, "other", held[:7])
        for words in ("suffix tree", "graph life", "automaton"):
            for where in (None, Range("page", gte=800, lt=1000)):
                expected = await oracle.keyword_search(INDEX, T, words, 40, where)
                assert_agrees(await store.keyword_search(INDEX, T, words, 40, where), expected, 40)
        terms = list(SparseTerms().query_weights("suffix tree graph life unheard"))
        assert await store.term_idf(INDEX, terms) == pytest.approx(await oracle.term_idf(INDEX, terms))
        await store.delete(INDEX, T, [id_of(n) for n in range(1600)])
        assert await store.keyword_search(INDEX, T, "suffix tree", 9) == []
        assert len(await store.keyword_search(INDEX, "other", "suffix tree", 9)) == 5
        await store.close()

    asyncio.run(body())


def test_a_payload_may_hold_anything(url: str) -> None:
    async def body() -> None:
        store = open_vectors(url, Settings())
        await store.create(spec())
        odd = {
            "topic": "x" * 100_000,
            "page": 10**5000,
            "rating": float("inf"),
            "note": {"a": [1]},
            "flag": float("nan"),
        }
        await store.upsert(INDEX, "t\0", [Point(id_of(1), vector(1, 0, 0, 0), "a \0 b", {**odd, "\0%s": "\0"})])
        for where in (
            Eq("topic", "x" * 100_000),
            Range("page", gt=1e308),
            Eq("rating", float("inf")),
            Eq("\0%s", "\0"),
        ):
            assert await store.count(INDEX, "t\0", where) == 1, where
        for where in (Eq("note", None), Eq("flag", float("nan")), Range("rating", gt=float("inf"))):
            assert await store.count(INDEX, "t\0", where) == 0, where
        await store.close()

    asyncio.run(body())
