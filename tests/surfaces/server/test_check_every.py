"""The server compares and repairs its stores by itself when told to (G-09)."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import httpx
import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine
from tests.support.serving import served
from tests.support.surfaces import EMBEDDER, http_client

SCOPE = Scope(DEFAULT_TENANT, "default")


async def spoil(home: Path, corpus: Path) -> None:
    """A home whose vector store has lost something."""
    async with Engine.open(load_settings(environ={}, home=home, embedder=EMBEDDER)) as engine:
        await engine.ingest(IngestRequest(SCOPE, (str(corpus),)))
        index = (await engine.collection(SCOPE)).index_name
        ids = [key async for batch in engine.stores.vectors.ids(index, DEFAULT_TENANT) for key in batch]
        await engine.stores.vectors.delete(index, DEFAULT_TENANT, ids[:2])


async def problems(home: Path) -> int:
    async with Engine.open(load_settings(environ={}, home=home, embedder=EMBEDDER)) as engine:
        return len((await engine.check()).problems)


@pytest.mark.req("G-09", "D-18")
def test_drift_is_repaired_and_counted(tmp_path: Path, corpus: Path) -> None:
    home = tmp_path / "home"
    asyncio.run(spoil(home, corpus))
    settings = load_settings(environ={}, home=home, embedder=EMBEDDER, check_every=0.2)
    with served(settings) as url, http_client(url) as client:
        shown = until(client, 'kedge_checks_total{result="clean"}')
    assert 'kedge_checks_total{result="repaired"} 1' in shown
    assert 'kedge_check_problems_total{kind="missing_vectors"} 2' in shown
    assert asyncio.run(problems(home)) == 0


def until(client: httpx.Client, metric: str, seconds: float = 60) -> str:
    """Ask for the metrics until one is there."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        shown = client.get("/metrics").raise_for_status().text
        if metric in shown:
            return shown
    raise AssertionError(f"{metric} did not appear within {seconds} s")
