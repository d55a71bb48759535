"""Random edits of a source, a kill at a random step of its run, then one more run: the same as taken in afresh."""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
from pathlib import Path

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Scope
from kedge.engine.connected import Wanted
from kedge.engine.engine import Engine
from tests.consistency import sync_victim
from tests.support.forked import run_victim

SCOPE = Scope(DEFAULT_TENANT, "default")
NAMES = [f"{folder}{name}.md" for folder in ("", "log/", "log/old/") for name in "abcd"]
ROUNDS = 8


def edit(folder: Path, dice: random.Random) -> None:
    """Some files are written, changed, renamed or removed."""
    for _ in range(dice.randint(1, 6)):
        path = folder / dice.choice(NAMES)
        path.parent.mkdir(parents=True, exist_ok=True)
        held = sorted(one for one in folder.rglob("*.md") if one.is_file())
        match dice.choice(["write", "write", "rename", "remove"]):
            case "write":
                words = " ".join(dice.choice(["kedge", "warp", "tide", "bend", "moon"]) for _ in range(12))
                path.write_text(f"# {words[:5]}\n\nThe {words} in the year {dice.randint(1000, 2000)}.\n", "utf-8")
            case "rename" if held:
                dice.choice(held).rename(path)
            case "remove" if held:
                dice.choice(held).unlink()


async def state(home: Path, *, sync: bool) -> dict[str, list[tuple[str, str, str]]]:
    """By url: its passages with their ids. After a run, if wanted; the check finds nothing then."""
    async with Engine.open(load_settings(environ={}, home=home, embedder="hash")) as engine:
        if sync:
            await engine.drain()
            await engine.sync_source(DEFAULT_TENANT, sync_victim.NAME, confirm=True)
            assert (await engine.check()).problems == ()
            assert await engine.stores.catalog.integrity() == []
        found = {}
        for document in await engine.documents(SCOPE, limit=1000):
            _, passages = await engine.document(DEFAULT_TENANT, document.id)
            found[document.url] = [(one.id, one.title, one.text) for one in passages]
        return found


async def connect(home: Path, folder: Path) -> None:
    async with Engine.open(load_settings(environ={}, home=home, embedder="hash")) as engine:
        await engine.sources.add(Wanted(SCOPE, str(folder), sync_victim.NAME))


@pytest.mark.slow
@pytest.mark.req("D-18", "D-10")
@pytest.mark.parametrize("seed", range(3))
def test_killed_anywhere_the_next_run_ends_as_if_taken_in_afresh(seed: int, tmp_path: Path) -> None:
    dice = random.Random(f"sync/{seed}")
    home, folder = tmp_path / "home", tmp_path / "folder"
    folder.mkdir()
    edit(folder, dice)
    asyncio.run(connect(home, folder))
    killed = 0
    for number in range(ROUNDS):
        edit(folder, dice)
        code, steps = run_victim(sync_victim.main, home, folder, die_at=dice.randint(1, 25))
        killed += code == -signal.SIGKILL
        assert code in (0, -signal.SIGKILL), steps
        if dice.random() < 0.5:
            edit(folder, dice)  # the source does not wait
        fresh = tmp_path / f"fresh{number}"
        asyncio.run(connect(fresh, folder))
        expected = asyncio.run(state(fresh, sync=True))
        assert asyncio.run(state(home, sync=True)) == expected, f"round {number}, killed after {steps}"
        shutil.rmtree(fresh)
    assert killed >= ROUNDS // 3
