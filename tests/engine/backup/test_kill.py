"""Killed anywhere, a backup leaves no broken file and a restore leaves the old home."""

from __future__ import annotations

import asyncio
import shutil
import signal
from pathlib import Path

import pytest

from kedge.core.values import IngestRequest
from kedge.engine.backup.archive import Archive
from kedge.engine.backup.taking import take_backup
from kedge.engine.engine import Engine
from tests.engine.backup import victim
from tests.engine.backup.made import SEA, settings_of
from tests.support.forked import run_victim
from tests.support.surfaces import write_corpus


def started(operation: str, home: Path, file: Path, die_at: int) -> tuple[int, list[str]]:
    """Exit code and phases of a process that dies at the given step (0: never)."""
    return run_victim(victim.main, operation, home, file, die_at=die_at)


def chosen(phases: list[str]) -> list[int]:
    """The last step of each phase."""
    return sorted(len(phases) - phases[::-1].index(phase) for phase in set(phases))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("killed")

    async def fill() -> None:
        async with Engine.open(settings_of(folder / "home")) as engine:
            await engine.ingest(IngestRequest(SEA, (str(write_corpus(folder / "sea")),)))

    asyncio.run(fill())
    return folder / "home"


def titles(home: Path) -> list[str]:
    async def ask() -> list[str]:
        async with Engine.open(settings_of(home)) as engine:
            assert (await engine.check()).ok
            return [one.title for one in await engine.documents(SEA)]

    return asyncio.run(ask())


def test_a_killed_backup_leaves_no_broken_file(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.backup"
    code, phases = started("backup", home, file, 0)
    assert code == 0
    assert set(phases) == {"catalog", "vectors", "packing"}
    before = file.read_bytes()
    for step in chosen(phases):
        assert started("backup", home, file, step)[0] == -signal.SIGKILL
        assert file.read_bytes() == before
    assert started("backup", home, file, 0)[0] == 0
    with Archive(file) as archive:
        archive.verify()
    assert not list(home.glob(".backup-*"))  # what the killed ones left


def test_a_killed_restore_leaves_the_old_home(home: Path, tmp_path: Path) -> None:
    other, file = tmp_path / "other", tmp_path / "x.backup"
    shutil.copytree(home, other)
    (tmp_path / "buoy.md").write_text("# Anchor buoy\n\nAn anchor buoy marks where the anchor lies.\n", "utf-8")

    async def changed() -> None:
        async with Engine.open(settings_of(other)) as engine:
            await engine.ingest(IngestRequest(SEA, (str(tmp_path / "buoy.md"),)))
        async with Engine.open(settings_of(home)) as engine:
            await take_backup(settings_of(home), file, vectors=engine.stores.vectors)

    asyncio.run(changed())
    old, new = titles(other), titles(home)
    assert "Anchor buoy" in old
    assert "Anchor buoy" not in new
    code, phases = started("restore", tmp_path / "dry", file, 0)
    assert code == 0
    assert set(phases) == {"verifying", "unpacking", "vectors", "checking"}
    for step in chosen(phases):
        assert started("restore", other, file, step)[0] == -signal.SIGKILL
        assert titles(other) == old
    assert started("restore", other, file, 0)[0] == 0
    assert titles(other) == new
    assert not list(tmp_path.glob(".other.restore-*"))
