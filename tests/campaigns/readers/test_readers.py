"""Whoever asks gets exactly what they would get were the rest not there, on every surface."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kedge.core.settings import load_settings
from tests.campaigns.readers.attempts import Compared, compare
from tests.campaigns.readers.world import World, opened_world

MEMORY: dict[str, Any] = {"catalog_url": "memory:", "vector_url": "memory:", "graph_url": "memory:"}


@pytest.mark.parametrize("stores", ["memory", "embedded"])
def test_everybody_gets_what_a_home_of_their_own_would_give(tmp_path: Path, stores: str) -> None:
    report = _run(tmp_path, stores, 160)
    assert report.leaks == []
    assert report.found > 30


def test_a_catalog_that_narrows_nothing_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: with rights that nobody asks for, marks come back."""

    def blind(world: World) -> None:
        catalog: Any = world.main.engine.stores.catalog
        state = catalog.documents._state
        monkeypatch.setattr(type(state), "seen", lambda self, scope: self.within(scope))

    report = _run(tmp_path, "memory", 60, blind)
    assert any("sees" in leak for leak in report.leaks)


def _run(folder: Path, stores: str, count: int, before: Any = None) -> Compared:
    urls = MEMORY if stores == "memory" else {}
    settings = load_settings(environ={}, home=folder / "home", embedder="hash:64", **urls)
    report = Compared()

    async def story() -> None:
        async with opened_world(settings, folder / "world", seed=7) as world:
            if before is not None:
                before(world)
            await compare(world, 7, count, report)

    asyncio.run(story())
    return report
