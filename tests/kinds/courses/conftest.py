"""A small course on disk and an engine with the fast deterministic embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, IngestMode, IngestRequest, Job, Scope
from kedge.engine.engine import Engine

BOOK = Scope(DEFAULT_TENANT, "robots")
MEMORY = {"catalog_url": "memory:", "vector_url": "memory:", "graph_url": "memory:"}
Run = Callable[[Callable[[Engine], Awaitable[Any]]], Any]


def lesson(place: str, title: str, body: str, **fields: object) -> str:
    """A lesson file: `place` is module/chapter.lesson."""
    module, _, number = place.partition("/")
    chapter, _, own = number.partition(".")
    head = {"module": module, "chapter": chapter, "lesson": own, "title": title, **fields}
    return "---\n" + "\n".join(f"{key}: {value}" for key, value in head.items()) + f"\n---\n\n# {title}\n\n{body}\n"


LESSONS = {
    "module-1/frames.md": lesson(
        "1/1.1",
        "Coordinate frames",
        "Frames tell where a robot stands.\n\n## World frame\n\nThe world frame stays where it is bolted down.\n\n"
        "## Body frame\n\nThe body frame travels with the robot and turns with it.",
        hardware_tier=1,
        proficiency_level="A1",
        prerequisites="[]",
    ),
    "module-1/vectors.md": lesson(
        "1/1.2",
        "Vectors",
        "Arrows are everywhere.\n\n## Arrows\n\nA vector is an arrow with a length and a direction.\n\n"
        "## Adding\n\nArrows are added tip to tail.",
        hardware_tier=2,
        layer="L2",
        prerequisites="[1.1]",
    ),
    "module-1/rotations.md": lesson(
        "1/2.1",
        "Rotations",
        "## Turning\n\nA rotation turns an arrow and keeps its length.",
        hardware_tier=4,
        proficiency_level="B2",
        prerequisites="[1.2, Linear algebra]",
    ),
    "module-2/lidar.md": lesson(
        "2/1.1",
        "Lidar",
        "## Pulses\n\nA lidar measures distance by pulses of light.",
        hardware_tier=3,
        prerequisites="[Module 1]",
    ),
    "module-2/maps.md": lesson("2/1.2", "Maps", "## Grids\n\nA grid map remembers where pulses of light ended."),
}


def write(folder: Path, lessons: dict[str, str]) -> Path:
    for name, text in lessons.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return write(tmp_path / "course", LESSONS)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(None, {}, home=tmp_path / "home", embedder="hash:64", **MEMORY)


@pytest.fixture
def run(settings: Settings) -> Run:
    """Open an engine, run the scenario in it, close it."""

    def call(scenario: Callable[[Engine], Awaitable[Any]]) -> Any:
        async def inside() -> Any:
            async with Engine.open(settings) as engine:
                return await scenario(engine)

        return asyncio.run(inside())

    return call


async def ingest(engine: Engine, folder: Path, mode: IngestMode = IngestMode.INCREMENTAL, scope: Scope = BOOK) -> Job:
    return await engine.ingest(IngestRequest(scope, (str(folder),), kind="course", mode=mode))
