"""Re-indexes and kills its own process at the step it is told to. Started by test_reindex_kill.py."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Scope
from kedge.engine import reindex
from kedge.engine.engine import Engine

SCOPE = Scope(DEFAULT_TENANT, "default")
BATCH = 2


async def main(home: Path, embedder: str, die_at: int) -> None:
    steps: list[str] = []

    def on_step(name: str) -> None:
        steps.append(name)
        print(name, flush=True)
        if len(steps) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    reindex.BATCH = BATCH
    async with Engine.open(load_settings(environ={}, home=home), on_step=on_step) as engine:
        await engine.reindex(SCOPE, embedder)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
