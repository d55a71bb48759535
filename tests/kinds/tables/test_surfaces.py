"""Tables on the command line, over HTTP and in Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from kedge import Kedge
from kedge.core.settings import load_settings
from kedge.surfaces.cli.main import run as run_cli
from kedge.surfaces.client import KedgeClient
from kedge.surfaces.server.app import create_app
from tests.kinds.tables.conftest import write_sales
from tests.support.serving import served
from tests.support.surfaces import events_of, follow, http_client


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def kedge(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KEDGE_EMBEDDER", "hash:256")

    def call(*arguments: str) -> Ran:
        capsys.readouterr()
        code = run_cli(arguments)
        found = capsys.readouterr()
        return Ran(code, found.out, found.err)

    return call


@pytest.mark.req("T-04")
def test_words_that_are_not_understood_are_named(kedge: Any, client: httpx.Client, tmp_path: Path) -> None:
    """On the command line, as text and JSON, over HTTP and by the client."""
    path = write_sales(tmp_path / "sales.csv", 200)
    asked = "total amount in Atlantis"
    kedge("ingest", str(path), "--kind", "table", "--collection", "s1")
    assert "Not understood: atlantis" in kedge("ask", asked, "-c", "s1").out.replace("Atlantis", "atlantis")
    told = json.loads(kedge("ask", asked, "-c", "s1", "--json").out)
    client.post("/api/sessions", json={"sessionId": "strange", "useRag": True})
    upload(client, "strange", path.read_bytes())
    sent = client.post("/api/query", json={"query": asked, "collection": "strange"}).json()
    with KedgeClient(str(client.base_url)) as remote:
        by_client = remote.ask(asked, collection="strange")
    assert client.delete("/api/sessions/strange").status_code == 204
    for answer, metadata in (
        (told["answer"], told["metadata"]),
        (sent["answer"], sent["metadata"]),
        (by_client.answer, by_client.metadata),
    ):
        assert "Not understood: " in answer
        assert "atlantis" in [word.lower() for word in metadata["not_understood"]]


@pytest.mark.req("T-01", "T-06")
def test_command_line(kedge: Any, tmp_path: Path) -> None:
    path = write_sales(tmp_path / "sales.csv", 200)
    with path.open("a") as file:
        file.write("broken,row\n=HYPERLINK(1),2024-01-01,SNACKS,=1+1,Crispo,1,1\n")
    fed = kedge("ingest", str(path), "--kind", "table", "--collection", "s1")
    assert (fed.code, fed.out.split(",")[0]) == (0, "s1: 1 files fed (200 rows)")
    assert "line 202: 2 fields instead of 7" in fed.err
    answer = json.loads(kedge("ask", "total amount by department", "--collection", "s1", "--json").out)
    assert answer["metadata"]["plan"]["exact"] is True
    assert answer["metadata"]["row_count"] == 200
    shown = kedge("ask", "top 3 brands by amount", "-c", "s1").out
    assert "Plan: " in shown
    assert "sum of amount" in shown
    found = json.loads(kedge("search", "party pretzels", "-c", "s1", "-k", "30", "-f", "quantity>=5", "--json").out)
    assert len(found["results"]) <= 30
    assert all(hit["metadata"]["columns"]["quantity"] >= 5 for hit in found["results"])
    assert found["results"][0]["external_id"].isdigit()
    listed = json.loads(kedge("session", "list", "--json").out)
    assert [(one["session_id"], one["rows"], one["bad_rows"]) for one in listed] == [("s1", 200, 2)]
    assert "sales.csv" in kedge("session", "list").out
    assert "category" in kedge("session", "show", "s1").out
    bad = json.loads(kedge("session", "bad-rows", "s1", "--json").out)
    assert [row["line"] for row in bad] == [202, 203]
    exported = tmp_path / "bad.csv"
    assert kedge("session", "export", "s1", "--bad", "-o", str(exported)).code == 0
    assert ",\"'=HYPERLINK(1)," in exported.read_text()
    changes = tmp_path / "changes.jsonl"
    changes.write_text('{"order_id": 1, "brand": "-2+3"}\n')
    assert kedge("session", "update", "s1", str(changes), "--key", "order_id", "--delete", "2").code == 0
    rows = kedge("session", "export", "s1").out.splitlines()
    assert len(rows) == 200
    assert ",'-2+3," in rows[1]
    refused = kedge("session", "delete", "s1", "--json")
    assert (refused.code, json.loads(refused.out)["error"]["code"]) == (2, "invalid_request")
    assert kedge("session", "delete", "s1", "--yes").code == 0
    gone = kedge("session", "show", "s1", "--json")
    assert (gone.code, json.loads(gone.out)["error"]["code"]) == (1, "not_found")
    assert "No sessions yet" in kedge("session", "list").err


def test_command_line_options_and_faults(kedge: Any, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("a~b\n1~2\n")
    made = json.loads(kedge("session", "create", "s2", "--no-rag", "--expires-after", "60", "--json").out)
    assert (made["status"], made["use_rag"], made["expires_at"] is None) == ("empty", False, False)
    fed = kedge("ingest", str(path), "--kind", "table", "-c", "s2", "--option", "delimiter=~", "--option", "header=yes")
    assert fed.code == 0
    assert [one["name"] for one in json.loads(kedge("session", "show", "s2", "--json").out)["columns"]] == ["a", "b"]
    (tmp_path / "empty.csv").write_bytes(b"")
    failed = kedge("ingest", str(tmp_path / "empty.csv"), "--kind", "table", "-c", "s3")
    assert (failed.code, "empty.csv is empty" in failed.err) == (1, True)
    assert kedge("session", "update", "s2", "--key", "a").code == 2
    assert kedge("ingest", str(path), "--kind", "sheet").code == 2


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    home = tmp_path_factory.mktemp("served") / "home"
    settings = load_settings(environ={}, home=home, embedder="hash:256")
    with served(settings) as url, http_client(url) as client:
        yield client


def upload(client: httpx.Client, session: str, content: bytes, name: str = "sales.csv", **fields: str) -> Any:
    sent = client.post(f"/api/sessions/{session}/feed-data", files={"file": (name, content)}, data=fields)
    assert sent.status_code == 202, sent.text
    return follow(client, sent.json()["job_id"])


@pytest.mark.req("T-01", "T-05", "T-06")
def test_over_http(client: httpx.Client, tmp_path: Path) -> None:
    made = client.post("/api/sessions", json={"sessionId": "web", "useRag": True})
    assert (made.status_code, made.json()["status"]) == (201, "empty")
    empty = client.post("/api/sessions/web/query", json={"query": "total amount"})
    assert (empty.status_code, empty.json()["error"]["code"]) == (409, "conflict")
    content = write_sales(tmp_path / "sales.csv", 200).read_bytes()
    assert upload(client, "web", content)["status"] == "complete"
    shown = client.get("/api/sessions/web").json()
    assert (shown["status"], shown["rows"], shown["files"][0]["name"]) == ("ready", 200, "sales.csv")
    answer = client.post("/api/sessions/web/query", json={"query": "total amount by brand"}).json()
    assert answer["metadata"]["kind"] == "table"
    assert answer["metadata"]["chart"]["type"] == "bar"
    same = client.post("/api/query", json={"query": "total amount by brand", "collection": "web"}).json()
    assert same["metadata"]["rows"] == answer["metadata"]["rows"]
    rows = client.post("/api/sessions/web/query", json={"query": "party pretzels", "k": 7, "threshold": 0.5}).json()
    assert rows["citations"]
    assert all(score >= 0.5 for score in rows["metadata"]["scores"])
    streamed = events_of(client.post("/api/sessions/web/query/stream", json={"query": "total amount"}).text)
    assert [event for event, _ in streamed][-2:] == ["metadata", "done"]
    plan = {"measures": [{"func": "count"}], "filters": [{"column": "brand", "op": "=", "values": ["Crispo"]}]}
    counted = client.post("/api/sessions/web/query", json={"plan": plan}).json()
    assert counted["metadata"]["plan"]["exact"] is True
    wrong = client.post("/api/sessions/web/query", json={"plan": {"measures": [{"func": "sum", "column": "x"}]}})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "invalid_plan")
    assert client.post("/api/sessions/web/query", json={"query": "x", "k": 501}).status_code == 400
    changed = client.patch("/api/sessions/web/rows", json={"key": "order_id", "delete": [1, 2, 3]}).json()
    assert changed == {"updated": 0, "inserted": 0, "deleted": 3}
    assert [one["session_id"] for one in client.get("/api/sessions").json()["sessions"]] == ["web"]
    assert client.delete("/api/sessions/web").status_code == 204
    assert client.get("/api/sessions/web").status_code == 404
    assert client.post("/api/sessions/web/query", json={"query": "x"}).status_code == 404


def test_feeding_again_over_http_replaces_or_adds(client: httpx.Client) -> None:
    rows = [{"name": "Ada", "n": 1}, {"name": "Bob", "n": 2}]
    sent = client.post("/api/sessions/lines/feed-data", json={"rows": rows, "name": "people"})
    assert follow(client, sent.json()["job_id"])["status"] == "complete"

    def total() -> Any:
        return client.post("/api/sessions/lines/query", json={"query": "sum of n"}).json()["metadata"]["rows"]

    assert total() == [[3]]
    upload(client, "lines", b"name,n\nCarl,5\n", "more.csv", mode="add")
    assert total() == [[8]]
    upload(client, "lines", b"name;n\nDora;7\nbroken\n", "new.csv", delimiter=";")
    assert total() == [[7]]
    bad = client.get("/api/sessions/lines/bad-rows").json()["bad_rows"]
    assert bad == [{"file": "new.csv", "line": 3, "reason": "1 field instead of 2", "text": "broken"}]
    nothing = client.post("/api/sessions/lines/feed-data", json={})
    assert (nothing.status_code, nothing.json()["error"]["message"]) == (400, "Nothing to feed.")


def test_in_python(tmp_path: Path) -> None:
    path = write_sales(tmp_path / "sales.csv", 100)
    with Kedge(tmp_path / "home", embedder="hash:256") as kedge:
        kedge.make_session("s1", use_rag=False)
        job = kedge.ingest(path, collection="s1", kind="table")
        assert job.passages_created == 100
        assert kedge.session("s1").status == "ready"
        assert [session.id for session in kedge.sessions()] == ["s1"]
        assert kedge.ask("How many rows are there?", collection="s1").short_answer == "100"
        assert kedge.bad_rows("s1") == []
        assert kedge.update_rows("s1", "order_id", delete=[1]).deleted == 1
        assert kedge.run_plan("s1", {"measures": [{"func": "count"}]}).short_answer == "99"
        found = kedge.search("pretzels", collection="s1", top_k=50, threshold=0.1, where={"department": "SNACKS"})
        assert found.hits


@pytest.mark.req("T-14")
def test_other_languages_are_offered_on_the_command_line_and_over_http(
    kedge: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEDGE_EMBEDDER", "minilm")
    command = "pip install 'kedge[multilingual]' && kedge collection reindex s1 --embedder e5-multilingual"
    path = tmp_path / "trade.csv"
    path.write_text("Company,Product\nSaigon Foods,Tôm đông lạnh\nHanoi Tech,Linh kiện điện thoại\n", "utf-8")
    fed = kedge("ingest", str(path), "--kind", "table", "--collection", "s1")
    assert command in " ".join(fed.err.split())
    asked = kedge("ask", "điện thoại thông minh", "-c", "s1")
    assert command in " ".join((asked.out + asked.err).split())
    assert command in " ".join(json.loads(kedge("session", "show", "s1", "--json").out)["notes"])
    settings = load_settings(environ={}, home=tmp_path / "home", embedder="minilm", collection="s1")
    with TestClient(create_app(settings), base_url="http://127.0.0.1", client=("127.0.0.1", 50000)) as client:
        body = {"query": "điện thoại thông minh", "query_embedding": True, "threshold": 0.0}
        told = client.post("/api/sessions/s1/query", json=body).json()["metadata"]
        assert command in " ".join(told["warnings"])
        assert len(told["query_embedding"]) == 384
        found = client.post("/api/search", json={"query": "điện thoại", "collection": "s1"}).json()
        assert command in " ".join(found["warnings"])
        plain = client.post("/api/sessions/s1/query", json={"query": "phones"}).json()
        assert "query_embedding" not in plain["metadata"]
