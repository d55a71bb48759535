"""Packages that bring parts are listed by `kedge doctor`; broken ones are named there and skipped everywhere else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.forked import ran, ran_script
from tests.support.packages import put_package
from tests.support.surfaces import EMBEDDER, QUESTION

GOOD = """
from kedge.core.values import Block, BlockKind, ParsedDocument
from kedge.ingest.parse.ports import FileFormat, Segment

class Lines(FileFormat):
    name = "lines"
    suffixes = (".lines",)

    def segments(self, source):
        text = source.read().decode()
        yield Segment(0, ParsedDocument(text, (Block(BlockKind.PARAGRAPH, 0, len(text)),)))

LINES = Lines()
"""
KINDS = """
from kedge.kinds.documents.kind import DocumentsKind
from kedge.kinds.ports import CommandGroup, RouteGroup, Surfaces

class Noisy(DocumentsKind):
    name = "noisy"
    surfaces = Surfaces(
        commands=(
            CommandGroup("noisy", "Does not load.", "broken_parts.raises:app"),
            CommandGroup("typeless", "Is no group of commands.", "broken_parts.kinds:NUMBER"),
        ),
        routes=(RouteGroup("noisy", "Neither.", ("broken_parts.raises:router", "broken_parts.kinds:NUMBER")),),
        client="broken_parts.raises",
        blocking="broken_parts.kinds:Facade",
        blocking_name="noisy",
    )

class Closed(DocumentsKind):
    name = "closed"

    def open(self, parts):
        raise KeyError("no door")

class Facade:
    def __init__(self, kedge):
        raise ValueError("no front")

NUMBER, NOISY, CLOSED = 7, Noisy(), Closed()
"""
BROKEN = {
    "kedge.stores": {"vectors.nowhere": "broken_parts.nowhere:open_vectors", "vectors.memory": "broken_parts:x"},
    "kedge.models": {"embed.number": "broken_parts.kinds:NUMBER", "embed.driven": "broken_parts.driven:x [gpu]"},
    "kedge.formats": {"raising": "broken_parts.raises:FORMAT"},
    "kedge.kinds": {
        "raising": "broken_parts.raises:KIND",
        "leaving": "broken_parts.leaves:KIND",
        "missing": "broken_parts.kinds:MISSING",
        "number": "broken_parts.kinds:NUMBER",
        "noisy": "broken_parts.kinds:NOISY",
        "closed": "broken_parts.kinds:CLOSED",
    },
}
MODULES = {
    "broken_parts/__init__.py": "",
    "broken_parts/raises.py": "raise RuntimeError('not today')",
    "broken_parts/leaves.py": "raise SystemExit(0)",
    "broken_parts/driven.py": "import a_driver_that_nobody_has",
    "broken_parts/kinds.py": KINDS,
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("path")
    put_package(folder, "good-lines", {"kedge.formats": {"lines": "good_lines:LINES"}}, {"good_lines.py": GOOD}, "2.1")
    put_package(folder, "broken-parts", BROKEN, MODULES)
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return {**os.environ, "PYTHONPATH": path, "KEDGE_EMBEDDER": EMBEDDER}


def kedge(environment: dict[str, str], home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ran(["--home", str(home), *arguments], environment)


@pytest.fixture(scope="module")
def examined(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = kedge(environment, tmp_path_factory.mktemp("home") / "home", "doctor", "--json")
    assert done.returncode == 1, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_doctor_lists_what_was_found_by_group_with_its_package(examined: dict[str, Any]) -> None:
    listed = [tuple(one.values()) for one in examined["plugins"]]
    assert ("kedge.formats", "lines", "good-lines", "2.1") in listed
    assert {name for group, name, *_ in listed if group == "kedge.kinds"} >= {"documents", "raising", "closed"}
    assert {package for *_, package, _ in listed} == {"kedge", "good-lines", "broken-parts"}


def test_doctor_names_the_broken_ones(examined: dict[str, Any]) -> None:
    found = {one["name"]: one for one in examined["checks"] if one["name"].startswith("plug-in ")}
    assert found["plug-in format lines"]["status"] == "ok"
    assert found["plug-in format lines"]["found"] == "of good-lines 2.1"
    assert found["plug-in model embed.driven"]["status"] == "skipped"
    assert "broken-parts[gpu]" in found["plug-in model embed.driven"]["todo"]
    failed = {name: one["found"] for name, one in found.items() if one["status"] == "failed"}
    for name, why in {
        "store vectors.nowhere": "No module named 'broken_parts.nowhere'",
        "store vectors.memory": "kedge 0.",
        "model embed.number": "of the type int, no function",
        "format raising": "RuntimeError: not today",
        "kind raising": "RuntimeError: not today",
        "kind leaving": "SystemExit: 0",
        "kind missing": "has no attribute 'MISSING'",
        "kind number": "of the type int, no Kind",
        "kind noisy": "broken_parts.raises:router is left out: RuntimeError: not today",
    }.items():
        assert why in failed.pop(f"plug-in {name}"), name
    assert failed == {}
    assert all("broken-parts" in found[name]["todo"] for name in found if found[name]["status"] == "failed")


def test_the_rest_of_doctor_is_not_disturbed(examined: dict[str, Any]) -> None:
    others = [one for one in examined["checks"] if not one["name"].startswith("plug-in ")]
    assert [one for one in others if one["status"] == "failed"] == []
    (own,) = (one for one in others if one["name"] == "plug-ins")
    assert own["found"].startswith("Kedge's own: ")
    assert own["found"].endswith(" 5 kinds, 14 sources")


def test_the_program_works_with_what_is_whole_and_names_the_rest(environment: dict[str, str], tmp_path: Path) -> None:
    source = tmp_path / "knots.lines"
    source.write_text("The warp is tied to the ring of the kedge anchor with an anchor bend.")
    home = tmp_path / "home"
    done = kedge(environment, home, "ingest", str(source), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files_processed"] == 1
    for broken in ("raising", "leaving", "missing", "number"):
        assert broken in done.stderr
    assert "Traceback" not in done.stderr
    answer = kedge(environment, home, "ask", QUESTION, "--json")
    assert "anchor bend" in json.loads(answer.stdout)["answer"]


def test_a_broken_kind_that_is_asked_for_is_an_error_that_names_it(environment: dict[str, str], tmp_path: Path) -> None:
    source = tmp_path / "a.md"
    source.write_text("# A\n\nText.")
    done = kedge(environment, tmp_path / "home", "ingest", str(source), "--kind", "closed", "--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "broken_plugin"
    assert error["message"].startswith("The plug-in 'closed' of broken-parts 1.0 cannot be opened: KeyError")


def test_the_library_and_the_server_do_without_them(environment: dict[str, str], tmp_path: Path) -> None:
    script = """
import sys
from kedge import Kedge
from kedge.core.settings import load_settings
from kedge.surfaces.client import KedgeClient
from kedge.surfaces.server.app import create_app

with Kedge(sys.argv[1]) as kedge:
    print("sessions" in dir(kedge), hasattr(kedge, "noisy"))
paths = create_app(load_settings(home=sys.argv[1])).openapi()["paths"]
print("/api/graph/nodes" in paths)
with KedgeClient("http://127.0.0.1:9") as client:
    print(callable(client.nodes))
"""
    done = ran_script(script, str(tmp_path / "home"), environ=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "False", "True", "True"]
