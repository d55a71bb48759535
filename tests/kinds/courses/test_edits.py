"""Random edit sequences keep every invariant, on every store; readers see no mix and no gap while lessons change."""

from __future__ import annotations

import asyncio
import os
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.core.errors import StoreError
from kedge.core.moving import MOVING
from kedge.core.settings import load_settings
from kedge.core.values import IngestRequest, Query, Scope
from kedge.core.values.filters import Eq, Range, evaluate
from kedge.engine.engine import Engine
from tests.campaigns.courses.edits import sequence
from tests.campaigns.courses.model import CourseModel, check
from tests.campaigns.places import own_places, parts_of
from tests.kinds.courses.conftest import BOOK, MEMORY, Run, ingest, lesson, write
from tests.services import need

EDITS = 4


@pytest.mark.req("C-02", "C-05", "C-06", "C-07", "C-08", "C-09", "C-10")
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_random_edits_keep_every_invariant(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder = tmp_path_factory.mktemp("edits")
    places = load_settings(None, {}, home=folder / "home", embedder="hash:64", **MEMORY)

    async def scenario() -> None:
        async with Engine.open(places) as engine:
            await sequence(engine, BOOK, folder / "course", seed, EDITS)

    asyncio.run(scenario())


@pytest.mark.store("all", "course edits")
@pytest.mark.req("C-02", "C-05", "C-06", "C-07", "C-08", "C-09")
@pytest.mark.parametrize("stores", ["embedded", "qdrant", "postgresql", "milvus", "neo4j"])
def test_random_edits_keep_every_invariant_on_every_store(stores: str, tmp_path: Path) -> None:
    for part in parts_of(stores):
        if part != "qdrant":  # its engine runs in this process, behind its REST API
            need(part)

    async def scenario(urls: dict[str, str]) -> None:
        home = load_settings(None, {}, home=tmp_path / "home", embedder="hash:64", **urls)
        async with Engine.open(home) as engine:
            scope = Scope(f"edits-{os.getpid()}", "robots")
            await sequence(engine, scope, tmp_path / "course", 17, 3)

    with own_places(parts_of(stores), f"edits{os.getpid()}") as urls:
        asyncio.run(scenario(urls))


@pytest.mark.req("C-05")
def test_the_check_itself_can_fail(run: Run, tmp_path: Path) -> None:
    """A model that differs from the files by one word is found out."""

    async def scenario(engine: Engine) -> None:
        model = CourseModel(random.Random(3))
        model.start()
        model.write(tmp_path / "course")
        job = await ingest(engine, tmp_path / "course")
        await check(engine, BOOK, model, job)
        name, first = next(iter(model.files.items()))
        model.files[name] = replace(first, sections=(*first.sections, "new\n\nAnother section."))
        with pytest.raises(AssertionError):
            await check(engine, BOOK, model, job)

    run(scenario)


def version_of(number: int) -> str:
    """A lesson whose passages all say which version they are of; one passage is in every version."""
    parts = [f"## Part {part}\n\nThe lantern of part {part} shines in colour number{number}." for part in range(4)]
    steady = "## Always\n\nThe lantern is always lit."
    return lesson("1/1.1", "Lantern", "\n\n".join([*parts, steady]), hardware_tier=1 + number % 2)


@pytest.mark.req("C-09")
@pytest.mark.parametrize("stores", ["memory", "embedded"])
def test_readers_see_no_mix_and_no_gap_while_a_lesson_changes(stores: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "course", {"lantern.md": version_of(0)})
    urls = MEMORY if stores == "memory" else {}
    home = load_settings(None, {}, home=tmp_path / "home", embedder="hash:64", **urls)
    seen: set[int] = set()

    async def read(engine: Engine, over: asyncio.Event) -> int:
        looks = 0
        while not over.is_set():
            for tier in (None, 2, 1):
                where = None if tier is None else Range("hardware_tier", lte=tier)
                query = Query("colour of the lantern", BOOK, top_k=20, where=where, include_graph=False)
                hits = (await engine.search(query)).hits
                assert where is None or all(evaluate(where, hit.passage.payload()) for hit in hits)
                if hits or tier == 2:  # every second version needs tier 2, and without it nothing of that may be seen
                    check_hits([hit.passage.text for hit in hits])
            whole = await engine.kinds.named("course").lesson(BOOK, "1.1")
            check_hits([passage.text for passage in whole.passages])
            around = await engine.kinds.named("course").expand(BOOK, whole.passages[-1].id, 10_000)
            assert around.complete
            looks += 1
            await asyncio.sleep(0)
        return looks

    def check_hits(texts: list[str]) -> None:
        colours = {text.partition("number")[2].rstrip(".") for text in texts if "number" in text}
        assert len(colours) == 1, f"a mix of versions, or none: {colours}"
        assert len(texts) == 5, f"a gap: {len(texts)} of 5 passages"
        seen.update(int(colour) for colour in colours)

    async def scenario() -> None:
        async with Engine.open(home) as engine:
            await ingest(engine, folder)
            over = asyncio.Event()
            readers = [asyncio.create_task(read(engine, over)) for _ in range(3)]
            for number in range(1, 9):
                write(folder, {"lantern.md": version_of(number)})
                await engine.ingest(IngestRequest(BOOK, (str(folder),), kind="course"))
                assert not any(reader.done() for reader in readers)
            over.set()
            assert min(await asyncio.gather(*readers)) > 0

    asyncio.run(scenario())
    assert len(seen) > 2


@pytest.mark.req("C-09")
@pytest.mark.parametrize("step", ["vectors written", "graph written", "switched", "forgotten"])
def test_broken_off_anywhere_readers_see_one_version_whole_and_the_next_ingest_mends_it(
    step: str, tmp_path: Path
) -> None:
    """The index holds the new tier already while the old version is live, or the other way round."""
    folder = write(tmp_path / "course", {"lantern.md": version_of(0)})
    home = load_settings(None, {}, home=tmp_path / "home", embedder="hash:64", **MEMORY)
    broken = False

    def on_step(name: str) -> None:
        nonlocal broken
        if broken and name == step:
            broken = False
            raise StoreError("broken off")

    async def shown(engine: Engine, tier: int) -> list[str]:
        where = Range("hardware_tier", lte=tier)
        query = Query("colour of the lantern", BOOK, top_k=20, where=where, include_graph=False)
        return sorted(hit.passage.text for hit in (await engine.search(query)).hits)

    async def scenario() -> None:
        nonlocal broken
        async with Engine.open(home, on_step=on_step) as engine:
            await ingest(engine, folder)
            old = await shown(engine, 1)
            assert len(old) == 5
            write(folder, {"lantern.md": version_of(1)})
            broken = True
            with pytest.raises(StoreError):
                await ingest(engine, folder)
            live = sorted(one.text for one in (await engine.kinds.named("course").lesson(BOOK, "1.1")).passages)
            assert await shown(engine, 2) == live
            assert await shown(engine, 1) == (old if live == old else [])
            write(folder, {"lantern.md": version_of(0)})
            await ingest(engine, folder)
            assert await shown(engine, 1) == old
            collection = await engine.collection(BOOK)
            assert await engine.stores.vectors.count(collection.index_name, BOOK.tenant, Eq(MOVING, True)) == 0
            assert (await engine.check()).problems == ()

    asyncio.run(scenario())
