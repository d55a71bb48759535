"""The table of docs/security.md is true: every test it names is there, and every threat names one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ((?:`tests/[^`]+`(?:, )?)+) \|$", PAGE, re.MULTILINE)
NAMED = sorted({name for _, _, tests in ROWS for name in re.findall(r"`(tests/[^`]+)`", tests)})


def collected(path: Path) -> set[str]:
    """Names of the test functions of a file, also of those in classes."""
    tree = ast.parse(path.read_text("utf-8"))
    found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return {name for name in found if name.startswith("test_")}


def test_every_row_of_the_table_is_read() -> None:
    body = PAGE.split("## Threats")[1].split("\n## ")[0]
    lines = [line for line in body.splitlines() if line.startswith("| ") and not line.startswith("| threat")]
    assert len(lines) == len(ROWS) >= 25


@pytest.mark.parametrize("name", NAMED)
def test_every_test_that_is_named_is_there(name: str) -> None:
    file, _, function = name.partition("::")
    assert (ROOT / file).is_file(), file
    assert function in collected(ROOT / file), name
