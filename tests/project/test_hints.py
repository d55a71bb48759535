"""Every fault of a caller says what to do: the errors that one meets by bad input are raised with a hint."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.paths import ROOT

FAULTS = frozenset("UsageError QueryError FilterError ConfigError NotFoundError ConflictError".split())
"""Without those that bring a hint of their own."""


def without_hint(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
            continue
        made = node.exc
        name = made.func.id if isinstance(made.func, ast.Name) else getattr(made.func, "attr", "")
        given = {keyword.arg for keyword in made.keywords}
        if name in FAULTS and "hint" not in given and None not in given and len(made.args) < 2:
            yield f"{source.relative_to(ROOT)}:{node.lineno} {name}"


def test_faults_of_callers_come_with_a_hint() -> None:
    assert [fault for source in sorted((ROOT / "src").rglob("*.py")) for fault in without_hint(source)] == []


def test_pages_that_the_code_names_are_there() -> None:
    sources = [path for path in sorted((ROOT / "src" / "kedge").rglob("*.py")) if "testing" not in path.parts]
    named = {
        page
        for path in sources
        for page in re.findall(r"\bdocs/[a-z]+(?:-[a-z]+)*/[\w-]+\.md", path.read_text("utf-8"))
    }
    assert len(named) > 5
    assert [page for page in sorted(named) if not (ROOT / page).is_file()] == []
