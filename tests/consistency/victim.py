"""Runs one operation and kills its own process at the step it is told to. Started by test_kill.py."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine

SCOPE = Scope(DEFAULT_TENANT, "default")


async def main(operation: str, home: Path, folder: Path, die_at: int) -> None:
    steps: list[str] = []

    def on_step(name: str) -> None:
        steps.append(name)
        print(name, flush=True)
        if len(steps) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    settings = load_settings(environ={}, home=home, embedder="hash")
    async with Engine.open(settings, on_step=on_step) as engine:
        if operation == "ingest":
            await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        else:
            document = next(item for item in await engine.documents(SCOPE) if item.url.endswith("tides.md"))
            await engine.delete_document(DEFAULT_TENANT, document.id)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])))
