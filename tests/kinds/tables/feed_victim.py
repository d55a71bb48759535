"""A feed that is killed at a step of that name, in a process of its own. Started by test_sessions.py."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine
from tests.support.forked import OnStep


async def main(on_step: OnStep, home: Path, file: Path, dies_at: str) -> None:
    """Feed the file."""

    def step(name: str) -> None:
        on_step(name)
        if name == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    async with Engine.open(load_settings(environ={}, home=home, embedder="hash:256"), on_step=step) as engine:
        await engine.ingest(IngestRequest(Scope(DEFAULT_TENANT, "s1"), (str(file),), kind="table"))
