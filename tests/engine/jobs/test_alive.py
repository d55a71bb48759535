"""How many workers live: known in one process, and among several by their heartbeat."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kedge.core.settings import load_settings
from kedge.engine.engine import Engine
from tests.contract.postgresql import url_of


async def count(**settings: Any) -> list[int]:
    """Before, while and after a worker runs."""
    async with Engine.open(load_settings(environ={}, embedder="hash:64", **settings)) as engine:
        found = [await engine.workers()]
        engine.start_worker()
        while not (alive := await engine.workers()):
            await engine.health()  # lets the worker begin
        await engine.stop_worker()
        return [*found, alive, await engine.workers()]


def test_in_one_process(tmp_path: Path) -> None:
    assert asyncio.run(count(home=tmp_path)) == [0, 1, 0]


@pytest.mark.store("workers", "postgresql")
def test_among_several(tmp_path: Path) -> None:
    url = url_of(tmp_path)
    assert asyncio.run(count(home=tmp_path, catalog_url=url, vector_url=url, worker_timeout=3)) == [0, 1, 0]
