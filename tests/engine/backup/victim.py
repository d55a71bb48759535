"""A backup or a restore that is killed in the middle, in a process of its own. Started by test_kill.py."""

from __future__ import annotations

from pathlib import Path

from kedge.engine.backup.restoring import restore_backup
from kedge.engine.backup.taking import take_backup
from kedge.engine.engine import Engine
from tests.engine.backup.made import settings_of
from tests.support.forked import OnStep


async def main(on_step: OnStep, operation: str, home: Path, file: Path) -> None:
    """Steps are named after their phase."""

    def on_phase(phase: str, done: int, total: int) -> None:
        on_step(phase)

    settings = settings_of(home)
    if operation == "restore":
        await restore_backup(settings, file, force=True, on_phase=on_phase)
        return
    async with Engine.open(settings) as engine:
        await take_backup(settings, file, vectors=engine.stores.vectors, on_phase=on_phase)
