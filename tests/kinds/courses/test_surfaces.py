"""Courses through the command line, HTTP, the Python façade and a watched folder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from kedge import Kedge
from kedge.core.errors import UsageError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import IngestRequest
from kedge.engine.engine import Engine
from kedge.surfaces.cli.common import CommandRun, Globals
from kedge.surfaces.cli.ingest import report
from kedge.surfaces.cli.main import run as run_cli
from kedge.surfaces.cli.watch import follow as follow_changes
from kedge.surfaces.cli.watch import watched
from tests.kinds.courses.conftest import BOOK, LESSONS, lesson, write
from tests.support.serving import served
from tests.support.surfaces import follow, http_client
from tests.surfaces.mcp.test_mcp import with_client


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("served-course"), LESSONS)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[httpx.Client]:
    """A real server that holds the course."""
    settings = load_settings(None, {}, home=tmp_path_factory.mktemp("served") / "home", embedder="hash:64")
    with served(settings) as url, http_client(url) as client:
        accepted = client.post("/api/courses/robots/ingest", json={"sources": [str(folder)]})
        assert accepted.status_code == 202
        job = follow(client, accepted.json()["job_id"])
        assert (job["kind"], job["state"], job["files_processed"]) == ("course", "completed", 5)
        yield client


LIDAR = "How does a lidar measure distance?"
WIDE = {"hardware_tier": {"lte": 4}}


@pytest.mark.req("C-16", "C-07")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/query", {"query": LIDAR, "collection": "robots"}),
        ("/api/query", {"query": LIDAR, "collection": "robots", "stream": True}),
        ("/api/query/stream", {"query": LIDAR, "collection": "robots"}),
        ("/api/search", {"query": LIDAR, "collection": "robots", "top_k": 20}),
        (
            "/v1/chat/completions",
            {"model": "kedge/robots", "messages": [{"role": "user", "content": LIDAR}]},
        ),
    ],
)
def test_each_address_shows_tier_1_unless_another_is_given(
    client: httpx.Client, path: str, body: dict[str, Any]
) -> None:
    """The lidar lesson is of tier 4: nothing of it, nor its title, comes back to who says nothing of a tier."""
    shown = client.post(path, json=body).raise_for_status().text
    assert "by pulses" not in shown
    assert "Lidar" not in shown
    assert "by pulses" in client.post(path, json={**body, "filter": WIDE}).raise_for_status().text


@pytest.mark.req("C-16", "C-07")
def test_an_agent_and_a_terminal_see_tier_1_unless_another_is_given(
    tmp_path: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    with Kedge(home, embedder="hash:64", collection="robots") as kedge:
        kedge.ingest(folder, kind="course")

    def terminal(*arguments: str) -> str:
        capfd.readouterr()
        run = run_cli(["--home", str(home), *arguments, "-c", "robots"])
        assert run == 0
        return capfd.readouterr().out

    async def agent(client: Client) -> None:
        for tool in ("ask", "search"):
            asked = {"question": LIDAR, "collection": "robots"}
            narrow = str((await client.call_tool(tool, asked)).structured_content)
            assert "by pulses" not in narrow
            wide = await client.call_tool(tool, {**asked, "filter": WIDE})
            assert "by pulses" in str(wide.structured_content)

    for command in ("ask", "search"):
        assert "by pulses" not in terminal(command, LIDAR)
        assert "by pulses" in terminal(command, LIDAR, "--filter", "hardware_tier<=4")
    with_client(home, agent)


@pytest.mark.req("C-07", "C-11")
def test_http_search_has_every_field_and_keeps_the_filters(client: httpx.Client) -> None:
    body = {"text": "arrows tip to tail", "bookId": "robots", "hardwareTierFilter": 2, "module_filter": 1, "limit": 3}
    found = client.post("/api/courses/search", json=body).raise_for_status().json()
    assert (found["book_id"], found["hardware_tier_filter"], found["module_filter"]) == ("robots", 2, "1")
    assert found["total_found"] == 6
    scores = [hit["score"] for hit in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert 0 < len(scores) <= 3
    best = found["results"][0]
    expected = """text score source_file section_title module chapter lesson hardware_tier proficiency_level layer
        chunk_index total_chunks parent_doc_id prev_chunk_id next_chunk_id content_hash""".split()
    assert best.keys() >= set(expected)
    assert all(hit["hardware_tier"] <= 2 for hit in found["results"])
    default = client.post("/api/courses/search", json={"text": "rotation of an arrow", "book_id": "robots"}).json()
    assert {hit["hardware_tier"] for hit in default["results"]} == {1}


@pytest.mark.req("C-11")
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"text": "ab", "book_id": "robots"}, 400, "invalid_query"),
        ({"text": "frames", "book_id": "robots", "limit": 21}, 400, "invalid_query"),
        ({"text": "frames", "book_id": "robots", "hardware_tier": 7}, 400, "invalid_filter"),
        ({"text": "frames", "book_id": "nowhere"}, 404, "not_found"),
        ({"text": "frames", "book_id": "robots", "colour": "red"}, 400, "invalid_request"),
    ],
)
def test_http_says_what_is_wrong(client: httpx.Client, body: dict[str, Any], status: int, code: str) -> None:
    answer = client.post("/api/courses/search", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.req("C-11")
def test_http_shows_lessons_contexts_and_prerequisites(client: httpx.Client) -> None:
    lessons = client.get("/api/courses/robots/lessons", params={"filter": "hardware_tier<=2"}).json()["lessons"]
    assert [one["title"] for one in lessons] == ["Coordinate frames", "Vectors", "Maps"]
    parent = lessons[1]["parent_doc_id"]
    whole = client.get(f"/api/courses/robots/lessons/{parent}").raise_for_status().json()
    assert [one["chunk_index"] for one in whole["chunks"]] == [0, 1, 2]
    middle = whole["chunks"][1]["id"]
    path = f"/api/courses/robots/passages/{middle}/context"
    assert client.get(path, params={"max_tokens": 1}).json()["chunks"][0]["id"] == middle
    assert client.get(path).json()["complete"] is True
    needed = client.get(f"/api/courses/robots/lessons/{parent}/prerequisites").json()
    assert [one["title"] for one in needed["needed"]] == ["Coordinate frames"]
    assert [step["number"] for step in needed["needed"][0]["path"]] == ["1.2", "1.1"]
    hidden = client.get(f"/api/courses/robots/lessons/{parent}", params={"filter": "hardware_tier<=1"})
    assert hidden.status_code == 404


@pytest.mark.req("C-01")
def test_http_takes_lessons_as_uploads(client: httpx.Client) -> None:
    files = [("file", (name.rpartition("/")[2], text.encode())) for name, text in LESSONS.items()]
    accepted = client.post("/api/courses/uploaded/ingest", files=files).raise_for_status().json()
    assert follow(client, accepted["job_id"])["files_processed"] == 5
    assert len(client.get("/api/courses/uploaded/lessons").json()["lessons"]) == 5


@pytest.mark.req("C-07", "C-08", "C-11")
def test_the_command_line_from_ingest_to_prerequisites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KEDGE_EMBEDDER", "hash:64")
    monkeypatch.setenv("COLUMNS", "200")
    folder = write(tmp_path / "course", LESSONS)

    def kedge(*arguments: str, code: int = 0) -> str:
        capfd.readouterr()
        assert run_cli(arguments) == code, capfd.readouterr()
        return capfd.readouterr().out

    taken = json.loads(kedge("ingest", str(folder), "--kind", "course", "-c", "robots", "--json"))
    assert (taken["files_processed"], taken["state"]) == (5, "completed")
    assert "5 unchanged" in kedge("ingest", str(folder), "--kind", "course", "-c", "robots")
    shown = json.loads(kedge("search", "arrows", "-c", "robots", "--filter", "hardware_tier<=2", "--json"))
    assert {hit["metadata"]["hardware_tier"] for hit in shown["results"]} <= {1, 2}
    filters = [part for one in ("chapter>=2", "chapter<=4", "module=01", "hardware_tier<=4") for part in ("-f", one)]
    chapters = kedge("search", "arrows", "-c", "robots", *filters, "--json")
    assert {hit["title"] for hit in json.loads(chapters)["results"]} == {"Rotations"}
    assert "Coordinate frames" in kedge("course", "lessons", "robots")
    assert "Arrows are added" in kedge("course", "lesson", "robots", "1/1.2")
    assert "2.1 ← 1.2 ← 1.1" in kedge("course", "prerequisites", "robots", "1/2.1")
    assert "2.1 ← 1.2 ← 1.1" in kedge(
        "ask", "What must I know before lesson 2.1?", "-c", "robots", "-f", "hardware_tier<=4"
    )
    found = json.loads(kedge("course", "search", "robots", "pulses of light", "--hardware-tier", "3", "--json"))
    passage = found["results"][0]
    assert passage["title"] in ("Lidar", "Maps")
    assert "pulses of light" in kedge("course", "expand", "robots", passage["id"], "--max-tokens", "50")
    assert "Lidar" in kedge("course", "search", "robots", "pulses of light", "--hardware-tier", "3")
    kedge("course", "lesson", "robots", "9.9", code=1)
    kedge("course", "search", "robots", "ab", code=2)


@pytest.mark.req("C-11")
def test_the_facade(tmp_path: Path) -> None:
    folder = write(tmp_path / "course", LESSONS)
    with Kedge(tmp_path / "home", embedder="hash:64") as kedge:
        assert kedge.courses.ingest("robots", folder).files_processed == 5
        hits = kedge.courses.search("robots", "an arrow with a length", hardware_tier=2, limit=2).result.hits
        assert all(hit.passage.metadata["hardware_tier"] in (1, 2) for hit in hits)
        assert len(kedge.courses.lessons("robots", where={"module": "01"})) == 3
        whole = kedge.courses.lesson("robots", "1/1.2")
        assert kedge.courses.expand("robots", whole.passages[0].id).complete
        assert len(kedge.courses.prerequisites("robots", "1/2.1").needed) == 2


@pytest.mark.req("C-08")
def test_a_watched_folder_is_taken_in_with_every_change(
    tmp_path: Path, settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    """The signs of change are given here; what changed is found by the ingest itself."""
    folder = write(tmp_path / "course", LESSONS)
    maps = folder / "module-2/maps.md"

    async def ended(engine: Engine, jobs: int) -> None:
        while sum(job.status.ended for job in await engine.jobs(BOOK.tenant)) < jobs:  # noqa: ASYNC110
            await asyncio.sleep(0)

    async def changes(engine: Engine) -> AsyncIterator[object]:
        await ended(engine, 1)
        maps.write_text(lesson("2/1.2", "Maps", "## Grids\n\nA grid map forgets nothing."), "utf-8")
        yield "edited"
        await ended(engine, 2)
        yield "a burst without a change"
        await ended(engine, 3)
        maps.write_text("---\nchapter: 99\n---\n# Broken\n\nNot a lesson.\n", "utf-8")
        yield "broken"
        await ended(engine, 4)
        maps.unlink()
        yield "deleted"

    async def scenario() -> None:
        async with Engine.open(settings) as engine:
            request = IngestRequest(BOOK, (str(folder),), kind="course")
            await follow_changes(CommandRun(Globals(json=True)), engine, request, changes(engine), report)
            assert len(await engine.jobs(BOOK.tenant)) == 5

    asyncio.run(scenario())
    jobs = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    counts = [(job["files_processed"], job["files_failed"], job["files_deleted"]) for job in jobs]
    assert counts == [(5, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]


def test_only_folders_and_files_can_be_watched(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="watched"):
        watched(["https://example.org/course"])
    with pytest.raises(UsageError, match="not there"):
        watched([str(tmp_path / "nowhere")])
    assert watched([str(tmp_path)]) == [tmp_path]
