"""`python -m tests.project.requirements`: writes docs/reference/requirements.md from the tests' marks.

`requirements.json` holds every id with its sentence, and the page of `docs/decisions` where Kedge differs on purpose.
Which tests name an id (`@pytest.mark.req`) and on which engines they run (`@pytest.mark.store`) is asked of pytest
itself, so that contract suites count for every store that binds them.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "requirements.md"
SAID = Path(__file__).with_name("requirements.json")
DEFAULT = "default install"
HEADINGS = {"D": "Documents", "C": "Courses", "Q": "SQL vector search", "T": "Tables", "G": "Graphs"}
Found = dict[str, dict[str, set[str]]]
"""Id → `file::test` → engines."""

HEAD = """# What Kedge must do, and which tests say so

Written by `python -m tests.project.requirements`; a test checks that it is up to date. Every requirement stands with
the tests that name it and the engines that these run on: “default install” is SQLite, Qdrant Edge and DuckDB in the
process, the others are real servers (`make services`) unless their name says what stands in for one. A test that needs
a server is skipped where it cannot run; `make test` prints which. No InterSystems IRIS and no Qdrant server can be had
where Kedge is tested: statements for IRIS are read by the documented grammar and run on SQLite, calls to Qdrant go to
its engine.
"""


class Gathering:
    """A plugin that keeps what was collected."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.items += items


def named_by(items: Iterable[pytest.Item]) -> Found:
    """Which of the tests name which id."""
    found: Found = defaultdict(lambda: defaultdict(set))
    for item in items:
        engines = {" ".join(map(str, mark.args[1:])) for mark in item.iter_markers("store")} or {DEFAULT}
        name = item.nodeid.partition("[")[0]
        for mark in item.iter_markers("req"):
            for key in mark.args:
                found[key][name] |= engines
    return found


def gathered() -> Found:
    """Which tests name which id, without running any. SystemExit when they cannot be collected."""
    plugin = Gathering()
    said = io.StringIO()
    options = ["--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider", str(ROOT / "tests")]
    with contextlib.redirect_stdout(said):
        code = pytest.main(options, plugins=[plugin])
    if code:
        sys.exit(f"the tests cannot be collected:\n{said.getvalue()[-2000:]}")
    return named_by(plugin.items)


def known() -> dict[str, dict[str, str]]:
    """Every id with its `text`, and `decision` where there is one; in order."""
    found: dict[str, dict[str, str]] = json.loads(SAID.read_text("utf-8"))
    return found


def page(found: Mapping[str, Mapping[str, set[str]]]) -> str:
    """The whole page."""
    lines = [HEAD]
    letter = ""
    for key, one in known().items():
        if key[0] != letter:
            letter = key[0]
            lines.append(f"## {letter} · {HEADINGS[letter]}\n")
        lines.append(f"### {key}\n\n{one['text']}\n")
        if "decision" in one:
            lines.append(f"Kedge differs on purpose: [decision](../decisions/{one['decision']}).\n")
        tests = found.get(key, {})
        if tests:
            lines.append("| tests | engines |\n|---|---|\n" + "\n".join(_rows(tests)) + "\n")
        elif "decision" not in one:
            lines.append("No test names it yet.\n")
    return "\n".join(lines)


def _rows(tests: Mapping[str, set[str]]) -> list[str]:
    """A row for each file, its tests by name."""
    files: dict[str, dict[str, Any]] = {}
    for name, engines in sorted(tests.items()):
        file, _, test = name.partition("::")
        row = files.setdefault(file, {"tests": [], "engines": set()})
        row["tests"].append(test.rpartition("::")[2])
        row["engines"] |= engines
    return [
        f"| `{file}`: {', '.join(f'`{test}`' for test in row['tests'])} | {', '.join(sorted(row['engines']))} |"
        for file, row in files.items()
    ]


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(gathered()), "utf-8")


if __name__ == "__main__":
    main()
