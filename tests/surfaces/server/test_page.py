"""What the server gives the page: its files with their headers, the switch, and passages in their place."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from kedge.core.settings import load_settings, stray_variables
from kedge.surfaces.server.app import create_app
from tests.support.paths import ROOT
from tests.support.surfaces import EMBEDDER, FOREIGN, QUESTION, events_of

WEB = ROOT / "src" / "kedge" / "surfaces" / "server" / "web"


@pytest.mark.req("G-06")
def test_the_page_and_its_files_come_with_a_strict_policy(client: httpx.Client) -> None:
    for path in ("/rag", "/rag/main.js", "/rag/base.css", "/rag/icon.svg", "/rag/inter.woff2"):
        response = client.get(path)
        assert response.status_code == 200, path
        policy = response.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
    assert client.get("/rag").headers["content-type"] == "text/html; charset=utf-8"
    assert client.get("/", follow_redirects=False).headers["location"] == "/rag"


def test_everything_the_page_names_is_there_and_its_own(client: httpx.Client) -> None:
    """No other host, no inline script or style: the page works without a network, under its policy."""
    page = client.get("/rag").text
    names = set(re.findall(r'(?:src|href)="(/rag/[^"]+)"', page))
    for path in WEB.glob("*.js"):
        names |= {f"/rag/{name}" for name in re.findall(r'from "\./([^"]+)"', path.read_text("utf-8"))}
    for path in WEB.rglob("*.css"):
        names |= set(re.findall(r'url\("([^"]+)"\)', path.read_text("utf-8")))
    assert len(names) > 15
    assert [name for name in names if client.get(name).status_code != 200] == []
    assert re.findall(r"<style|<script>|\sstyle=|\son\w+=", page) == []
    sources = [page, *(path.read_text("utf-8") for path in WEB.iterdir() if path.suffix in (".js", ".css"))]
    hosts = {host for text in sources for host in re.findall(r"https?://([\w.]+)", text)}
    assert hosts <= {"www.w3.org"}


def test_scripts_have_no_way_from_text_to_markup() -> None:
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function")
    assert [path.name for path in WEB.glob("*.js") if forbidden.search(path.read_text("utf-8"))] == []


def test_nothing_beside_the_files_of_the_page_is_served(client: httpx.Client) -> None:
    for name in ("nothing.js", "..%2fapp.py", "%2e%2e%2fapp.py", "FONTS-LICENSE.txt", "../app.py"):
        response = client.get(f"/rag/{name}")
        assert response.status_code == 404, name
        assert response.json()["error"]["code"] == "not_found"


@pytest.mark.req("G-11")
def test_the_switch_hides_the_page_and_nothing_else(tmp_path: Path) -> None:
    for environ in ({"ENABLE_RAG_SEARCH": "false"}, {"KEDGE_ENABLE_RAG_SEARCH": "false"}):
        settings = load_settings(environ=environ, home=tmp_path / "home", embedder=EMBEDDER)
        assert stray_variables(environ) == []
        with TestClient(create_app(settings), base_url="http://localhost") as hidden:
            assert [hidden.get(path).status_code for path in ("/rag", "/rag/main.js", "/rag/about.json", "/")] == [
                404
            ] * 4
            assert hidden.get("/health").status_code == 200
    assert load_settings(environ={}).enable_rag_search is True


@pytest.fixture
def cited(client: httpx.Client, filled: str) -> dict[str, object]:
    answer = client.post("/api/query", json={"query": QUESTION, "collection": filled}).json()
    first: dict[str, object] = answer["citations"][0]
    return first


def test_a_cited_passage_is_shown_in_its_document(client: httpx.Client, filled: str, cited: dict[str, object]) -> None:
    found = client.get(f"/api/passages/{cited['passage_id']}", params={"collection": filled, "beside": 2}).json()
    own = next(one for one in found["passages"] if one["passage_id"] == cited["passage_id"])
    start, end = (int(str(cited[name])) - own["start"] for name in ("start", "end"))
    assert own["text"][start:end] == cited["snippet"]
    assert found["document"]["title"] == cited["title"]
    assert (found["has_before"], found["has_after"]) == (False, False)
    indexes = [one["index"] for one in found["passages"]]
    assert indexes == sorted(indexes)


def test_a_passage_of_another_collection_is_not_there(
    client: httpx.Client, filled: str, cited: dict[str, object]
) -> None:
    for path in (f"/api/passages/{cited['passage_id']}?collection=other", f"/api/passages/nothing?collection={filled}"):
        response = client.get(path)
        assert response.status_code == 404
        assert "ask again" in response.json()["error"]["hint"]
    assert client.get(f"/api/passages/{cited['passage_id']}?beside=21").status_code == 400


def test_passages_around_stop_at_the_wanted_number(client: httpx.Client, tmp_path: Path) -> None:
    sections = [f"## Part {number}\n\n" + f"Sentence {number} of the long log book. " * 60 for number in range(6)]
    (tmp_path / "log.md").write_text("# Log book\n\n" + "\n\n".join(sections), "utf-8")
    job = client.post("/api/ingest", json={"sources": [str(tmp_path / "log.md")], "collection": "logs"}).json()
    while client.get(f"/api/ingest/{job['job_id']}").json()["status"] not in ("complete", "failed"):
        pass
    document = client.get("/api/documents", params={"collection": "logs"}).json()["documents"][0]
    every = client.get(f"/api/documents/{document['document_id']}").json()["passages"]
    assert len(every) > 4
    middle = every[2]
    found = client.get(f"/api/passages/{middle['passage_id']}?collection=logs").json()
    assert [one["index"] for one in found["passages"]] == [1, 2, 3]
    assert (found["has_before"], found["has_after"]) == (True, True)
    alone = client.get(f"/api/passages/{middle['passage_id']}?collection=logs&beside=0").json()
    assert [one["text"] for one in alone["passages"]] == [middle["text"]]


@pytest.mark.req("D-14")
def test_the_stream_says_what_the_page_needs(client: httpx.Client, filled: str) -> None:
    """The metadata of a streamed answer says as much as that of a whole one."""
    for question, key in ((QUESTION, "sources"), (FOREIGN, "nearest")):
        body = {"query": question, "collection": filled}
        whole = client.post("/api/query", json=body).json()["metadata"]
        events = [json.loads(data) for _, data in events_of(client.post("/api/query/stream", json=body).text)]
        streamed = next(event["metadata"] for event in events if event["type"] == "metadata")
        assert streamed[key] == whole[key]
        assert streamed[key]
        assert streamed["evidence"] == whole["evidence"]


def test_the_wheel_carries_the_page(tmp_path: Path) -> None:
    hatchling = pytest.importorskip("hatchling.builders.wheel")
    root = ROOT
    built = next(hatchling.WheelBuilder(str(root)).build(directory=str(tmp_path), versions=["standard"]))
    names = set(zipfile.ZipFile(built).namelist())
    assert {f"kedge/surfaces/server/web/{path.name}" for path in WEB.iterdir() if path.is_file()} <= names
