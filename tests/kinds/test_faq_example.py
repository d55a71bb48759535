"""A fifth kind in a package of its own: installed with pip, found by entry point, used on every surface."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.forked import ran, ran_script
from tests.support.installing import pip_install
from tests.support.paths import ROOT
from tests.support.surfaces import EMBEDDER, FOREIGN, events_of, follow, http_client
from tests.surfaces.client.conftest import serving

EXAMPLE = ROOT / "examples" / "kind_faq"
QUESTION = "How do I moor the boat at high tide?"
MARKDOWN = """# Questions of guests

This page is read first.

## How do I moor a boat at high tide?

Leave a long line to the ring.

Then **come back** before low tide:

- at noon
- at midnight

## Where is the ferry ticket office?

Behind the lighthouse, on the left.
"""
TOML = """
title = "Questions of sailors"

[[entry]]
question = "Which knot ties the warp to the kedge anchor?"
answer = \"\"\"
The anchor bend.
It is also called the fisherman's bend.\"\"\"

[[entry]]
question = "When does the harbour master sleep?"
answer = "Never."
"""
BLOCKING = """
import dataclasses, json, sys
from kedge import Kedge
with Kedge(sys.argv[1]) as kedge:
    assert kedge.faq_entries("help") == kedge.faq.faq_entries("help")
    print(json.dumps([dataclasses.asdict(entry) for entry in kedge.faq.faq_entries("help")]))
"""
CLIENT = """
import asyncio, dataclasses, json, sys
from kedge.surfaces.client import AsyncKedgeClient, KedgeClient
with KedgeClient(sys.argv[1]) as client:
    found = client.faq_entries("help")
async def again():
    async with AsyncKedgeClient(sys.argv[1]) as client:
        return await client.faq_entries("help")
assert asyncio.run(again()) == found
print(json.dumps([dataclasses.asdict(entry) for entry in found]))
"""


def kedge(home: Path, *arguments: str, code: int = 0) -> Any:
    done = ran(["--home", str(home), "--json", *arguments])
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", autouse=True)
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", pip_install(EXAMPLE, folder))
        patch.setenv("KEDGE_EMBEDDER", EMBEDDER)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("faq")
    (made / "guests.md").write_text(MARKDOWN)
    (made / "sailors.faq").write_text(TOML)
    return made


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Path:
    made = tmp_path_factory.mktemp("home") / "home"
    job = kedge(made, "ingest", str(folder), "--kind", "faq", "--collection", "help")
    assert (job["status"], job["kind"], job["files_processed"], job["passages_created"]) == ("complete", "faq", 2, 4)
    return made


def test_the_whole_pair_answers_and_is_cited_where_it_stands(home: Path, folder: Path) -> None:
    answer = kedge(home, "ask", QUESTION, "--collection", "help")
    (cited,) = answer["citations"]
    assert answer["answer"] == f"{cited['snippet']} [1]"
    assert cited["snippet"] == MARKDOWN[cited["start"] : cited["end"]]
    assert cited["snippet"].startswith("Leave a long line")
    assert cited["snippet"].endswith("- at midnight")
    assert cited["url"] == str(folder / "guests.md")
    assert answer["metadata"]["question"] == "How do I moor a boat at high tide?"


def test_what_no_pair_answers_is_refused(home: Path) -> None:
    answer = kedge(home, "ask", FOREIGN, "--collection", "help")
    assert (answer["confidence"], answer["citations"]) == ("insufficient", [])


def test_search_finds_entries(home: Path) -> None:
    found = kedge(home, "search", "warp knot", "--collection", "help")["results"]
    assert found[0]["text"] == "The anchor bend. It is also called the fisherman's bend."


def entries(found: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    return [(entry["question"], entry["answer"].splitlines()[0], Path(entry["url"]).name) for entry in found]


EXPECTED = [
    ("How do I moor a boat at high tide?", "Leave a long line to the ring.", "guests.md"),
    ("Where is the ferry ticket office?", "Behind the lighthouse, on the left.", "guests.md"),
    (
        "Which knot ties the warp to the kedge anchor?",
        "The anchor bend. It is also called the fisherman's bend.",
        "sailors.faq",
    ),
    ("When does the harbour master sleep?", "Never.", "sailors.faq"),
]


def test_the_command(home: Path) -> None:
    assert entries(kedge(home, "faq", "list", "--collection", "help")["entries"]) == EXPECTED
    plain = ran(["--home", str(home), "faq", "list", "--collection", "help"])
    assert "When does the harbour master sleep?\n    Never." in plain.stdout
    missing = kedge(home, "faq", "list", "--collection", "none", code=1)
    assert missing["error"]["code"] == "not_found"
    assert "Questions with their answers." in ran(["--help"]).stdout


def test_the_blocking_facade(home: Path) -> None:
    done = ran_script(BLOCKING, str(home))
    assert done.returncode == 0, done.stderr
    assert entries(json.loads(done.stdout)) == EXPECTED


def test_doctor_lists_it(home: Path) -> None:
    report = kedge(home, "doctor")
    found = {one["name"]: one for one in report["checks"] if one["name"].startswith("plug-in ")}
    assert {name: one["found"] for name, one in found.items()} == {
        "plug-in kind faq": "of kind-faq 0.1.0",
        "plug-in format faq": "of kind-faq 0.1.0",
    }


def test_what_changed_is_taken_in_again_and_the_rest_is_not(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "faq")
    home = tmp_path / "home"
    assert kedge(home, "ingest", str(copy), "--kind", "faq")["passages_created"] == 4
    (copy / "sailors.faq").write_text(TOML.replace("Never.", "At noon."))
    again = kedge(home, "ingest", str(copy), "--kind", "faq")
    assert (again["files_skipped"], again["passages_created"], again["passages_deleted"]) == (1, 1, 1)
    assert kedge(home, "check")["problems"] == []


def test_a_file_that_is_no_list_of_entries_says_why(tmp_path: Path) -> None:
    (tmp_path / "bad.faq").write_text("[[entry]]\nquestion = 'Why?'\n")
    job = kedge(tmp_path / "home", "ingest", str(tmp_path / "bad.faq"), "--kind", "faq", code=1)
    assert job["errors"][0]["message"] == "Entry 1 of bad.faq lacks its question or its answer."


def test_the_server_and_the_client(home: Path, folder: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "home") as url, http_client(url) as http:
        sent = {"sources": [str(folder)], "kind": "faq", "collection": "help"}
        accepted = http.post("/api/ingest", json=sent).raise_for_status().json()
        assert follow(http, accepted["job_id"])["passages_created"] == 4
        assert entries(http.get("/api/faq/help").raise_for_status().json()["entries"]) == EXPECTED
        assert http.get("/api/faq/none").status_code == 404
        described = http.get("/openapi.json").json()
        assert described["paths"]["/api/faq/{collection}"]["get"]["tags"] == ["faq"]
        assert {"name": "faq", "description": "Questions with their answers."} in described["tags"]
        streamed = http.post("/api/query/stream", json={"query": QUESTION, "collection": "help"})
        kinds = [name for name, _ in events_of(streamed.text)]
        assert kinds[-2:] == ["metadata", "done"]
        assert kinds.count("citation") == 1
        client = ran_script(CLIENT, url)
        assert client.returncode == 0, client.stderr
        assert entries(json.loads(client.stdout)) == EXPECTED


def test_nothing_of_kedge_knows_it() -> None:
    known = [
        path.name
        for path in (ROOT / "src" / "kedge").rglob("*")
        if path.suffix in (".py", ".toml", ".sql") and "faq" in path.read_text("utf-8").lower()
    ]
    assert known == []
