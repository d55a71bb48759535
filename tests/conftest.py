"""Shared fixtures."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["kedge.testing"]

settings.register_profile(
    "kedge", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.load_profile("kedge")


MEMORY = Path("/dev/shm")
ROOM = 6 << 30
"""Bytes that have to be free there, and in memory at all; a whole run keeps less than half of it at a time."""


def _keep_files_in_memory() -> None:
    """Let temporary files lie in memory, where there is room.

    Homes are made, written and flushed thousands of times, and a disk takes most of the time of that. A process that is
    killed leaves the same behind. `TMPDIR` names another place.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    told = dict(line.split(":") for line in Path("/proc/meminfo").read_text("utf-8").splitlines())
    available = int(told["MemAvailable"].split()[0]) << 10
    if min(available, shutil.disk_usage(MEMORY).free) >= ROOM:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # to be looked up again


_keep_files_in_memory()

LONG = ("backup", "consistency", "upgrade", "page", "hostile", "server", "courses")
"""Folders of files that take long though they hold few tests: begun first, so that no process ends with one."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two processes more than there are cores: many tests wait for a server, a browser or a process of their own."""
    return (os.cpu_count() or 1) + 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folders = [*LONG, ""]
    items.sort(key=lambda item: folders.index(item.path.parent.name if item.path.parent.name in LONG else ""))
    for item in items:
        mark = item.get_closest_marker("store")
        if mark is not None:  # a property travels with the report, also from another process
            item.user_properties.append(("store", f"{mark.args[0]}/{mark.args[1]}"))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: garbage is not looked for in it again."""
    gc.collect()
    gc.freeze()


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
