"""A re-index that is killed in the middle, in a process of its own. Started by test_reindex_kill.py."""

from __future__ import annotations

from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Scope
from kedge.engine import reindex
from kedge.engine.engine import Engine
from tests.support.forked import OnStep

SCOPE = Scope(DEFAULT_TENANT, "default")
BATCH = 2


async def main(on_step: OnStep, home: Path, embedder: str) -> None:
    """Re-index in small batches."""
    reindex.BATCH = BATCH
    async with Engine.open(load_settings(environ={}, home=home), on_step=on_step) as engine:
        await engine.reindex(SCOPE, embedder)
