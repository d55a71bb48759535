"""A run of a source that is killed in the middle, in a process of its own. Started by test_sync_kill.py."""

from __future__ import annotations

from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT
from kedge.engine.engine import Engine
from tests.support.forked import OnStep

NAME = "sea"


async def main(on_step: OnStep, home: Path, _folder: Path) -> None:
    """Sync the one source of the home."""
    async with Engine.open(load_settings(environ={}, home=home, embedder="hash"), on_step=on_step) as engine:
        await engine.sync_source(DEFAULT_TENANT, NAME, confirm=True)
