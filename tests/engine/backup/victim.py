"""Runs a backup or a restore and kills its own process at the n-th step. Started by test_kill.py."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from kedge.engine.backup.restoring import restore_backup
from kedge.engine.backup.taking import take_backup
from kedge.engine.engine import Engine
from tests.engine.backup.made import settings_of


async def main(operation: str, home: Path, file: Path, die_at: int) -> None:
    steps = 0

    def on_phase(phase: str, done: int, total: int) -> None:
        nonlocal steps
        steps += 1
        print(phase, flush=True)
        if steps == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    settings = settings_of(home)
    if operation == "restore":
        await restore_backup(settings, file, force=True, on_phase=on_phase)
        return
    async with Engine.open(settings) as engine:
        await take_backup(settings, file, vectors=engine.stores.vectors, on_phase=on_phase)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])))
