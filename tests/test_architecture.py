"""Imports point one way: a module imports from its own layer or from those below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "kedge"
LAYERS = (
    ("types", "errors", "ids", "urls", "stages", "threads", "notebook"),
    ("text", "triples", "config", "logs"),
    ("stores", "models"),
    ("registry", "telemetry", "tracing", "home", "queues"),
    ("ingest", "retrieve", "answer", "tables", "graphs"),
    ("kinds",),
    (
        "keeper",
        "upkeep",
        "reindex",
        "intake",
        "doctor",
        "sessions",
        "nodekeeper",
        "keys",
        "oidc",
        "readiness",
        "retention",
    ),
    ("engine",),
    ("sync", "sync_courses", "shapes", "testing", "backup", "client", "integrations"),
    ("evals", "server", "mcp_server", "cli"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
BESIDE = {
    ("ingest", "retrieve"),
    ("retrieve", "ingest"),
    ("ingest", "answer"),
    ("retrieve", "answer"),
    ("server", "cli"),
}
"""Neighbours in one layer that must not know each other, in this direction."""


def imports() -> Iterator[tuple[str, str, str]]:
    """(file, its part, imported part) for every import inside the package, also those inside functions."""
    for path in SOURCE.rglob("*.py"):
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kedge."):
                yield str(path.relative_to(SOURCE)), own, (node.module or "").split(".")[1]


def test_every_part_has_a_layer() -> None:
    parts = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert parts - {"__init__", "__pycache__", "py.typed", "data"} == set(LEVEL)


def test_imports_point_down() -> None:
    upward = [f"{file}: {own} → {other}" for file, own, other in imports() if LEVEL[other] > LEVEL[own]]
    typing_only = ["types.py: types → stores"]  # the filter in `Query`, for type checkers alone
    assert [line for line in upward if line not in typing_only] == []


def test_neighbours_do_not_know_each_other() -> None:
    crossed = [f"{file}: {own} → {other}" for file, own, other in imports() if (own, other) in BESIDE]
    assert crossed == []


def test_only_config_reads_the_environment() -> None:
    readers = [
        str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if "os.environ" in path.read_text("utf-8")
    ]
    assert readers == ["config.py"]
