"""Rules for the tests themselves."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support.paths import ROOT

TESTS = sorted((ROOT / "tests").rglob("*.py"))
WHOLE_PROCESS = (sys.stdlib_module_names | {"numpy", "np", "httpx", "duckdb"}) - {"sys"}
ALLOWED = {"tempfile.tempdir"}
"""Where temporary files go: nothing counts or fails in other threads."""


def _patched(path: Path) -> Iterator[str]:
    """What the file replaces with `setattr` of pytest's monkeypatch: the thing it belongs to, a dot, its name."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            target, *rest = node.args
            if isinstance(target, ast.Constant) and isinstance(target.value, str):
                yield target.value
            elif isinstance(target, ast.Name | ast.Attribute) and rest and isinstance(rest[0], ast.Constant):
                yield f"{ast.unparse(target)}.{rest[0].value}"


def test_no_test_replaces_a_function_for_the_whole_process() -> None:
    """`time.sleep` replaced is replaced for every thread: hand the thing in, or replace a module's own name."""
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in TESTS
        for name in _patched(path)
        if name.split(".")[-2] in WHOLE_PROCESS and name not in ALLOWED
    }
    assert found == set()


BESIDE_SOURCE = {"campaigns", "consistency", "contract", "hostile", "project", "services", "support"}
"""What CONTRIBUTING.md names beside the folders of the source."""
BELOW = {"engine/upgrade": "homes of earlier versions", "surfaces/page": "the page, in a browser"}
"""Folders of tests for what is no folder of the source, with what they test."""


def test_the_folders_mirror_the_source() -> None:
    source = ROOT / "src" / "kedge"
    folders = {path.parent.relative_to(ROOT / "tests") for path in TESTS} - {Path()}
    mirrored = {folder for folder in folders if folder.parts[0] not in BESIDE_SOURCE}
    assert sorted(str(folder) for folder in mirrored if not (source / folder).is_dir()) == sorted(BELOW)
    with_code = {path.name for path in source.iterdir() if (path / "__init__.py").exists()}
    assert with_code - {folder.parts[0] for folder in mirrored} == {"testing"}  # `contract` runs it
    assert {path.name for path in (ROOT / "tests").glob("*.py")} == {"__init__.py", "conftest.py"}
    named = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert [name for name in sorted(BESIDE_SOURCE) if f"`{name}/`" not in named] == []
