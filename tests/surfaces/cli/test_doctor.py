"""`kedge doctor`, with every fault provoked for real."""

from __future__ import annotations

import asyncio
import importlib.abc
import os
import re
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np
import pytest
from iris import dbapi
from sqlalchemy import create_engine

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine
from kedge.engine.home import Home
from kedge.ingest.tracker import new_job
from kedge.stores.catalog.sql.schema import REVISION
from kedge.stores.catalog.sql.upgrade import migrate
from kedge.stores.ports import Point
from tests.contract.postgresql import url_of
from tests.models.model_server import serving
from tests.services import need
from tests.stores import iris_sqlite
from tests.surfaces.cli.conftest import Kedge, Ran

NOBODY = 65534


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def findings(ran: Ran, name: str) -> list[dict[str, Any]]:
    return [one for one in ran.json()["checks"] if one["name"] == name]


def only(ran: Ran, name: str) -> dict[str, Any]:
    (one,) = findings(ran, name)
    return one


def statuses(ran: Ran) -> dict[str, str]:
    return {one["name"]: one["status"] for one in ran.json()["checks"]}


@pytest.fixture
def home(kedge: Kedge, corpus: Path, tmp_path: Path) -> Path:
    """A healthy home that holds the corpus."""
    assert kedge("ingest", str(corpus)).code == 0
    return tmp_path / "home"


# ------------------------------------------------------------ all well


def test_a_healthy_home(kedge: Kedge, home: Path) -> None:
    ran = kedge("doctor", "--json")
    report = ran.json()
    assert ran.code == 0
    assert report["ok"] is True
    assert set(statuses(ran).values()) == {"ok"}
    assert {"settings", "home", "disk", "catalog", "vectors", "vectors of default", "graph", "cache"} <= statuses(
        ran
    ).keys()
    assert {"embedder hash:256", "reranker", "language model", "jobs"} <= statuses(ran).keys()
    assert f"schema {REVISION} is current" in findings(ran, "catalog")[0]["found"]
    assert "256 dimensions" in only(ran, "vectors of default")["found"]
    assert only(ran, "vectors, write")["found"] == "one point was written, found and deleted"
    assert report["packages"]["SQLAlchemy"]
    text = kedge("doctor").out
    assert "vectors of default" in text
    assert "failed" not in text


def test_a_home_that_is_not_there_yet_is_not_made(kedge: Kedge, tmp_path: Path) -> None:
    ran = kedge("doctor", "--json")
    assert (ran.code, ran.json()["ok"]) == (0, True)
    assert "the first ingest makes it" in only(ran, "home")["found"]
    assert statuses(ran)["jobs"] == statuses(ran)["graph"] == "skipped"
    assert not (tmp_path / "home").exists()


@pytest.mark.req("Q-07")
def test_a_point_is_written_found_and_deleted_in_iris(
    kedge: Kedge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By the stand-in that reads the documented grammar; nothing of the probe stays."""
    log: list[tuple[str, list[Any]]] = []
    monkeypatch.setattr(dbapi, "connect", lambda **_: iris_sqlite.Connection(tmp_path, log))
    monkeypatch.setenv("KEDGE_VECTOR_URL", "iris://kedge:s3cret@db.example:1972/USER")
    ran = kedge("doctor", "--json")
    assert only(ran, "vectors, write") == {
        "name": "vectors, write",
        "status": "ok",
        "found": "one point was written, found and deleted",
        "todo": "",
    }
    said = [statement for statement, _ in log]
    wanted = ("CREATE TABLE RAG.SourceDocuments ", "INSERT INTO RAG.SourceDocuments ", "SELECT TOP ? id, VECTOR_DOT")
    steps = [next(at for at, one in enumerate(said) if one.startswith(start)) for start in wanted]
    assert steps == sorted(steps)
    deleted = [at for at, one in enumerate(said) if one.startswith("DELETE FROM RAG.SourceDocuments ")]
    assert deleted[-1] > steps[-1]
    with sqlite3.connect(tmp_path / "iris.db") as held:
        tables = {name for (name,) in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables == {"KedgeIndexes"}
        assert held.execute("SELECT COUNT(*) FROM KedgeIndexes").fetchone() == (0,)


@pytest.mark.req("Q-07")
def test_a_user_who_may_not_write_is_told_so(kedge: Kedge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class ReadOnly(iris_sqlite.Cursor):
        def execute(self, operation: str, parameters: list[Any] | None = None) -> int:
            if operation.startswith("CREATE"):
                raise dbapi.ProgrammingError("[SQLCODE: <-99>:<Privilege violation>]")
            return super().execute(operation, parameters)

    class Reader(iris_sqlite.Connection):
        def cursor(self) -> ReadOnly:
            return ReadOnly(self._sqlite.cursor(), self.log, self)

    monkeypatch.setattr(dbapi, "connect", lambda **_: Reader(tmp_path))
    monkeypatch.setenv("KEDGE_VECTOR_URL", "iris://kedge:s3cret@db.example:1972/USER")
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    assert statuses(ran)["vectors"] == "ok"
    finding = only(ran, "vectors, write")
    assert finding["status"] == "failed"
    assert "Privilege violation" in finding["found"]


# ------------------------------------------------------------ settings


def test_every_fault_of_the_settings_is_named(kedge: Kedge, tmp_path: Path) -> None:
    config = tmp_path / "kedge.toml"
    config.write_text('threshold = 7\nport = "x"\nfly = true\n', "utf-8")
    ran = kedge("doctor", "--config", str(config), "--json")
    assert ran.code == 1
    faults = findings(ran, "settings")
    assert {one["found"].partition(":")[0] for one in faults} == {"threshold", "port", "fly"}
    assert all(one["status"] == "failed" and one["todo"] for one in faults)
    assert statuses(ran)["catalog"] == "skipped"


def test_a_misspelt_variable_is_a_fault_and_says_what_was_meant(kedge: Kedge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEDGE_THRESHHOLD", "0.5")
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    (one,) = findings(ran, "settings")
    assert "KEDGE_THRESHHOLD" in one["found"]
    assert "did you mean KEDGE_THRESHOLD?" in one["found"]


def test_other_variables_are_noticed(kedge: Kedge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEDGE_FAVOURITE_COLOUR", "blue")
    ran = kedge("doctor", "--json")
    assert ran.code == 0
    assert any(
        "KEDGE_FAVOURITE_COLOUR" in one["found"] and one["status"] == "warning" for one in findings(ran, "settings")
    )


def test_settings_without_effect_are_noticed(kedge: Kedge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEDGE_LLM_KEY", "very-secret")
    monkeypatch.setenv("KEDGE_VECTOR_KEY", "very-secret")
    monkeypatch.setenv("KEDGE_WORKERS", "0")
    ran = kedge("doctor", "--json")
    assert ran.code == 0
    warned = " ".join(one["found"] for one in findings(ran, "settings") if one["status"] == "warning")
    assert all(name in warned for name in ("llm_key", "vector_key", "workers"))
    assert "very-secret" not in ran.out


# ------------------------------------------------------------ home


def test_a_home_in_use_says_by_whom(kedge: Kedge, home: Path) -> None:
    holder = Home(home)
    holder.acquire()
    try:
        ran = kedge("doctor", "--json")
    finally:
        holder.release()
    assert ran.code == 0
    assert only(ran, "home")["status"] == "warning"
    assert f"pid {os.getpid()}" in only(ran, "home")["found"]
    assert statuses(ran)["vectors"] == "skipped"
    assert statuses(ran)["catalog"] == statuses(ran)["graph"] == "ok"


def test_a_home_that_is_a_file(kedge: Kedge, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no folder")
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    assert only(ran, "home")["status"] == "failed"
    assert "--home" in only(ran, "home")["todo"]
    assert statuses(ran)["embedder hash:256"] == "ok", "one failure does not hide the others"


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Root may write anywhere, so root is somebody else for a moment."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_home_that_is_read_only(kedge: Kedge) -> None:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / "home"
        home.mkdir()
        Path(place).chmod(0o755)
        home.chmod(0o555)
        with ordinary_user():
            ran = kedge("doctor", "--json", "--home", str(home))
        home.chmod(0o755)
    assert ran.code == 1
    assert only(ran, "home")["status"] == "failed"
    assert "Permission denied" in only(ran, "home")["found"]


@pytest.mark.parametrize(("free", "status", "code"), [(500 << 20, "warning", 0), (1 << 20, "failed", 1)])
def test_a_disk_that_is_nearly_full(
    kedge: Kedge, monkeypatch: pytest.MonkeyPatch, free: int, status: str, code: int
) -> None:
    disk = SimpleNamespace(disk_usage=lambda _: SimpleNamespace(free=free))
    monkeypatch.setattr("kedge.engine.doctor.shutil", disk)  # of this module alone: other threads look at theirs
    ran = kedge("doctor", "--json")
    assert (ran.code, only(ran, "disk")["status"]) == (code, status)


# ------------------------------------------------------------ catalog


def test_a_damaged_catalog(kedge: Kedge, home: Path) -> None:
    for path in home.glob("catalog.db*"):
        path.unlink()
    (home / "catalog.db").write_bytes(b"this is no database" * 100)
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    assert "damaged" in only(ran, "catalog")["found"]
    assert "backup" in only(ran, "catalog")["todo"]
    assert statuses(ran)["vectors"] == "ok"
    assert statuses(ran)["jobs"] == "skipped"


def test_a_pending_migration_is_told_and_not_run(kedge: Kedge, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "catalog.db"
    engine = create_engine(f"sqlite:///{path}")
    migrate(engine, "0001")
    engine.dispose()
    for _ in range(2):
        ran = kedge("doctor", "--json")
        assert ran.code == 0
        assert only(ran, "catalog")["status"] == "warning"
        assert f"schema 0001: {int(REVISION) - 1} migration(s) pending" in only(ran, "catalog")["found"]
        assert "backup" in only(ran, "catalog")["todo"]
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT version_num FROM alembic_version").fetchone() == ("0001",)


def test_a_catalog_of_a_newer_kedge(kedge: Kedge, home: Path) -> None:
    _sql(home, "UPDATE alembic_version SET version_num = '9999'")
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    assert "newer Kedge" in only(ran, "catalog")["found"]


def _sql(home: Path, statement: str) -> None:
    with sqlite3.connect(home / "catalog.db") as database:
        database.execute(statement)
    database.close()


# ------------------------------------------------------------ vectors, graph, cache


@pytest.mark.req("D-19")
def test_a_wrong_dimension(kedge: Kedge, home: Path) -> None:
    _sql(home, "UPDATE collections SET dimension = 128")
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    index, model = only(ran, "vectors of default"), only(ran, "embedder hash:256")
    assert (index["status"], model["status"]) == ("failed", "failed")
    assert "vectors of 256, the collection is of 128" in index["found"]
    assert "kedge collection reindex default" in index["todo"]
    assert "gives 256 dimensions, but is used by default (128)" in model["found"]


def test_a_missing_index_does_not_hide_what_others_lack(kedge: Kedge, home: Path, corpus: Path) -> None:
    for name in ("less", "more"):
        kedge("ingest", str(corpus), "--collection", name)
    _sql(home, "UPDATE collections SET index_name = 'gone_v1' WHERE name = 'default'")

    async def tamper() -> None:
        async with Engine.open(load_settings(environ={}, home=home)) as engine:
            vectors = engine.stores.vectors
            _, less, more = await engine.collections(DEFAULT_TENANT)
            (first, *_), *_ = [batch async for batch in vectors.ids(less.index_name, DEFAULT_TENANT)]
            await vectors.delete(less.index_name, DEFAULT_TENANT, [first])
            stray = Point(str(uuid4()), np.ones(256, dtype=np.float32), "stray", {})
            await vectors.upsert(more.index_name, DEFAULT_TENANT, [stray])

    asyncio.run(tamper())
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    found = {name: only(ran, f"vectors of {name}") for name in ("default", "less", "more")}
    assert [one["status"] for one in found.values()] == ["failed", "failed", "warning"]
    assert "gone_v1 is missing" in found["default"]["found"]
    assert all("kedge check --repair" in one["todo"] for one in found.values())
    assert kedge("check", "--repair").code == 0
    assert kedge("doctor").code == 0


def test_another_embedder_than_the_collection_was_built_with(
    kedge: Kedge, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEDGE_EMBEDDER", "hash:64")
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    assert "was built with 'hash:256', not 'hash:64'" in only(ran, "embedder of default")["found"]
    assert statuses(ran)["embedder hash:64"] == statuses(ran)["embedder hash:256"] == "ok"


SERVERS = [
    ("catalog_url", "catalog", "postgresql://kedge:s3cret@127.0.0.1:{port}/kedge"),
    ("vector_url", "vectors", "postgresql://kedge:s3cret@127.0.0.1:{port}/kedge"),
    ("vector_url", "vectors", "qdrant://:s3cret@127.0.0.1:{port}?https=0"),
    ("vector_url", "vectors", "milvus://kedge:s3cret@127.0.0.1:{port}?timeout=1"),
    ("vector_url", "vectors", "iris://kedge:s3cret@127.0.0.1:{port}/USER?timeout=1"),
    ("graph_url", "graph", "neo4j://neo4j:s3cret@127.0.0.1:{port}/kedge?timeout=1"),
    ("cache_url", "cache", "redis://kedge:s3cret@127.0.0.1:{port}/0"),
]


@pytest.mark.parametrize(
    ("setting", "part", "url"), SERVERS, ids=[url.partition(":")[0] + s[0] for s, _, url in SERVERS]
)
def test_a_server_that_does_not_answer_and_no_password_anywhere(
    kedge: Kedge, monkeypatch: pytest.MonkeyPatch, setting: str, part: str, url: str
) -> None:
    monkeypatch.setenv(f"KEDGE_{setting.upper()}", url.format(port=closed_port()))
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    assert only(ran, part)["status"] == "failed"
    assert "127.0.0.1" in only(ran, part)["found"]
    assert only(ran, part)["todo"]
    assert statuses(ran)["embedder hash:256"] == "ok"
    assert "***@127.0.0.1" in ran.json()["settings"][setting]
    text = kedge("doctor")
    assert "s3cret" not in ran.out + ran.err + text.out + text.err


@pytest.mark.parametrize(
    "case",
    [
        ("redis", "cache_url", "cache", "Redis "),
        ("neo4j", "graph_url", "graph", "Neo4j 5"),
        ("postgresql", "vector_url", "vectors", "PostgreSQL 18"),
        ("milvus", "vector_url", "vectors", "Milvus "),
    ],
)
def test_a_real_server_is_told_with_its_version(
    kedge: Kedge, monkeypatch: pytest.MonkeyPatch, corpus: Path, tmp_path: Path, case: tuple[str, str, str, str]
) -> None:
    name, setting, part, version = case
    url = url_of(tmp_path) if name == "postgresql" else need(name)
    monkeypatch.setenv(f"KEDGE_{setting.upper()}", url)
    assert kedge("ingest", str(corpus), "--collection", "doctor").code == 0
    try:
        ran = kedge("doctor", "--json")
        assert ran.code == 0, ran.out
        assert only(ran, part)["found"].startswith(version)
        assert statuses(ran)["vectors of doctor"] == statuses(ran)["vectors, write"] == "ok"
        password = urlsplit(url).password
        assert password is None or password not in ran.out
    finally:
        kedge("collection", "delete", "doctor", "--yes")


# ------------------------------------------------------------ extras, models, jobs


class Blocker(importlib.abc.MetaPathFinder):
    """Makes a package look as if it were not installed."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> None:
        if name.partition(".")[0] == self._package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.mark.parametrize(
    "case",
    [
        ("graph_url", "graph", "neo4j://127.0.0.1:1", "neo4j", "neo4j"),
        ("vector_url", "vectors", "qdrant://127.0.0.1:1", "qdrant_client", "qdrant"),
        ("cache_url", "cache", "redis://127.0.0.1:1", "redis", "redis"),
        ("catalog_url", "catalog", "postgresql://127.0.0.1:1/x", "psycopg", "postgresql"),
    ],
)
def test_a_missing_extra_is_named(
    kedge: Kedge, monkeypatch: pytest.MonkeyPatch, case: tuple[str, str, str, str, str]
) -> None:
    setting, part, url, package, extra = case
    hidden = rf"{package}\b|kedge\.stores\..*\b{extra}\b"
    for name in [name for name in sys.modules if re.match(hidden, name)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Blocker(package), *sys.meta_path])
    monkeypatch.setenv(f"KEDGE_{setting.upper()}", url)
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    assert only(ran, part)["todo"] == f"Install it with: pip install 'kedge[{extra}]'"


def test_model_servers(kedge: Kedge, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        server.key = "right"
        monkeypatch.setenv("KEDGE_RERANKER", f"endpoint:{server.url}?api=tei")
        monkeypatch.setenv("KEDGE_EMBED_URL", f"{server.url}/v1")
        monkeypatch.setenv("KEDGE_EMBEDDER", "openai:some-model")
        monkeypatch.setenv("KEDGE_RERANK_KEY", "wr0ng")
        ran = kedge("doctor", "--json")
        assert ran.code == 1
        assert "refused the key" in only(ran, "reranker")["found"]
        assert "KEDGE_RERANK_KEY" in only(ran, "reranker")["todo"]
        assert only(ran, "embedder openai:some-model")["status"] == "failed"
        assert "wr0ng" not in ran.out + ran.err
        monkeypatch.setenv("KEDGE_RERANK_KEY", "right")
        monkeypatch.setenv("KEDGE_EMBED_KEY", "right")
        ran = kedge("doctor", "--json")
        assert statuses(ran)["reranker"] == statuses(ran)["embedder openai:some-model"] == "ok", ran.json()["checks"]


def test_models_that_cannot_be_had(kedge: Kedge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEDGE_EMBEDDER", "nothing")
    monkeypatch.setenv("KEDGE_RERANKER", "nothing:x")
    monkeypatch.setenv("KEDGE_LLM", "nothing")
    ran = kedge("doctor", "--json")
    assert ran.code == 1
    for part in ("embedder nothing", "reranker", "language model"):
        assert only(ran, part)["status"] == "failed"
        assert "Known:" in only(ran, part)["todo"]


def test_jobs_that_nobody_works_on(kedge: Kedge, home: Path) -> None:
    _sql(home, "UPDATE ingestion_jobs SET status = 'embedding', completed_at = NULL")
    ran = kedge("doctor", "--json")
    assert ran.code == 0
    assert only(ran, "jobs")["status"] == "warning"
    assert "kedge worker" in only(ran, "jobs")["todo"]


def test_jobs_on_postgresql_may_be_somebody_elses_until_they_are_late(
    kedge: Kedge, tmp_path: Path, corpus: Path
) -> None:
    url = url_of(tmp_path)
    settings = load_settings(environ={}, home=tmp_path / "home", catalog_url=url, embedder="hash:256")

    async def queued(hours: int) -> None:
        request = IngestRequest(Scope(DEFAULT_TENANT, "default"), (str(corpus),))
        async with Engine.open(settings) as engine:
            job = replace(new_job(request, None), created_at=datetime.now(UTC) - timedelta(hours=hours))
            await engine.stores.catalog.jobs.put(job)

    config = tmp_path / "kedge.toml"
    config.write_text(f'catalog_url = "{url}"\n', "utf-8")
    for hours, status in ((0, "ok"), (2, "warning")):
        asyncio.run(queued(hours))
        ran = kedge("doctor", "--json", "--config", str(config))
        assert only(ran, "jobs")["status"] == status
    assert "2 unfinished" in only(ran, "jobs")["found"]
    assert "1 in the queue for more than an hour" in only(ran, "jobs")["found"]


# ------------------------------------------------------------ access


def test_who_could_use_a_server(kedge: Kedge, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no keys" in only(kedge("doctor", "--json"), "access")["found"]
    monkeypatch.setenv("KEDGE_HOST", "0.0.0.0")
    ran = kedge("doctor", "--json")
    assert (ran.code, only(ran, "access")["status"]) == (1, "failed")
    monkeypatch.setenv("KEDGE_OPEN_ACCESS", "true")
    ran = kedge("doctor", "--json")
    assert (ran.code, only(ran, "access")["status"]) == (0, "warning")
    made = kedge("key", "create", "me", "--json").json()
    assert only(kedge("doctor", "--json"), "access")["status"] == "ok"
    assert kedge("key", "revoke", made["id"]).code == 0
    assert "nobody gets in" in only(kedge("doctor", "--json"), "access")["found"]
