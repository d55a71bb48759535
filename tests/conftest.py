"""Shared fixtures."""

from __future__ import annotations

import os
from collections import Counter, defaultdict

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["kedge.testing"]

settings.register_profile(
    "kedge", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.load_profile("kedge")


LONG = ("backup", "consistency", "upgrade", "page", "hostile", "server", "courses")
"""Folders of files that take long though they hold few tests: begun first, so that no process ends with one."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: many tests wait for a server, a browser or a process of their own."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folders = [*LONG, ""]
    items.sort(key=lambda item: folders.index(item.path.parent.name if item.path.parent.name in LONG else ""))
    for item in items:
        mark = item.get_closest_marker("store")
        if mark is not None:  # a property travels with the report, also from another process
            item.user_properties.append(("store", f"{mark.args[0]}/{mark.args[1]}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One table of which store contracts ran and which did not, with the reason."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, str] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            row = dict(getattr(report, "user_properties", ())).get("store")
            if row is None:
                continue
            counts[row][outcome] += 1
            if outcome == "skipped" and isinstance(report.longrepr, tuple):
                reasons[row] = report.longrepr[2].removeprefix("Skipped: ")
    if not counts:
        return
    terminalreporter.section("stores and their contract tests")
    for row, seen in sorted(counts.items()):
        part, _, name = row.partition("/")
        tally = ", ".join(f"{seen[outcome]} {outcome}" for outcome in seen)
        terminalreporter.write_line(f"{part:8} {name:12} {tally}  {reasons.get(row, '')}".rstrip())
