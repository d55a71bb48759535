"""A few rounds of the chaos campaign on every store that runs here: killed processes, a broken network, readers.

`python -m benchmarks.chaos` does as many as there is time for.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.campaigns.chaos.rounds import run
from tests.campaigns.places import parts_of
from tests.services import need

SEED = 18


def chaos(stores: str, rounds: int) -> object:
    return pytest.param(stores, rounds, marks=pytest.mark.store("chaos", stores))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.req("D-18", "C-09", "G-09")
@pytest.mark.parametrize(
    ("stores", "rounds"),
    [
        chaos("embedded", 4),
        chaos("postgresql", 2),
        chaos("qdrant", 3),
        chaos("milvus", 3),
        chaos("neo4j+postgresql", 2),
    ],
)
def test_nothing_is_lost_mixed_or_orphaned(stores: str, rounds: int, tmp_path: Path) -> None:
    for part in parts_of(stores):
        if part != "qdrant":  # its engine runs in this process, behind its REST API
            need(part)
    report = asyncio.run(run(stores, rounds, SEED, tmp_path / "run"))
    assert report.violations == []
    assert report.rounds == rounds
    assert report.counts["acknowledged"] > 0
    assert report.counts["reads"] > 0
    assert report.counts["killed"] + report.counts["faults"] > 0
