"""Killed at any statement, the catalog is sound and holds exactly the transactions that were acknowledged."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from kedge.core.settings import Settings
from kedge.stores.catalog.memory.catalog import MemoryCatalog
from kedge.stores.catalog.ports import Catalog
from kedge.stores.catalog.sql.catalog import open_catalog
from kedge.testing.catalog.sample import life, observe

VICTIM = Path(__file__).with_name("catalog_victim.py")
STRIDE = 5
"""Every how manieth statement the victim dies at: odd, so that it meets beginnings, middles and ends alike."""


async def states(catalog: Catalog) -> list[dict[str, object]]:
    seen = [await observe(catalog)]
    for step in life():
        await step(catalog)
        seen.append(await observe(catalog))
    return seen


async def left_behind(file: Path) -> dict[str, object]:
    catalog = open_catalog(f"sqlite:///{file}", Settings())
    try:
        assert await catalog.integrity() == []
        return await observe(catalog)
    finally:
        await catalog.close()


@pytest.mark.req("D-09", "D-18")
def test_a_kill_at_any_statement_loses_nothing_and_tears_nothing(tmp_path: Path) -> None:
    command = [sys.executable, str(VICTIM), str(tmp_path), str(STRIDE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    *deaths, last = done.stdout.splitlines()
    assert last == "done"
    expected = asyncio.run(states(MemoryCatalog()))
    assert len(deaths) > len(expected), "the victim did not die often enough to mean anything"
    inside = 0
    for die_at, acknowledged in (map(int, line.split()) for line in deaths):
        found = asyncio.run(left_behind(tmp_path / f"{die_at}.db"))
        possible = expected[acknowledged : acknowledged + 2]
        assert found in possible, f"killed at statement {die_at}, after {acknowledged} steps"
        inside += found == possible[0]
    assert inside > len(deaths) / 2, "most kills fall inside a transaction, which then must not have happened"
