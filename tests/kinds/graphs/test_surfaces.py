"""Graphs by command line and over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from kedge.core.settings import Settings, load_settings
from kedge.surfaces.cli.main import run
from tests.kinds.graphs.conftest import FAMILY
from tests.support.serving import served
from tests.support.surfaces import events_of, follow, http_client


@pytest.fixture
def kedge(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("KEDGE_EMBEDDER", "hash:64")
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KEDGE_COLLECTION", "g1")

    def call(*arguments: str, code: int = 0) -> Any:
        capfd.readouterr()
        assert run([*arguments, "--json"]) == code
        return json.loads(capfd.readouterr().out)

    return call


@pytest.mark.req("G-01", "G-09")
def test_the_life_of_a_graph_on_the_command_line(kedge: Any) -> None:
    made = kedge(
        "graph", "node", "add", "ada", "--type", "Person", "--title", "Ada", "-p", "born=1815", "-p", 'x=["a"]'
    )
    assert made["properties"] == {"born": 1815, "x": ["a"]}
    kedge("graph", "node", "add", "london", "--description", "A city on the Thames.")
    edge = kedge("graph", "edge", "add", "ada", "place_of_birth", "london")
    assert kedge("graph", "node", "show", "ada")["edges"][0]["id"] == edge["id"]
    assert kedge("graph", "node", "update", "ada", "--alias", "Countess")["aliases"] == ["Countess"]
    assert [node["id"] for node in kedge("graph", "node", "list", "--type", "Person")] == ["ada"]
    assert kedge("search", "thames")["results"][0]["external_id"] == "london"
    answer = kedge("ask", "what is the place of birth of the countess?")
    assert answer["citations"][0]["url"] == "node:london"
    assert answer["metadata"]["paths"][0]["edges"][0]["type"] == "place_of_birth"
    assert kedge("graph", "reconcile")["ok"] is True
    assert kedge("graph", "edge", "update", edge["id"], "--type", "born_in")["type"] == "born_in"
    assert kedge("graph", "edge", "show", edge["id"])["source"] == "ada"
    kedge("graph", "edge", "delete", edge["id"], "--yes")
    assert kedge("graph", "edge", "list") == []
    assert kedge("graph", "node", "delete", "ada", "--yes")["edges"] == []
    assert kedge("graph", "index", "--full")["passages_created"] == 1
    assert kedge("graph", "node", "show", "ada", code=1)["error"]["code"] == "not_found"
    assert kedge("graph", "node", "add", "x", "-p", "nonsense", code=2)["error"]["hint"]
    assert kedge("check")["ok"] is True


def test_a_file_is_taken_in_and_asked(kedge: Any, family: Path) -> None:
    job = kedge("ingest", str(family), "--kind", "graph", "--collection", "kin")
    assert (job["status"], job["passages_created"]) == ("complete", 14)
    answer = kedge("ask", "place of birth of the father of ada", "--collection", "kin")
    assert answer["citations"][0]["title"] == "london"
    assert kedge("ask", "who painted the ceiling", "--collection", "kin")["confidence"] == "insufficient"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    settings = load_settings(environ={}, home=tmp_path_factory.mktemp("graph-http") / "home", embedder="hash:64")
    with asking(settings) as client:
        yield client


@contextmanager
def asking(settings: Settings) -> Iterator[httpx.Client]:
    with served(settings) as url, http_client(url) as client:
        yield client


@pytest.mark.req("G-01", "G-02")
def test_nodes_and_edges_over_http(client: httpx.Client) -> None:
    at = {"collection": "web"}
    made = client.post("/api/graph/nodes", params=at, json={"id": "a/1", "title": "Ada", "type": "Person"})
    assert made.status_code == 201
    client.post("/api/graph/nodes", params=at, json={"id": "b", "title": "Bob"}).raise_for_status()
    assert client.post("/api/graph/nodes", params=at, json={"id": "b"}).status_code == 409
    edge = client.post("/api/graph/edges", params=at, json={"source": "a/1", "target": "b", "type": "knows"})
    assert edge.status_code == 201
    assert client.get("/api/graph/nodes/a/1", params=at).json()["title"] == "Ada"
    changed = client.patch("/api/graph/nodes/a/1", params=at, json={"description": "Counts."}).json()
    assert (changed["title"], changed["description"]) == ("Ada", "Counts.")
    page = client.get("/api/graph/nodes", params={**at, "limit": 1}).json()
    assert (page["nodes"][0]["id"], page["next"]) == ("a/1", "a/1")
    assert client.get("/api/graph/edges", params={**at, "node": "b"}).json()["edges"][0]["id"] == edge.json()["id"]
    where = f"/api/graph/edges/{edge.json()['id']}"
    assert client.patch(where, params=at, json={"type": "likes"}).json()["type"] == "likes"
    assert client.get(where, params=at).json()["type"] == "likes"
    assert client.delete(where, params=at).status_code == 204
    assert client.delete("/api/graph/nodes/a/1", params=at).json() == {"id": "a/1", "edges": []}
    assert client.get("/api/graph/nodes/a/1", params=at).status_code == 404
    assert client.post("/api/graph/nodes", params=at, json={"colour": "red"}).status_code == 400
    assert client.post("/api/graph/reconcile", json=at).json()["ok"] is True


@pytest.mark.req("G-04", "G-05", "G-09")
def test_a_graph_is_uploaded_asked_and_indexed_again(client: httpx.Client) -> None:
    sent = client.post(
        "/api/ingest", files={"file": ("kin.tsv", FAMILY)}, data={"collection": "kin", "kind": "graph"}
    ).raise_for_status()
    assert follow(client, sent.json()["job_id"])["status"] == "complete"
    said = client.post("/api/rag/query", json={"question": "Who is the father of ada?", "collection": "kin"})
    events = events_of(said.text)
    assert next(json.loads(data)["citation"]["id"] for name, data in events if name == "citation") == "[Node 1]"
    metadata = json.loads(dict(events)["metadata"])["metadata"]
    assert metadata["paths"][0]["nodes"][-1]["id"] == "lord_byron"
    unsaid = client.post("/api/rag/query", json={"question": "Who painted the ceiling?", "collection": "kin"})
    tokens = "".join(json.loads(data)["content"] for name, data in events_of(unsaid.text) if name == "token")
    assert tokens.startswith("I don't have enough information")
    queued = client.post("/api/graph/index", json={"collection": "kin", "full": True})
    assert queued.status_code == 202
    assert follow(client, queued.json()["job_id"])["passages_created"] == 14
    assert client.post("/api/graph/index", json={"collection": "nowhere"}).status_code == 404


@pytest.mark.req("G-11")
def test_the_switch_hides_questions_to_graphs(tmp_path: Path) -> None:
    settings = load_settings(environ={"ENABLE_RAG_SEARCH": "false"}, home=tmp_path / "home", embedder="hash:64")
    with asking(settings) as client:
        made = client.post("/api/graph/nodes", json={"id": "a", "title": "Ada"})
        assert made.status_code == 201
        refused = client.post("/api/rag/query", json={"question": "Who is Ada?"})
        assert refused.status_code == 404
        assert "ENABLE_RAG_SEARCH" in refused.json()["error"]["hint"]
        assert client.get("/api/graph/nodes/a").json()["title"] == "Ada"
        assert client.post("/api/graph/reconcile", json={}).json()["missing"] == ["a"]
