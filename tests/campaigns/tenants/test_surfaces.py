"""No tenant reaches another's knowledge, whatever it sends, on any surface."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request

from kedge.core.settings import load_settings
from kedge.engine.engine import Engine
from kedge.surfaces.server.app import create_app
from kedge.surfaces.server.deps import CallerDep, reader, writer
from tests.campaigns.tenants.campaign import Plan, campaign
from tests.campaigns.tenants.crossing import Crosser, Report, unchanged, views
from tests.campaigns.tenants.recipes import RECIPES
from tests.campaigns.tenants.world import OWNER, plant, settled

EMBEDDER = "hash:64"
PLANS = {
    "memory": Plan(http=2 * len(RECIPES), engine=40, mcp=12),
    "embedded": Plan(http=len(RECIPES), engine=20, mcp=8, facade=18, cli=5),
}
MEMORY: dict[str, Any] = {"catalog_url": "memory:", "vector_url": "memory:", "graph_url": "memory:"}


def test_every_address_has_attempts_to_cross(tmp_path: Path) -> None:
    """A new address without a recipe fails here."""
    schema = create_app(load_settings(environ={}, home=tmp_path / "home")).openapi()
    served = {f"{method.upper()} {path}" for path, methods in schema["paths"].items() for method in methods}
    assert set(RECIPES) == served


@pytest.mark.parametrize("stores", list(PLANS))
def test_nobody_crosses(tmp_path: Path, stores: str) -> None:
    urls: dict[str, Any] = MEMORY if stores == "memory" else {}
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, **urls)
    report = campaign(settings, PLANS[stores], seed=7)
    assert report.leaks == []
    assert report.control > 15
    assert report.statuses["404"] > PLANS[stores].http / 3
    assert not any(status.startswith("5") for status in report.statuses)


def test_a_server_that_believes_a_header_is_found_out(tmp_path: Path) -> None:
    """The attempts can fail: a tenant taken from the request instead of the credential leaks everywhere."""
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, **MEMORY)
    report = Report()

    async def believing(request: Request, caller: CallerDep) -> str:
        return request.headers.get("x-tenant", caller.tenant)

    async def story() -> None:
        async with Engine.open(settings) as engine:
            engine.start_worker()
            world = await plant(settings, engine)
            before = await views(world)
            world.app.dependency_overrides = {reader: believing, writer: believing}
            await Crosser(world, 7, report).run(range(2 * len(RECIPES)))
            await settled(engine)
            await unchanged(world, before, report)

    asyncio.run(story())
    assert any(" got zq" in leak for leak in report.leaks)
    assert any("told apart" in leak for leak in report.leaks)
    assert any(f"{OWNER} sees" in leak for leak in report.leaks)
