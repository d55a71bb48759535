"""A backup taken under write load restores to a state that passes the check: every document whole, none half."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from kedge.core.values import IngestRequest
from kedge.engine.backup.restoring import restore_backup
from kedge.engine.backup.taking import take_backup
from kedge.engine.engine import Engine
from tests.engine.backup.made import SEA, settings_of
from tests.engine.backup.writer import DOCUMENTS, text_of
from tests.support.paths import ROOT

BACKUPS = 2


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[tuple[Path, IO[str]]]:
    """A home that another process writes to all the time, and that process's lines."""
    command = [sys.executable, "-m", "tests.engine.backup.writer", str(tmp_path / "home"), str(tmp_path / "documents")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield tmp_path / "home", process.stdout
        finally:
            process.kill()


def check_whole(home: Path) -> set[int]:
    """Everything agrees, and each document is one round's text from end to end. Returns the rounds."""

    async def look() -> set[int]:
        rounds = set()
        async with Engine.open(settings_of(home)) as engine:
            report = await engine.check()
            assert (report.ok, report.problems) == (True, ())
            found = await engine.documents(SEA)
            assert len(found) >= DOCUMENTS - 1
            for document in found:
                _, passages = await engine.document(SEA.tenant, document.id)
                if not passages:
                    assert document.live_version is None
                    continue
                text = " ".join(passage.text for passage in passages)
                named = {int(number) for number in re.findall(r"Round (\d+) of", text)}
                number = int(Path(document.url).stem)
                assert len(named) == 1
                whole = text_of(number, named.copy().pop())
                assert [passage.text for passage in passages] == [whole[one.start : one.end] for one in passages]
                assert text.count("Round") == whole.count("Round")
                rounds |= named
        return rounds

    return asyncio.run(look())


def test_beside_another_process(busy: tuple[Path, IO[str]], tmp_path: Path) -> None:
    home, lines = busy
    lines.readline()
    seen: set[int] = set()
    for number in range(BACKUPS):
        asyncio.run(take_backup(settings_of(home), tmp_path / f"{number}.backup"))
        lines.readline()
    for number in range(BACKUPS):
        place = tmp_path / f"restored-{number}"
        asyncio.run(restore_backup(settings_of(place), tmp_path / f"{number}.backup"))
        seen |= check_whole(place)
    assert len(seen) > 1  # it was really written to meanwhile


def test_inside_the_process_that_writes(tmp_path: Path) -> None:
    """As the server does it: vectors are read while passages come and go."""
    home, folder = tmp_path / "home", tmp_path / "documents"
    folder.mkdir()

    async def write(engine: Engine, begun: asyncio.Event, stop: asyncio.Event) -> int:
        round_ = 0
        while not stop.is_set():
            for number in range(DOCUMENTS):
                (folder / f"{number}.md").write_text(text_of(number, round_), "utf-8")
            await engine.ingest(IngestRequest(SEA, (str(folder),)))
            await engine.delete_document(SEA.tenant, (await engine.documents(SEA))[round_ % DOCUMENTS].id)
            round_ += 1
            begun.set()
        return round_

    async def both() -> None:
        async with Engine.open(settings_of(home)) as engine:
            begun, stop = asyncio.Event(), asyncio.Event()
            writing = asyncio.create_task(write(engine, begun, stop))
            await begun.wait()
            for number in range(BACKUPS):
                await take_backup(settings_of(home), tmp_path / f"{number}.backup", vectors=engine.stores.vectors)
            stop.set()
            assert await writing > 1

    asyncio.run(both())
    for number in range(BACKUPS):
        place = tmp_path / f"restored-{number}"
        asyncio.run(restore_backup(settings_of(place), tmp_path / f"{number}.backup"))
        check_whole(place)
