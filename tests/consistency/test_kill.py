"""Kill the process (SIGKILL) at every step boundary of ingest, update and delete; look at what is left."""

from __future__ import annotations

import asyncio
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, DocumentStatus, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from tests.consistency import victim
from tests.support.forked import run_victim

SCOPE = Scope(DEFAULT_TENANT, "default")
OLD = {
    "anchors.md": "# Anchors\n\nThe kedge anchor is light and is carried out by boat.\n",
    "tides.md": "# Tides\n\nSpring tides come twice in every lunar month.\n",
    "knots.md": "# Knots\n\nThe bowline makes a fixed loop that does not slip.\n",
}
NEW = OLD | {"tides.md": "# Tides\n\nNeap tides come when sun and moon stand at right angles.\n"}


@dataclass(frozen=True)
class Place:
    home: Path
    folder: Path


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")


async def texts_by_name(engine: Engine) -> dict[str, str]:
    """What readers see: every live document, and every search hit must be one of its passages."""
    seen = {}
    for document in await engine.documents(SCOPE):
        _, passages = await engine.document(DEFAULT_TENANT, document.id)
        if passages:
            seen[Path(document.url).name] = "".join(passage.text for passage in passages)
    found = await engine.search(Query("tides anchor bowline moon", SCOPE, top_k=20))
    for hit in found.hits:
        name = Path(hit.passage.url).name
        assert hit.passage.text in seen[name], "a search showed what the catalog does not hold as live"
    return seen


def plain(files: dict[str, str]) -> dict[str, str]:
    return {name: text.strip() for name, text in files.items()}


async def look(place: Place, *, allowed: dict[str, set[str]]) -> None:
    """Straight after the kill: every document is wholly old, wholly new or absent."""
    async with Engine.open(load_settings(environ={}, home=place.home, embedder="hash")) as engine:
        if not await engine.collections(DEFAULT_TENANT):
            return
        for name, text in (await texts_by_name(engine)).items():
            assert text.strip() in allowed[name]
        assert await engine.stores.catalog.integrity() == []


async def recover(place: Place, *, again: bool) -> dict[str, str]:
    """Restart: unfinished jobs go on, leftovers are swept, and the check finds nothing."""
    async with Engine.open(load_settings(environ={}, home=place.home, embedder="hash")) as engine:
        await engine.drain()
        if again:
            await engine.ingest(IngestRequest(SCOPE, (str(place.folder),)))
        await engine.sweep()
        report = await engine.check()
        assert report.problems == ()
        failed = await engine.documents(SCOPE, status=DocumentStatus.FAILED)
        assert failed == []
        return {name: text.strip() for name, text in (await texts_by_name(engine)).items()}


async def prepare(place: Place) -> None:
    write(place.folder, OLD)
    async with Engine.open(load_settings(environ={}, home=place.home, embedder="hash")) as engine:
        await engine.ingest(IngestRequest(SCOPE, (str(place.folder),)))


def steps_of(operation: str, template: Place, scratch: Path) -> list[str]:
    place = copy_of(template, scratch / "count")
    code, steps = run_victim(victim.main, operation, place.home, place.folder, die_at=0)
    assert code == 0
    return steps


def copy_of(place: Place, target: Path) -> Place:
    shutil.copytree(place.home.parent, target)
    return Place(target / "home", place.folder)


@pytest.mark.slow
@pytest.mark.req("D-18", "D-10", "C-09")
@pytest.mark.parametrize("operation", ["ingest", "update", "delete"])
def test_killed_at_every_step_nothing_is_lost_or_half_visible(operation: str, tmp_path: Path) -> None:
    """The folder is shared (urls are its paths); each kill works on its own copy of the home."""
    template = Place(tmp_path / "template" / "home", tmp_path / "folder")
    template.home.mkdir(parents=True)
    if operation == "ingest":
        write(template.folder, OLD)
    else:
        asyncio.run(prepare(template))
    allowed = {name: {text.strip()} for name, text in OLD.items()}
    expected = plain(OLD)
    if operation == "update":
        write(template.folder, NEW)
        allowed["tides.md"].add(NEW["tides.md"].strip())
        expected = plain(NEW)
    if operation == "delete":
        del expected["tides.md"]
    verb = "delete" if operation == "delete" else "ingest"

    steps = steps_of(verb, template, tmp_path)
    assert len(steps) >= {"ingest": 6, "update": 8, "delete": 4}[operation], steps
    for number in range(1, len(steps) + 1):
        place = copy_of(template, tmp_path / f"kill-{number}")
        code, _ = run_victim(victim.main, verb, place.home, place.folder, die_at=number)
        assert code == -signal.SIGKILL
        asyncio.run(look(place, allowed=allowed))
        assert asyncio.run(recover(place, again=verb == "ingest")) == expected, f"killed after {steps[number - 1]!r}"
        shutil.rmtree(place.home.parent)
