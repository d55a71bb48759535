"""`/ready` tells the truth within its time, and queries can be forgotten."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from kedge import Kedge
from kedge.core.errors import StoreError
from kedge.core.tls import trusted
from kedge.engine.readiness import Readiness
from kedge.stores.ports import IndexSpec
from kedge.surfaces.cli.main import run
from tests.models.model_server import Fault
from tests.models.model_server import serving as model_server
from tests.support.surfaces import QUESTION
from tests.surfaces.server.serving import Served, fill, serving

PARTS = {"server", "requests", "catalog", "graph", "vectors", "embedder", "collections", "worker"}


def parts(served: Served) -> tuple[int, dict[str, Any]]:
    response = httpx.get(f"{served.url}/ready", timeout=30, verify=trusted())
    return response.status_code, response.json()["parts"]


def test_every_part_is_asked_and_shown_in_the_metrics(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as served:
        status, found = parts(served)
        assert (status, set(found)) == (200, PARTS)
        assert all(part["ok"] for part in found.values())
        assert served.metric('kedge_part_up{part="embedder"}') == 1
        assert served.metric("kedge_workers") == 1
        for name in ("kedge_process_resident_bytes", "kedge_process_cpu_seconds", "kedge_process_threads"):
            assert served.metric(name) > 0


def test_an_embedding_server_that_is_down_is_named_and_noticed_when_it_is_back(tmp_path: Path) -> None:
    with model_server() as model:
        model.faults += [Fault(status=400)] * 2
        settings = {"embedder": "openai:m?dim=8&window=256", "embed_url": f"{model.url}/v1", "embed_key": "k"}
        with serving(tmp_path / "home", **settings) as served:
            status, found = parts(served)
            assert status == 503
            assert {name for name, part in found.items() if not part["ok"]} == {"embedder"}
            assert "400" in found["embedder"]["message"]
            assert served.metric('kedge_part_up{part="embedder"}') == 0
            while parts(served)[0] != 200:
                assert model.faults, parts(served)
            asked = len(model.requests)
            assert parts(served)[0] == 200
            assert len(model.requests) == asked, "a model that works is not asked again and again"


def test_a_broken_store_and_a_dead_worker_are_named(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as served:
        engine = served.app.state.engine

        async def broken(*_: Any) -> None:
            raise StoreError("The disk is gone.")

        engine.stores.graph.concepts_by_key = broken
        status, found = parts(served)
        assert (status, found["graph"]) == (503, {"ok": False, "message": "The disk is gone."})
        assert found["catalog"]["ok"]


@pytest.mark.req("D-35", "D-19")
def test_a_server_with_another_model_is_not_ready_and_says_for_which_collection(tmp_path: Path) -> None:
    """The collection is of a model that this server cannot open, or of one that gives other vectors now."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "kedge.md").write_text("# Kedge\n\nA kedge is a light anchor.\n", "utf-8")
    home = tmp_path / "home"
    with Kedge(home, embedder="hash:64", collection="sea charts") as kedge:
        kedge.ingest(folder)

        async def replaced() -> None:
            index = (await kedge._engine.collection(kedge.scope("sea charts"))).index_name
            await kedge._engine.stores.vectors.drop(index)
            await kedge._engine.stores.vectors.create(IndexSpec(index, 32))

        kedge.run(replaced())
    with serving(home) as served:
        status, found = parts(served)
        assert status == 503
        assert {name for name, part in found.items() if not part["ok"]} == {"collections"}
        assert "'sea charts'" in found["collections"]["message"]
        assert served.metric('kedge_part_up{part="collections"}') == 0


def test_a_part_that_hangs_costs_a_bounded_time_and_is_asked_once() -> None:
    asked = []

    async def hangs() -> None:
        asked.append("hangs")
        await asyncio.Event().wait()

    async def works() -> None:
        asked.append("works")

    async def look() -> None:
        ready = Readiness({"slow": hangs, "quick": works}, 0.01)
        for _ in range(3):
            found = await ready.parts()
            assert found["slow"] == {"ok": False, "message": "It did not answer within 0.01 s."}
            assert isinstance(found["quick"], dict)
            assert found["quick"]["ok"] is True
        await ready.close()

    asyncio.run(look())
    assert asked.count("hangs") == 1
    assert asked.count("works") == 3


def test_a_worker_survives_a_catalog_that_fails_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kedge.engine.engine.WORKER_AGAIN_SECONDS", 0.01)
    with serving(tmp_path / "home") as served, served.client() as client:
        jobs = served.app.state.engine.stores.catalog.jobs
        unfinished, failed = jobs.unfinished, []

        async def fails() -> Any:
            if len(failed) < 3:
                failed.append(1)
                raise StoreError("Locked.")
            return await unfinished()

        jobs.unfinished = fails
        fill(client, tmp_path / "docs")
        assert len(failed) == 3
        assert parts(served)[0] == 200


# ------------------------------------------------------------ forgetting


def rows(home: Path, table: str) -> int:
    with sqlite3.connect(home / "catalog.db") as database:
        return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


TABLES = ("rag_queries", "retrieval_metrics", "feedback_events", "analytics_sessions")


@pytest.mark.req("D-17")
def test_a_user_is_forgotten_over_http(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    keys = []
    for right in ("admin", "read"):
        assert run(["key", "create", right, "--right", right, "--home", str(home), "--json"]) == 0
        keys.append(json.loads(capsys.readouterr().out))
    with serving(home, session_keep="home") as served:
        admin, reader = (served.client(headers={"authorization": f"Bearer {key['key']}"}) for key in keys)
        with admin, reader:
            fill(admin, tmp_path / "docs")
            for client, name in ((admin, "a"), (reader, "r")):
                answer = client.post("/api/query", json={"query": QUESTION, "session_id": name}).json()
                client.post("/api/feedback", json={"query_id": answer["query_id"], "rating": 2, "comment": "my words"})
            assert admin.get("/api/analytics").json()["queries"] == 2
            assert [rows(home, table) for table in TABLES] == [2, 2, 2, 2]
            path = f"/api/analytics/users/{keys[1]['id']}"
            assert reader.delete(path).status_code == 403
            assert admin.delete(path).json() == {"queries": 1, "sessions": 1, "conversations": 0}
            assert admin.delete(path).json() == {"queries": 0, "sessions": 0, "conversations": 0}
            assert [rows(home, table) for table in TABLES] == [1, 1, 1, 1]
    with sqlite3.connect(home / "sessions.db") as database:
        kept = [session for (session,) in database.execute("SELECT session FROM turns")]
    assert [session.partition("\x1f")[0] for session in kept] == ["a"]  # what the sender is told by follows


@pytest.mark.req("D-17")
def test_old_queries_are_forgotten_by_command_and_by_the_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    with serving(home) as served, served.client() as client:
        fill(client, tmp_path / "docs")
        for _ in range(2):
            client.post("/api/query", json={"query": QUESTION, "session_id": "s"})

    def age() -> None:
        old = (datetime.now(UTC) - timedelta(days=100)).strftime("%Y-%m-%d %H:%M:%S.%f")
        with sqlite3.connect(home / "catalog.db") as database:
            database.execute(
                "UPDATE rag_queries SET timestamp = ? WHERE id = (SELECT min(id) FROM rag_queries)", (old,)
            )

    age()
    common = ["--home", str(home), "--json"]
    assert run(["analytics", "sweep", *common]) == 0
    assert json.loads(capsys.readouterr().out) == {"queries": 1}
    assert run(["analytics", "show", *common]) == 0
    assert json.loads(capsys.readouterr().out)["queries"] == 1
    age()
    with serving(home):
        while rows(home, "rag_queries"):
            pass
        while rows(home, "retrieval_metrics"):
            pass
    assert run(["analytics", "erase", "--user", "local", "--home", str(home)]) == 0
    assert "0 queries and 1 sessions of local erased" in capsys.readouterr().out
