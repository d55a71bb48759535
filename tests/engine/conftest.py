"""An engine on a fresh home with the fast deterministic embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from kedge.core.settings import Settings, load_settings
from kedge.engine.engine import Engine

T = TypeVar("T")
Scenario = Callable[[Engine], Awaitable[T]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(environ={}, home=tmp_path / "home", embedder="hash")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    (path / "anchors.md").write_text(
        "# Anchors\n\nA kedge is a light anchor. It is used to pull a ship off a sandbank.\n\n"
        "## Materials\n\nModern anchors are made of galvanised steel.\n"
    )
    (path / "tides.md").write_text("# Tides\n\nSpring tides come at new and full moon. See [Anchors](anchors.md).\n")
    (path / "knots.txt").write_text("The bowline makes a fixed loop.\n\nThe sheet bend joins two ropes.\n")
    return path


@pytest.fixture
def run(settings: Settings) -> Callable[[Scenario[T]], T]:
    """Open an engine, run the scenario in it, close it."""

    def call(scenario: Scenario[T], **changes: object) -> T:
        async def inside() -> T:
            async with Engine.open(settings.model_copy(update=changes)) as engine:
                return await scenario(engine)

        return asyncio.run(inside())

    return call
