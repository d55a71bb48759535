"""What is special about IRIS: the exact SQL, bound parameters, the driver's interface, tables and faults.

No IRIS server took part: statements are read by the documented grammar and run on SQLite (`iris_grammar.py`,
`iris_sqlite.py`); connections and errors are the real driver's.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
import socket
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iris import dbapi
from pydantic import SecretStr

from kedge.core.errors import ConfigError, DimensionMismatchError, NotFoundError, StoreError
from kedge.core.settings import Settings
from kedge.core.values.filters import And, Eq, Filter, In, Not, Or, Range
from kedge.stores import registry
from kedge.stores.ports import CanKeywordSearch, CanReadPoints, CanWeighTerms, IndexSpec, Point, VectorStore
from kedge.stores.vectors.iris import IrisVectors, open_vectors
from kedge.stores.vectors.iris.address import IrisAddress
from kedge.stores.vectors.iris.encode import digest, field_digest, tenant_fact, value_digest, vector_of, vector_text
from kedge.stores.vectors.iris.faults import translated
from kedge.testing.vectors.opened import INDEX, id_of, ids_of, point, spec, vector
from tests.stores import iris_sqlite
from tests.stores.iris_grammar import refusal

URL = "iris://kedge:s3cret@host:1972/USER"
Log = list[tuple[str, list[Any]]]
Body = Callable[[IrisVectors], Awaitable[None]]
OWN = "id IN (SELECT doc_id FROM RAG.SourceDocumentsFacts WHERE fact_field = ? AND fact_value = ?)"


def run(folder: Path, body: Body, log: Log | None = None, url: str = URL) -> None:
    async def whole() -> None:
        store = IrisVectors(IrisAddress.of(url), lambda: iris_sqlite.Connection(folder, log))
        try:
            await body(store)
        finally:
            await store.close()

    asyncio.run(whole())


# ---------------------------------------------------------------- the exact SQL


@pytest.mark.req("Q-01", "Q-02")
def test_the_table_is_the_one_of_the_requirement(tmp_path: Path) -> None:
    log: Log = []

    async def body(store: IrisVectors) -> None:
        await store.create(IndexSpec(INDEX, 384))
        made = [statement for statement, _ in log if statement.startswith("CREATE TABLE RAG.SourceDocuments (")]
        assert made == [
            "CREATE TABLE RAG.SourceDocuments (id VARCHAR(255) PRIMARY KEY, text_content LONGVARCHAR, "
            "embedding VECTOR(DOUBLE, 384), metadata LONGVARCHAR, "
            "created_timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP)"
        ]

    run(tmp_path, body, log)


@pytest.mark.req("Q-01", "Q-06")
def test_search_is_the_query_of_the_requirement(tmp_path: Path) -> None:
    log: Log = []

    async def body(store: IrisVectors) -> None:
        await store.create(spec())
        await store.upsert(INDEX, "t", [point(1, (3, 4, 0, 0), "Suffix tree", topic="Trees")])
        insert = next(entry for entry in log if entry[0].startswith("INSERT INTO RAG.SourceDocuments "))
        assert insert == (
            "INSERT INTO RAG.SourceDocuments (id, text_content, embedding, metadata) "
            "VALUES (?, ?, TO_VECTOR(?, DOUBLE), ?)",
            [insert[1][0], "Suffix tree", "[0.600000000,0.800000000,0.000000000,0.000000000]", '{"topic": "Trees"}'],
        )
        log.clear()
        await store.search(INDEX, "t", vector(2, 0, 0, 0), 10)
        await store.search(INDEX, "t", vector(2, 0, 0, 0), 10, Eq("topic", "Trees"))
        head = (
            "SELECT TOP ? id, VECTOR_DOT_PRODUCT(embedding, TO_VECTOR(?, DOUBLE)) AS score "
            "FROM RAG.SourceDocuments WHERE embedding IS NOT NULL AND "
        )
        asked = "[1.000000000,0.000000000,0.000000000,0.000000000]"
        filtered = OWN.replace("fact_value = ?", "fact_value IN (?)")
        topic = [field_digest("topic"), value_digest("Trees")]
        searches = [entry for entry in log if "VECTOR_DOT_PRODUCT" in entry[0]]
        assert searches == [
            (f"{head}({OWN}) ORDER BY score DESC", [26, asked, *tenant_fact("t")]),
            (f"{head}(({OWN}) AND ({filtered})) ORDER BY score DESC", [26, asked, *tenant_fact("t"), *topic]),
        ]

    run(tmp_path, body, log)


@pytest.mark.req("Q-06")
def test_the_type_of_vectors_can_be_named(tmp_path: Path) -> None:
    log: Log = []

    async def body(store: IrisVectors) -> None:
        await store.create(spec())
        await store.search(INDEX, "t", vector(1, 0, 0, 0), 1)
        assert "TO_VECTOR(?, FLOAT)" in log[-1][0]
        await store.upsert(INDEX, "t", [point(1)])
        assert any("embedding VECTOR(FLOAT, 4)" in statement for statement, _ in log)

    run(tmp_path, body, log, url=f"{URL}?vector_type=float")


@pytest.mark.req("Q-06", "Q-01")
def test_a_column_of_another_type_is_said_to_be_so(tmp_path: Path) -> None:
    async def made(store: IrisVectors) -> None:
        await store.create(spec())

    async def body(store: IrisVectors) -> None:
        for call in (store.upsert(INDEX, "t", [point(1)]), store.search(INDEX, "t", vector(1, 0, 0, 0), 1)):
            with pytest.raises(StoreError, match="another type") as caught:
                await call
            assert "vector_type" in caught.value.hint

    run(tmp_path, made)
    run(tmp_path, body, url=f"{URL}?vector_type=decimal")


@pytest.mark.req("Q-06", "Q-01")
@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("SELECT TOP ? id FROM RAG.SourceDocuments", None),
        ("SELECT id FROM RAG.SourceDocuments TOP ?", -1),
        ("SELECT id FROM RAG.SourceDocuments LIMIT ?", -1),
        ("SELECT VECTOR_DOT_PRODUCT(embedding, TO_VECTOR(?, DOUBLE)) FROM RAG.SourceDocuments", None),
        ("SELECT VECTOR_DOT_PRODUCT(embedding, TO_VECTOR(?, 'DOUBLE')) FROM RAG.SourceDocuments", -1),
        ("SELECT VECTOR_DOT_PRODUCT(embedding, TO_VECTOR(?, DECIMAL)) FROM RAG.SourceDocuments", -259),
        ("INSERT INTO RAG.SourceDocuments (id, embedding) VALUES (?, TO_VECTOR(?, FLOAT))", -259),
        ("CREATE TABLE RAG.X (v VECTOR('DOUBLE', 3))", -1),
        ("UPDATE RAG.SourceDocuments SET id = ?", -1),
        ("CREATE INDEX i ON RAG.X (v) AS HNSW(Distance='DotProduct')", -1),
        ("CREATE INDEX i ON TABLE RAG.X (v) AS HNSW(Distance='DotProduct')", None),
    ],
)
def test_the_stand_in_refuses_what_the_server_refuses(statement: str, code: int | None) -> None:
    found = refusal(statement, {"embedding": "DOUBLE"}, (2025, 1))
    assert (None if found is None else found[0]) == code
    assert refusal("CREATE INDEX i ON TABLE RAG.X (v) AS HNSW(Distance='Cosine')", {}, (2024, 3)) is not None


@pytest.mark.req("Q-07")
def test_a_large_batch_never_locks_a_whole_table(tmp_path: Path) -> None:
    """256 points are thousands of rows; the stand-in refuses a transaction of 1,000 rows of one table."""

    async def body(store: IrisVectors) -> None:
        await store.create(spec())
        words = [" ".join(f"w{n}x{m}" for m in range(40)) for n in range(256)]
        points = [point(n, text=text, tags=[f"t{m}" for m in range(10)]) for n, text in enumerate(words)]
        for _ in range(2):
            await store.upsert(INDEX, "t", points)
            assert await store.count(INDEX, "t") == 256
        assert ids_of(await store.keyword_search(INDEX, "t", "w7x3", 3)) == [id_of(7)]
        await store.delete(INDEX, "t", [one.id for one in points])
        assert await store.count(INDEX, "t") == 0

    run(tmp_path, body)


@pytest.mark.req("Q-08")
def test_the_vectors_get_the_index_of_the_design_where_the_server_has_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log: Log = []
    wanted = (
        "CREATE INDEX idx_sourcedocs_embedding ON TABLE RAG.SourceDocuments (embedding) AS HNSW(Distance='DotProduct')"
    )

    async def body(store: IrisVectors) -> None:
        await store.create(spec())
        assert [one for one, _ in log if one.startswith("CREATE INDEX idx_")] == [wanted]
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
        await store.create(spec())
        assert len([one for one, _ in log if one.startswith("CREATE INDEX idx_")]) == 1

    run(tmp_path, body, log)

    async def older() -> None:
        folder = tmp_path / "older"
        folder.mkdir()
        store = IrisVectors(IrisAddress.of(URL), lambda: iris_sqlite.Connection(folder, version=(2024, 3)))
        await store.create(spec())
        assert "no index on the vectors of RAG.SourceDocuments" in caplog.text
        await store.upsert(INDEX, "t", [point(1)])
        assert len(await store.search(INDEX, "t", vector(1, 0, 0, 0), 3)) == 1
        await store.close()

    asyncio.run(older())


WORDS = set(
    """SELECT TOP id AS score FROM WHERE IS NOT NULL AND OR IN ORDER BY DESC GROUP COUNT SUM CASE WHEN THEN END CAST
    DOUBLE DECIMAL INSERT INTO VALUES DELETE CREATE TABLE INDEX ON DROP PRIMARY KEY UNIQUE DEFAULT CURRENT_TIMESTAMP
    TIMESTAMP VARCHAR LONGVARCHAR BIGINT INTEGER VECTOR VECTOR_DOT_PRODUCT TO_VECTOR SET TRANSACTION ISOLATION LEVEL
    READ COMMITTED INFORMATION_SCHEMA TABLES TABLE_SCHEMA TABLE_NAME RAG KedgeIndexes name_digest index_name table_name
    dimension text_content embedding HNSW Distance DotProduct metadata
    created_timestamp doc_id fact_field fact_value fact_number term_id
    weight""".split()
)
OUR_TABLE = re.compile(
    r"SourceDocuments(?:[0-9a-f]{16})?(?:Facts|Terms)?(?:By(?:Value|Document|Term))?"
    r"|idx_sourcedocs_embedding(?:_[0-9a-f]{16})?"
)

anything = st.text(max_size=12) | st.sampled_from(["x' OR '1'='1", "'; DROP TABLE RAG.SourceDocuments; --", "?", '"'])
values = anything | st.integers() | st.floats() | st.booleans()
leaves = (
    st.builds(Eq, anything, values | st.none())
    | st.builds(In, anything, st.lists(values, max_size=3).map(tuple))
    | st.builds(Range, anything, gte=st.none() | st.floats(), lt=st.none() | st.floats())
)
filters: st.SearchStrategy[Filter] = st.recursive(
    leaves,
    lambda part: (
        st.builds(And, st.lists(part, max_size=3).map(tuple))
        | st.builds(Or, st.lists(part).map(tuple))
        | st.builds(Not, part)
    ),
    max_leaves=5,
)


@pytest.mark.req("Q-01")
def test_no_text_of_a_user_is_ever_in_the_sql(tmp_path: Path) -> None:
    @settings(max_examples=40, deadline=None, database=None)
    @given(anything, anything, anything, st.dictionaries(anything, values, max_size=3), filters)
    def check(index: str, tenant: str, text: str, payload: dict[str, Any], where: Filter) -> None:
        log: Log = []

        async def body(store: IrisVectors) -> None:
            await store.create(IndexSpec(index, 4, dict.fromkeys(payload, "keyword")))
            await store.upsert(index, tenant, [Point(id_of(1), vector(1, 0, 0, 0), text, payload)])
            await store.search(index, tenant, vector(1, 0, 0, 0), 3, where)
            await store.keyword_search(index, tenant, text, 3, where)
            await store.count(index, tenant, where)
            await store.read(index, tenant, [id_of(1), text])
            await store.delete(index, tenant, [id_of(1), text])
            await store.drop(index)

        run(tmp_path, body, log)
        for statement, parameters in log:
            assert statement.count("?") == len(parameters)
            words = set(re.findall(r"[A-Za-z_]\w*", statement))
            assert all(word in WORDS or OUR_TABLE.fullmatch(word) for word in words), statement
            assert re.fullmatch(r"[\w .,()?*=<>'-]+", statement), statement
            assert set(re.findall(r"'([^']*)'", statement)) <= {"DotProduct"}
            assert set(re.findall(r"\b\d+\b", statement)) <= {"0", "1", "4", "64", "128", "255", "1000"}

    check()


def test_long_questions_ask_for_the_rarest_terms(tmp_path: Path) -> None:
    log: Log = []

    async def body(store: IrisVectors) -> None:
        await store.create(spec())
        rare = " ".join(f"rare{n}" for n in range(150))
        await store.upsert(INDEX, "t", [point(n, text=f"common {rare}" if n == 7 else "common") for n in range(9)])
        log.clear()
        hits = await store.keyword_search(INDEX, "t", f"common {rare}", 3)
        assert ids_of(hits) == [id_of(7)]
        assert max(len(parameters) for _, parameters in log) < 300

    run(tmp_path, body, log)


def test_vectors_are_written_without_exponents_and_read_in_every_form() -> None:
    assert vector_text(vector(1e-12, 1, 0, -1e-5)) == "[0.000000000,1.000000000,0.000000000,-0.000010000]"
    for held in ("0.5,.25,-1", "[0.5,0.25,-1]", [0.5, 0.25, -1]):
        assert vector_of(held).tolist() == [0.5, 0.25, -1]


# ---------------------------------------------------------------- the driver


def test_the_driver_is_as_the_store_takes_it_to_be() -> None:
    assert (dbapi.apilevel, dbapi.paramstyle, dbapi.threadsafety) == ("2.0", "qmark", 1)
    for kind in (dbapi.OperationalError, dbapi.ProgrammingError, dbapi.IntegrityError, dbapi.DataError):
        assert issubclass(kind, dbapi.DatabaseError)
    assert issubclass(dbapi.DatabaseError, dbapi.Error)
    assert issubclass(dbapi.InterfaceError, dbapi.Error)
    accepted = dbapi.connect.__doc__ or ""
    assert all(name in accepted for name in IrisAddress.of(f"{URL}?sslconfig=x").options)


@pytest.mark.parametrize(
    ("own", "drivers"),
    [(iris_sqlite.Connection, dbapi.IRISConnection), (iris_sqlite.Cursor, dbapi.Cursor)],
)
def test_the_stand_in_has_the_drivers_interface(own: type, drivers: type) -> None:
    for name, method in inspect.getmembers(own, inspect.isfunction):
        if not name.startswith("_"):
            wanted = inspect.signature(getattr(drivers, name))
            assert list(inspect.signature(method).parameters) == list(wanted.parameters), name
    assert hasattr(dbapi.Cursor, "__enter__")
    assert hasattr(dbapi.DataRow, "__iter__")


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    async def body() -> None:
        store = open_vectors(f"iris://kedge:s3cret@127.0.0.1:{port}/USER?timeout=2", Settings())
        with pytest.raises(StoreError, match="cannot be reached") as caught:
            await store.create(spec())
        assert "s3cret" not in str(caught.value)
        await store.close()
        with pytest.raises(StoreError, match="closed"):
            await store.count(INDEX, "t")

    asyncio.run(body())


@pytest.mark.parametrize(
    ("raised", "expected", "words"),
    [
        (dbapi.OperationalError("<COMMUNICATION LINK ERROR> Failed to connect"), StoreError, "cannot be reached"),
        (dbapi.OperationalError("Access Denied"), StoreError, "refused the user"),
        (dbapi.ProgrammingError("[SQLCODE: <-30>:<Table or view not found>]"), NotFoundError, "gone"),
        (dbapi.DataError("[SQLCODE: <-259>:<vectors of different types>]"), StoreError, "another type"),
        (dbapi.DataError("[SQLCODE: <-104>:<Field validation failed>]"), StoreError, "-104"),
        (dbapi.InternalError(""), StoreError, "InternalError"),
        (ValueError("a bug"), ValueError, "a bug"),
    ],
)
def test_errors_are_translated_once(raised: Exception, expected: type[Exception], words: str) -> None:
    with pytest.raises(expected, match=words) as caught, translated("host:1972/USER"):
        raise raised
    assert type(caught.value) is expected


def test_a_broken_connection_is_replaced(tmp_path: Path) -> None:
    class Breaking(iris_sqlite.Connection):
        broken = False

        def cursor(self) -> iris_sqlite.Cursor:
            if type(self).broken:
                type(self).broken = False
                raise dbapi.OperationalError("<COMMUNICATION LINK ERROR>")
            return super().cursor()

    async def body() -> None:
        store = IrisVectors(IrisAddress.of(URL), lambda: Breaking(tmp_path))
        await store.create(spec())
        Breaking.broken = True
        with pytest.raises(StoreError, match="cannot be reached"):
            await store.upsert(INDEX, "t", [point(1)])
        await store.upsert(INDEX, "t", [point(2)])
        assert await store.count(INDEX, "t") == 1
        await store.close()

    asyncio.run(body())


@pytest.mark.req("D-18")
def test_a_failed_write_leaves_the_old_point_whole(tmp_path: Path) -> None:
    class Failing(iris_sqlite.Cursor):
        on = False

        def executemany(self, operation: str, seq_of_parameters: Any) -> tuple[Any, ...]:
            if type(self).on and "Terms (" in operation:
                raise dbapi.DatabaseError("[SQLCODE: <-110>:<Locking conflict>]")
            return super().executemany(operation, seq_of_parameters)

    class Connection(iris_sqlite.Connection):
        def cursor(self) -> iris_sqlite.Cursor:
            return Failing(self._sqlite.cursor(), self.log, self)

    async def body() -> None:
        store = IrisVectors(IrisAddress.of(URL), lambda: Connection(tmp_path))
        await store.create(spec())
        await store.upsert(INDEX, "t", [point(1, text="old tree", topic="old")])
        Failing.on = True
        with pytest.raises(StoreError, match="-110"):
            await store.upsert(INDEX, "t", [point(1, text="new tree", topic="new"), point(2, text="tree")])
        Failing.on = False
        assert await store.count(INDEX, "t", Eq("topic", "old")) == 1
        assert ids_of(await store.keyword_search(INDEX, "t", "old", 5)) == [id_of(1)]
        assert await store.count(INDEX, "t") == 1
        await store.close()

    asyncio.run(body())


# ---------------------------------------------------------------- tables and addresses


def names(folder: Path) -> set[str]:
    with sqlite3.connect(folder / "iris.db") as held:
        return {row[0] for row in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_each_index_has_tables_of_its_own(tmp_path: Path) -> None:
    async def body(store: IrisVectors) -> None:
        await store.create(spec())
        await store.create(spec("other", 3))
        second = f"SourceDocuments{digest('other')[:16]}"
        own = {f"{table}{part}" for table in ("SourceDocuments", second) for part in ("", "Facts", "Terms")}
        assert names(tmp_path) == {"KedgeIndexes", *own}
        with pytest.raises(DimensionMismatchError):
            await store.create(spec("other", 4))
        await store.drop(INDEX)
        await store.create(spec("third"))
        assert {"SourceDocuments", second} <= names(tmp_path)

    run(tmp_path, body)


def test_a_table_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "iris.db") as held:
        held.execute("CREATE TABLE SourceDocuments (id, text_content)")
        held.execute("INSERT INTO SourceDocuments VALUES ('a', 'b')")

    async def body(store: IrisVectors) -> None:
        await store.create(spec())
        await store.upsert(INDEX, "t", [point(1)])
        await store.drop(INDEX)

    run(tmp_path, body)
    with sqlite3.connect(tmp_path / "iris.db") as held:
        assert held.execute("SELECT * FROM SourceDocuments").fetchall() == [("a", "b")]


def test_left_overs_of_a_kill_are_replaced(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "iris.db") as held:
        held.execute("CREATE TABLE SourceDocumentsFacts (doc_id)")
        held.execute("CREATE TABLE SourceDocuments (id)")

    async def body(store: IrisVectors) -> None:
        await store.create(spec())
        await store.upsert(INDEX, "t", [point(1)])
        assert await store.count(INDEX, "t") == 1

    run(tmp_path, body)


def test_an_index_that_another_process_dropped_is_not_found(tmp_path: Path) -> None:
    async def body(store: IrisVectors) -> None:
        await store.create(spec())
        other = IrisVectors(IrisAddress.of(URL), lambda: iris_sqlite.Connection(tmp_path))
        await other.drop(INDEX)
        with pytest.raises(NotFoundError):
            await store.count(INDEX, "t")
        with pytest.raises(NotFoundError):
            await store.count(INDEX, "t")
        await other.create(spec(dimension=3))
        with pytest.raises(DimensionMismatchError):
            await store.upsert(INDEX, "t", [point(1)])
        await other.close()

    run(tmp_path, body)


def test_it_has_the_optional_powers_and_opens_by_url() -> None:
    store = registry.open_vectors(Settings(vector_url=URL))
    assert isinstance(store, VectorStore)
    assert isinstance(store, CanKeywordSearch)
    assert isinstance(store, CanReadPoints)
    assert isinstance(store, CanWeighTerms)


def test_addresses() -> None:
    address = IrisAddress.of("iris://us%40er:p%2Fw@db/My%20Space?timeout=3&sslconfig=tls")
    assert address.options == {
        "hostname": "db",
        "port": 1972,
        "namespace": "My Space",
        "username": "us@er",
        "password": "p/w",
        "timeout": 3,
        "autoCommit": False,
        "sslconfig": "tls",
    }
    assert "p/w" not in repr(address)


def test_the_vector_key_is_the_password_and_wins_over_the_urls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: list[dict[str, Any]] = []

    def connect(**options: Any) -> iris_sqlite.Connection:
        given.append(options)
        return iris_sqlite.Connection(tmp_path)

    async def used(settings: Settings) -> str:
        store = registry.open_vectors(settings)
        await store.create(spec())
        await store.close()
        return str(given[-1]["password"])

    monkeypatch.setattr(dbapi, "connect", connect)
    key = SecretStr("k3y")
    assert asyncio.run(used(Settings(vector_url="iris://kedge@host/USER", vector_key=key))) == "k3y"
    assert asyncio.run(used(Settings(vector_url=URL, vector_key=key))) == "k3y"
    assert asyncio.run(used(Settings(vector_url=URL))) == "s3cret"
    assert "k3y" not in repr(IrisAddress.of(URL, "k3y"))


@pytest.mark.parametrize(
    "url",
    [
        "iris://",
        "iris://host/USER",
        "iris://u:s3cret@host",
        "iris://u:s3cret@host:port/USER",
        "iris://u:s3cret@host/USER?timeout=0",
        "iris://u:s3cret@host/USER?vector_type=text",
        "iris://u:s3cret@host/USER?colour=red",
    ],
)
def test_bad_addresses_say_what_to_write(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_vectors(url, Settings())
    assert caught.value.hint
    assert "s3cret" not in str(caught.value)
