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
PARSERS = {"pdfplumber", "pypdfium2", "selectolax", "charset_normalizer", "yaml"}
SERVER = {"fastapi", "starlette", "uvicorn", "mcp", "watchfiles"}
HEAVY = MODELS | STORES | PARSERS | SERVER


def modules_after(code: str) -> set[str]:
    """What a fresh interpreter has loaded in the end."""
    told = "\nimport json as j, sys\nprint('\\n' + j.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code + told], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def run_code(*arguments: str) -> str:
    return f"from kedge.surfaces.cli.main import run\nassert run({list(arguments)!r}) == 0"


def test_the_package_alone_loads_nothing() -> None:
    found = modules_after("import kedge\nassert kedge.__version__")
    assert {name for name in found if name.startswith("kedge")} == {"kedge", "kedge._version"}
    assert found & (HEAVY | {"pydantic", "httpx", "rich", "typer", "asyncio", "logging"}) == set()


@pytest.mark.parametrize(
    "code", ["import kedge.client", "from kedge import AsyncKedgeClient, KedgeClient", "import kedge.surfaces.client"]
)
def test_the_clients_load_no_engine(code: str) -> None:
    found = modules_after(code)
    assert "httpx" in found
    assert found & (HEAVY | ENGINE | {"pydantic"}) == set()
    folders = {".".join(name.split(".")[:2]) for name in found if name.startswith("kedge.")}
    assert folders <= {"kedge._version", "kedge.core", "kedge.surfaces", "kedge.client"}


def test_calls_of_kinds_load_no_engine() -> None:
    found = modules_after("from kedge import KedgeClient\nassert KedgeClient().lessons")
    assert found & (HEAVY | ENGINE - {"kedge.stores"} | {"pydantic"}) == set()


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_help_loads_no_command(arguments: tuple[str, ...]) -> None:
    found = modules_after(run_code(*arguments))
    assert (
        found & (HEAVY | ENGINE | {"pydantic", "asyncio", "httpx", "kedge.core.settings", "kedge.core.values"}) == set()
    )
    assert {name for name in found if name.startswith("kedge.surfaces.cli.")} == {
        "kedge.surfaces.cli.main",
        "kedge.surfaces.cli.lazy",
        "kedge.surfaces.cli.options",
    }
    assert {name for name in found if name.startswith("kedge.kinds.") and name.count(".") > 2} == {
        f"kedge.kinds.{kind}.kind" for kind in ("courses", "documents", "graphs", "tables")
    }


@pytest.mark.parametrize(
    "noun", ["ask", "ingest", "collection", "document", "job", "key", "serve", "worker", "mcp", "session", "graph"]
)
def test_the_help_of_a_command_loads_no_engine(noun: str) -> None:
    found = modules_after(run_code(noun, "--help"))
    assert found & (HEAVY | {"httpx", "kedge.engine.engine", "kedge.ingest", "kedge.retrieve"}) == set()


@pytest.mark.parametrize("arguments", [("key", "list"), ("analytics", "show")])
def test_commands_over_the_catalog_load_no_engine(arguments: tuple[str, ...], tmp_path: Path) -> None:
    run_there = ("--home", str(tmp_path / "home"), *arguments)
    assert run(run_there) == 0  # makes the tables
    found = modules_after(run_code(*run_there))
    assert found & ((HEAVY - {"sqlalchemy", "Stemmer"}) | {"kedge.engine.engine", "kedge.retrieve"}) == set()


@pytest.mark.parametrize("arguments", [("collection", "list"), ("document", "list"), ("job", "list")])
def test_lists_load_no_models(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """With a collection of documents and one of a table in the home."""
    notes, sales = tmp_path / "notes.md", tmp_path / "sales.csv"
    notes.write_text("# Kedge\n\nA kedge is a light anchor.\n", "utf-8")
    sales.write_text("item,price\nrope,3\nanchor,90\n", "utf-8")
    home = ("--home", str(tmp_path / "home"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEDGE_EMBEDDER", EMBEDDER)
        assert run([*home, "ingest", str(notes)]) == 0
        assert run([*home, "ingest", str(sales), "--kind", "table", "--collection", "sales"]) == 0
    found = modules_after(run_code(*home, *arguments))
    without = {"onnxruntime", "tokenizers", "duckdb", "alembic", "httpx"} | PARSERS | SERVER
    assert found & (without | {"kedge.retrieve", "kedge.ingest.parse"}) == set()
