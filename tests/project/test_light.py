"""What is loaded from outside: the package, its clients and the help of the command load no engine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kedge.surfaces.cli.main import run
from tests.support.surfaces import EMBEDDER

ENGINE = {"kedge.engine", "kedge.models", "kedge.stores", "kedge.ingest", "kedge.retrieve", "kedge.answer"}
MODELS = {"numpy", "onnxruntime", "tokenizers", "duckdb", "qdrant_edge", "Stemmer"}
STORES = {"sqlalchemy", "alembic"}
PARSERS = {"olefile", "pypdfium2", "rapidocr", "selectolax", "charset_normalizer", "yaml"}
SERVER = {"fastapi", "starlette", "uvicorn", "mcp", "watchfiles"}
HEAVY = MODELS | STORES | PARSERS | SERVER


def modules_after(*codes: str) -> list[set[str]]:
    """What a fresh interpreter has loaded after each of the codes, which it runs one after the other.

    What a later one must not load, no earlier one may have loaded either: so each is judged at least as strictly as in
    an interpreter of its own.
    """
    told = "\nimport json as j, sys\nprint('\\n\\0' + j.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code + told for code in codes)], capture_output=True, text=True, check=True
    )
    return [set(json.loads(line[1:])) for line in done.stdout.splitlines() if line.startswith("\0")]


def run_code(*arguments: str) -> str:
    return f"from kedge.surfaces.cli.main import run\nassert run({list(arguments)!r}) == 0"


def test_the_package_alone_loads_nothing() -> None:
    (found,) = modules_after("import kedge\nassert kedge.__version__")
    assert {name for name in found if name.startswith("kedge")} == {"kedge", "kedge._version"}
    assert found & (HEAVY | {"pydantic", "httpx", "rich", "typer", "asyncio", "logging"}) == set()


def test_the_clients_load_no_engine() -> None:
    *clients, kinds = modules_after(
        "import kedge.client",
        "from kedge import AsyncKedgeClient, KedgeClient",
        "import kedge.surfaces.client",
        "assert KedgeClient().lessons",
    )
    for found in clients:
        assert "httpx" in found
        assert found & (HEAVY | ENGINE | {"pydantic"}) == set()
        folders = {".".join(name.split(".")[:2]) for name in found if name.startswith("kedge.")}
        assert folders <= {"kedge._version", "kedge.core", "kedge.surfaces", "kedge.client"}
    assert kinds & (HEAVY | ENGINE - {"kedge.stores"} | {"pydantic"}) == set()


HELPED = ("ask", "ingest", "collection", "document", "job", "key", "serve", "worker", "mcp", "session", "graph")


def test_help_loads_no_command_and_that_of_a_command_no_engine() -> None:
    version, whole, *of_nouns = modules_after(
        run_code("--version"), run_code("--help"), *(run_code(noun, "--help") for noun in HELPED)
    )
    without = HEAVY | ENGINE | {"pydantic", "asyncio", "httpx", "kedge.core.settings", "kedge.core.values"}
    for found in (version, whole):
        assert found & without == set()
        assert {name for name in found if name.startswith("kedge.surfaces.cli.")} == {
            "kedge.surfaces.cli.main",
            "kedge.surfaces.cli.interrupted",
            "kedge.surfaces.cli.lazy",
            "kedge.surfaces.cli.options",
        }
        assert {name for name in found if name.startswith("kedge.kinds.") and name.count(".") > 2} == {
            f"kedge.kinds.{kind}.kind" for kind in ("courses", "documents", "foreign", "graphs", "tables")
        }
    for noun, found in zip(HELPED, of_nouns, strict=True):
        assert found & (HEAVY | {"httpx", "kedge.engine.engine", "kedge.ingest", "kedge.retrieve"}) == set(), noun


def test_commands_over_the_catalog_load_no_engine(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path / "home"))
    commands = [(*home, "key", "list"), (*home, "analytics", "show")]
    assert run(commands[0]) == 0  # makes the tables
    for found in modules_after(*(run_code(*words) for words in commands)):
        assert found & ((HEAVY - {"sqlalchemy", "Stemmer"}) | {"kedge.engine.engine", "kedge.retrieve"}) == set()


def test_lists_load_no_models(tmp_path: Path) -> None:
    """With a collection of documents and one of a table in the home."""
    notes, sales = tmp_path / "notes.md", tmp_path / "sales.csv"
    notes.write_text("# Kedge\n\nA kedge is a light anchor.\n", "utf-8")
    sales.write_text("item,price\nrope,3\nanchor,90\n", "utf-8")
    home = ("--home", str(tmp_path / "home"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEDGE_EMBEDDER", EMBEDDER)
        assert run([*home, "ingest", str(notes)]) == 0
        assert run([*home, "ingest", str(sales), "--kind", "table", "--collection", "sales"]) == 0
    lists = [(*home, noun, "list") for noun in ("collection", "document", "job")]
    without = {"onnxruntime", "tokenizers", "duckdb", "alembic", "httpx"} | PARSERS | SERVER
    for words, found in zip(lists, modules_after(*(run_code(*words) for words in lists)), strict=True):
        assert found & (without | {"kedge.retrieve", "kedge.ingest.parse"}) == set(), words
