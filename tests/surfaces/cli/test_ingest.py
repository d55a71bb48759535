"""`kedge ingest` and what one sees of it afterwards."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine
from kedge.stores.vectors.edge import EdgeVectors
from kedge.surfaces.cli import common
from tests.surfaces.cli.conftest import Kedge

ENDS = ("complete", "failed")
DEFAULT = Scope(DEFAULT_TENANT, "default")


@pytest.mark.req("D-10")
def test_ingest_reports_the_job(kedge: Kedge, corpus: Path) -> None:
    job = kedge("ingest", str(corpus), "--json").json()
    assert job["status"] == "complete"
    assert job["progress"] == 100
    assert job["files_processed"] == 3
    assert job["passages_created"] >= 3
    assert job["errors"] == []


def test_second_ingest_of_the_same_folder_changes_nothing(kedge: Kedge, corpus: Path) -> None:
    kedge("ingest", str(corpus))
    again = kedge("ingest", str(corpus), "--json").json()
    assert (again["files_processed"], again["files_skipped"], again["passages_created"]) == (0, 3, 0)


def test_text_output_says_what_was_done_and_progress_goes_to_stderr(kedge: Kedge, corpus: Path) -> None:
    ran = kedge("ingest", str(corpus), "--collection", "sea")
    assert ran.code == 0
    assert ran.out.startswith("sea: 3 documents taken in")
    assert "chunking" in ran.err or "embedding" in ran.err


def test_metadata_is_kept_and_can_be_filtered(kedge: Kedge, corpus: Path) -> None:
    kedge("ingest", str(corpus), "--meta", "shelf=harbour")
    found = kedge("search", "knot", "--filter", "shelf=harbour", "--json").json()["results"]
    assert found
    assert kedge("search", "knot", "--filter", "shelf=other", "--json").json()["results"] == []


def test_bad_metadata_is_wrong_usage(kedge: Kedge, corpus: Path) -> None:
    assert kedge("ingest", str(corpus), "--meta", "nonsense").code == 2


@pytest.mark.parametrize(("name", "content"), [("empty.md", b""), ("garbage.md", b"\x00\x01\x02\xff" * 200)])
def test_one_bad_file_fails_clearly(kedge: Kedge, tmp_path: Path, name: str, content: bytes) -> None:
    source = tmp_path / name
    source.write_bytes(content)
    ran = kedge("ingest", str(source))
    assert ran.code == 1
    assert name in ran.err


def test_bad_file_among_good_ones_is_reported_and_loses_nothing(kedge: Kedge, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nA reef knot ties up a sail.", "utf-8")
    (folder / "bad.md").write_bytes(b"\x00\x01\x02\xff" * 200)
    ran = kedge("ingest", str(folder))
    assert ran.code == 0
    assert "bad.md" in ran.err
    assert kedge("search", "reef knot", "--json").json()["results"][0]["title"] == "Good"


@pytest.mark.parametrize("there", [False, True])
def test_missing_path_or_empty_folder_fails(kedge: Kedge, tmp_path: Path, *, there: bool) -> None:
    if there:
        (tmp_path / "nowhere" / "deeper").mkdir(parents=True)
    ran = kedge("ingest", str(tmp_path / "nowhere"))
    assert ran.code == 1
    assert "nowhere" in ran.err
    assert "complete" not in ran.err
    assert kedge("collection", "list", "--json").json() == [], "no collection is made for a slip of the pen"


def test_a_folder_that_was_emptied_is_taken_out(kedge: Kedge, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "jib.md").write_text("# Jib\n\nThe jib is a small sail.\n")
    assert kedge("ingest", str(folder)).code == 0
    (folder / "jib.md").unlink()
    assert kedge("ingest", str(folder)).code == 0
    assert kedge("document", "list", "--json").json() == []


def test_unknown_mode_is_wrong_usage(kedge: Kedge, corpus: Path) -> None:
    ran = kedge("ingest", str(corpus), "--mode", "sideways", "--json")
    assert ran.code == 2
    assert ran.json()["error"]["code"] == "invalid_request"


def test_unknown_format_is_wrong_usage_and_the_known_ones_are_listed(kedge: Kedge, corpus: Path) -> None:
    ran = kedge("ingest", str(corpus), "--format", "wordstar", "--json")
    assert ran.code == 2
    assert ran.json()["error"]["code"] == "invalid_request"
    known = "code csv docx epub html mail markdown msg notebook odt pdf picture pptx rst rtf sheets text".split()
    assert ran.json()["error"]["hint"] == f"Known: {', '.join(known)}."


def test_interrupt_says_how_to_go_on(kedge: Kedge, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_self: object, _job: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("kedge.surfaces.cli.progress.StepLines.__call__", interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal; a test runner may ignore it
    try:
        ran = kedge("ingest", str(corpus))
    finally:
        signal.signal(signal.SIGINT, before)
    assert ran.code == 130
    assert common.INTERRUPTED in ran.err


@pytest.mark.req("D-10")
def test_jobs_are_listed_and_shown(kedge: Kedge, corpus: Path) -> None:
    job = kedge("ingest", str(corpus), "--json").json()
    assert [one["job_id"] for one in kedge("job", "list", "--json").json()] == [job["job_id"]]
    assert kedge("job", "show", job["job_id"], "--json").json()["status"] == "complete"
    assert "complete" in kedge("job", "show", job["job_id"]).out
    assert job["job_id"] in kedge("job", "list").out


def test_unknown_job_is_not_found(kedge: Kedge) -> None:
    ran = kedge("job", "show", "00000000-0000-0000-0000-000000000000", "--json")
    assert ran.code == 1
    assert ran.json()["error"]["code"] == "not_found"


def test_a_second_process_on_the_same_home_gets_a_clear_message(kedge: Kedge, tmp_path: Path) -> None:
    async def hold() -> tuple[int, str]:
        async with Engine.open(load_settings(home=tmp_path / "home")):
            ran = await asyncio.to_thread(kedge, "check", "--json")
            return ran.code, ran.json()["error"]["code"]

    assert asyncio.run(hold()) == (1, "home_busy")


def test_worker_once_runs_what_is_queued(kedge: Kedge) -> None:
    assert kedge("worker", "--once", "--json").json() == {"jobs": 0}


async def optimized_share(home: Path) -> float:
    """Points that were there when the search index was last built, of all there are."""
    async with Engine.open(load_settings(home=home)) as engine:
        collection = await engine.collection(DEFAULT)
        vectors = engine.stores.vectors
        assert isinstance(vectors, EdgeVectors)
        return await vectors.optimized(collection.index_name) / collection.passages


@pytest.mark.req("D-04")
def test_ingest_waits_for_the_search_index(
    kedge: Kedge, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kedge("ingest", str(corpus)).code == 0
    assert asyncio.run(optimized_share(tmp_path / "home")) == 0
    monkeypatch.setenv("KEDGE_OPTIMIZE_AFTER", "3")
    assert kedge("ingest", str(corpus)).code == 0
    assert asyncio.run(optimized_share(tmp_path / "home")) == 1
    assert kedge("search", "reef knot", "--json").json()["results"]


@pytest.mark.parametrize("command", [("worker", "--once"), ("collection", "reindex", "default")])
def test_a_search_index_that_was_given_up_is_built_later(
    kedge: Kedge, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("KEDGE_OPTIMIZE_AFTER", "3")

    async def leave_early() -> None:
        async with Engine.open(load_settings(home=tmp_path / "home")) as engine:
            await engine.ingest(IngestRequest(DEFAULT, (str(corpus),)))

    asyncio.run(leave_early())
    assert kedge("search", "reef knot", "--json").json()["results"]
    assert kedge(*command).code == 0
    assert asyncio.run(optimized_share(tmp_path / "home")) == 1
