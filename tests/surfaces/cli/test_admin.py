"""Collections, documents, check, demo, and the command itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kedge as package
from kedge.surfaces.cli.main import run
from tests.support.surfaces import EMBEDDER
from tests.surfaces.cli.conftest import Kedge


def test_version(kedge: Kedge) -> None:
    ran = kedge("--version")
    assert (ran.code, ran.out) == (0, f"kedge {package.__version__}\n")


def test_help_of_every_command_works(kedge: Kedge) -> None:
    for words in (["--help"], ["ask", "--help"], ["collection", "--help"], ["collection", "list", "--help"]):
        ran = kedge(*words)
        assert ran.code == 0
        assert "--home" in ran.out or "list" in ran.out


@pytest.mark.parametrize("arguments", [["fly"], ["ask"], ["ask", "why", "--wings"], ["collection", "fly"]])
def test_wrong_usage_exits_with_2(kedge: Kedge, arguments: list[str]) -> None:
    ran = kedge(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert "error:" in ran.err
    assert "--help" in ran.err
    assert kedge(*arguments, "--json").json()["error"]["code"] == "invalid_request"


def test_bad_settings_name_every_fault(kedge: Kedge, tmp_path: Path) -> None:
    config = tmp_path / "kedge.toml"
    config.write_text('threshold = 7\nport = "x"\n', "utf-8")
    ran = kedge("collection", "list", "--config", str(config), "--json")
    assert ran.code == 2
    assert ran.json()["error"]["code"] == "invalid_config"
    assert len(ran.json()["error"]["details"]["faults"]) == 2


def test_config_file_is_read(kedge: Kedge, tmp_path: Path, corpus: Path) -> None:
    config = tmp_path / "kedge.toml"
    config.write_text('collection = "shelf"\n', "utf-8")
    kedge("ingest", str(corpus), "--config", str(config))
    assert [one["name"] for one in kedge("collection", "list", "--json").json()] == ["shelf"]


def test_collections(kedge: Kedge, corpus: Path) -> None:
    kedge("ingest", str(corpus), "--collection", "sea")
    shown = kedge("collection", "show", "sea", "--json").json()
    assert (shown["name"], shown["documents"]) == ("sea", 3)
    assert "sea" in kedge("collection", "list").out
    assert "sea" in kedge("collection", "show", "sea").out
    assert kedge("collection", "delete", "sea", "--json").code == 2, "nobody can be asked"
    assert kedge("collection", "delete", "sea", "--yes", "--json").json() == {"deleted": "sea"}
    assert kedge("collection", "list", "--json").json() == []
    assert kedge("collection", "show", "sea", "--json").json()["error"]["code"] == "not_found"


def test_reindex_with_another_embedder(kedge: Kedge, corpus: Path) -> None:
    kedge("ingest", str(corpus), "--collection", "sea")
    done = kedge("collection", "reindex", "sea", "--embedder", "hash:128", "--json").json()
    assert (done["dimension"], done["generation"]) == (128, 2)
    assert kedge("search", "anchor bend", "--collection", "sea", "--json").json()["results"]


@pytest.mark.req("D-19")
def test_reindex_and_back(kedge: Kedge, corpus: Path) -> None:
    kedge("ingest", str(corpus), "--collection", "sea")
    done = kedge("collection", "reindex", "sea", "--embedder", "hash:128", "--json").json()
    assert done["other_indexes"] == [
        {"embedder": EMBEDDER, "dimension": 256, "state": "kept", "passages": done["passages"]}
    ]
    back = kedge("collection", "reindex", "sea", "--rollback", "--json").json()
    assert (back["embedder"], back["generation"]) == (EMBEDDER, 1)
    assert kedge("collection", "show", "sea", "--json").json()["other_indexes"][0]["embedder"] == "hash:128"
    assert kedge("collection", "reindex", "sea", "--discard", "--json").json()["other_indexes"] == []
    lost = kedge("collection", "reindex", "sea", "--rollback")
    assert lost.code == 1
    assert "no former index" in lost.err
    dropped = kedge("collection", "reindex", "sea", "--embedder", "hash:128", "--drop-old", "--json").json()
    assert dropped["other_indexes"] == []
    assert kedge("collection", "reindex", "sea", "--rollback", "--discard").code == 2
    assert kedge("check", "--json").json()["ok"] is True


@pytest.mark.req("D-10")
def test_documents(kedge: Kedge, corpus: Path) -> None:
    kedge("ingest", str(corpus))
    found = kedge("document", "list", "--json").json()
    assert {one["title"] for one in found} == {"Kedge anchor", "Anchor bend", "Spring tides"}
    assert {one["status"] for one in found} == {"active"}
    bend = next(one["document_id"] for one in found if one["title"] == "Anchor bend")
    shown = kedge("document", "show", bend, "--json").json()
    assert len(shown["passages"]) == shown["chunk_count"]
    assert "Anchor bend" in kedge("document", "show", bend).out
    assert kedge("document", "delete", bend, "--yes", "--json").json()["status"] == "archived"
    assert len(kedge("document", "list", "--json").json()) == 2
    titles = [one["title"] for one in kedge("search", "anchor bend", "--json").json()["results"]]
    assert "Anchor bend" not in titles


def test_unknown_document_is_not_found(kedge: Kedge) -> None:
    ran = kedge("document", "show", "00000000-0000-0000-0000-000000000000")
    assert ran.code == 1
    assert "error:" in ran.err


def test_check_is_content_with_a_sound_home(kedge: Kedge, corpus: Path) -> None:
    kedge("ingest", str(corpus))
    report = kedge("check", "--json")
    assert report.code == 0
    assert report.json()["ok"] is True
    assert "agree" in kedge("check", "--repair").out


def test_demo_answers_two_and_refuses_one(kedge: Kedge) -> None:
    ran = kedge("demo", "--json")
    assert ran.code == 0
    shown = ran.json()
    assert shown["job"]["files_failed"] == 0
    assert len(shown["answers"]) == 3
    assert shown["answers"][2]["confidence"] == "insufficient"
    text = kedge("demo").out
    assert "kedge ingest YOUR_FOLDER" in text
    assert "kedge serve" in text


@pytest.mark.slow
@pytest.mark.req("D-13")
def test_demo_with_the_real_embedder(kedge: Kedge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEDGE_EMBEDDER")
    plain, joined, foreign = kedge("demo", "--json").json()["answers"]
    assert plain["citations"]
    assert "at least 5 : 1" in plain["answer"]
    assert "fisherman's bend" in joined["answer"]
    assert foreign["confidence"] == "insufficient"


def test_the_module_runs_as_a_process(tmp_path: Path) -> None:
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "kedge.surfaces.cli.main",
            "collection",
            "list",
            "--json",
            "--home",
            str(tmp_path / "home"),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "KEDGE_EMBEDDER": "hash"},
    )
    assert ran.stdout == "[]\n"


def test_run_returns_exit_codes() -> None:
    assert run(["--version"]) == 0
