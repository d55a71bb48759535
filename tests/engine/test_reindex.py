"""Another model for a collection that is in use: queries, writers, failures and the way back (D-19)."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.core.errors import ConflictError, ModelError, NotFoundError
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine import reindex
from kedge.engine.engine import Engine
from kedge.models.embed.hashed import HashEmbedder
from kedge.models.ports import Vectors
from kedge.stores.ports import Vector, VectorStore

SCOPE = Scope(DEFAULT_TENANT, "default")
OLD, NEW = "hash:64", "hash:128"
Meanwhile = Callable[[int], Awaitable[None]]


class Watched:
    """What the embedders were given, and what happens while they work."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {OLD: [], NEW: []}
        self.meanwhile: Meanwhile | None = None
        """Awaited in every call to the new embedder, with the number of the call."""
        self.calls = 0


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    with watching(monkeypatch) as found:
        yield found


class watching:
    """Small batches, and embedders that are watched."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def __enter__(self) -> Watched:
        found = Watched()
        plain = HashEmbedder.embed

        async def embed(self: HashEmbedder, batch: Sequence[str]) -> Vectors:
            found.texts[self.name].extend(batch)
            if self.name == NEW and found.meanwhile is not None:
                found.calls += 1
                await found.meanwhile(found.calls)
            return await plain(self, batch)

        self._patch.setattr(HashEmbedder, "embed", embed)
        self._patch.setattr(reindex, "BATCH", 4)
        return found

    def __exit__(self, *_: object) -> None:
        self._patch.undo()


def write(folder: Path, numbers: Sequence[int], text: str = "The text of document") -> None:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        (folder / f"d{number}.md").write_text(f"# Word{number}\n\n{text} word{number}.\n")


async def take_in(engine: Engine, folder: Path) -> None:
    job = await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
    assert job.errors == ()


async def delete(engine: Engine, number: int) -> None:
    for document in await engine.documents(SCOPE):
        if document.url.endswith(f"/d{number}.md"):
            await engine.delete_document(DEFAULT_TENANT, document.id)


async def in_index(engine: Engine, index: str) -> set[str]:
    return {key async for ids in engine.stores.vectors.ids(index, DEFAULT_TENANT) for key in ids}


async def live(engine: Engine) -> dict[str, str]:
    """Passage id → text of what readers see."""
    found = {}
    for document in await engine.documents(SCOPE):
        for passage in (await engine.document(DEFAULT_TENANT, document.id))[1]:
            found[passage.id] = passage.text
    return found


async def assert_right(engine: Engine) -> None:
    """The index in use holds what is live, no more and no less."""
    used = await engine.collection(SCOPE)
    assert await in_index(engine, used.index_name) == set(await live(engine))
    assert (await engine.check()).problems == ()


def on_engine(tmp_path: Path, scenario: Callable[[Engine], Awaitable[None]]) -> None:
    async def inside() -> None:
        async with Engine.open(load_settings(environ={}, home=tmp_path / "home", embedder="hash")) as engine:
            await scenario(engine)

    asyncio.run(inside())


@pytest.mark.req("D-19")
def test_rollback_returns_at_once_and_forth_again(tmp_path: Path, watched: Watched) -> None:
    async def scenario(engine: Engine) -> None:
        write(tmp_path / "docs", range(6))
        await take_in(engine, tmp_path / "docs")
        with pytest.raises(NotFoundError, match="no former index"):
            await engine.rollback(SCOPE)
        counts: list[tuple[int, int]] = []
        await engine.reindex(SCOPE, NEW, lambda done, total: counts.append((done, total)))
        assert counts == [(0, 6), (4, 6), (6, 6)]
        for texts in watched.texts.values():
            texts.clear()
        back = await engine.rollback(SCOPE)
        assert (back.embedder, back.generation) == (OLD, 1)
        await assert_right(engine)
        forth = await engine.rollback(SCOPE)
        assert (forth.embedder, forth.generation) == (NEW, 2)
        assert watched.texts == {OLD: [], NEW: []}, "both indexes were whole"
        third = await engine.reindex(SCOPE, OLD)
        assert third.generation == 3
        assert [one.embedder for one in await engine.spare_indexes(SCOPE)] == [NEW], "one is kept at most"
        await assert_right(engine)

    on_engine(tmp_path, scenario)


@pytest.mark.req("D-19")
def test_rollback_embeds_what_changed_since(tmp_path: Path, watched: Watched) -> None:
    async def scenario(engine: Engine) -> None:
        folder = tmp_path / "docs"
        write(folder, range(6))
        await take_in(engine, folder)
        settings = engine.settings.model_copy(update={"embedder": NEW})
        await engine.reindex(SCOPE, NEW)
        engine._keeper._settings = settings  # as a restart with the new model in the settings
        write(folder, [1], "Another text of")
        write(folder, [7])
        (folder / "d2.md").unlink()
        await take_in(engine, folder)
        watched.texts[OLD].clear()
        await engine.rollback(SCOPE)
        assert len(watched.texts[OLD]) == 4  # two that are live, and two that were and are kept
        await assert_right(engine)
        assert (await engine.search(Query("word7", SCOPE))).hits[0].passage.title == "Word7"

    on_engine(tmp_path, scenario)


@pytest.mark.req("D-19")
def test_without_keeping_the_old_index_is_gone(tmp_path: Path, watched: Watched) -> None:
    async def scenario(engine: Engine) -> None:
        write(tmp_path / "docs", range(3))
        await take_in(engine, tmp_path / "docs")
        old = (await engine.collection(SCOPE)).index_name
        await engine.reindex(SCOPE, NEW, keep_old=False)
        assert await engine.spare_indexes(SCOPE) == []
        with pytest.raises(NotFoundError):
            await engine.stores.vectors.count(old, DEFAULT_TENANT)
        await engine.reindex(SCOPE, OLD)
        assert await engine.discard_indexes(SCOPE) == 1
        with pytest.raises(NotFoundError):
            await engine.rollback(SCOPE)
        await assert_right(engine)

    on_engine(tmp_path, scenario)


@pytest.mark.req("D-19")
def test_a_model_that_fails_midway_leaves_the_old_index_in_use(tmp_path: Path, watched: Watched) -> None:
    async def scenario(engine: Engine) -> None:
        write(tmp_path / "docs", range(10))
        await take_in(engine, tmp_path / "docs")

        async def breaks(call: int) -> None:
            if call == 2:
                raise ModelError("The model server is down.", hint="Start it.")

        watched.meanwhile = breaks
        with pytest.raises(ModelError, match="is down") as caught:
            await engine.reindex(SCOPE, NEW)
        assert caught.value.hint == f"Start it. {reindex.UNCHANGED}"
        assert (await engine.collection(SCOPE)).embedder == OLD
        assert (await engine.search(Query("word3", SCOPE))).hits[0].passage.title == "Word3"
        await assert_right(engine)
        (half,) = await engine.spare_indexes(SCOPE)
        assert (half.state.value, await engine.stores.vectors.count(half.index_name, DEFAULT_TENANT)) == ("building", 4)
        watched.meanwhile = None
        watched.texts[NEW].clear()
        await engine.reindex(SCOPE, NEW)
        assert len(watched.texts[NEW]) == 6
        await assert_right(engine)

    on_engine(tmp_path, scenario)


def test_one_reindex_of_a_collection_at_a_time(tmp_path: Path, watched: Watched) -> None:
    async def scenario(engine: Engine) -> None:
        write(tmp_path / "docs", range(3))
        await take_in(engine, tmp_path / "docs")

        async def second(_call: int) -> None:
            with pytest.raises(ConflictError, match="in work"):
                await engine.reindex(SCOPE, NEW)

        watched.meanwhile = second
        await engine.reindex(SCOPE, NEW)
        assert watched.calls == 1

    on_engine(tmp_path, scenario)


def test_another_embedder_begins_anew_and_drops_the_half_built_index(tmp_path: Path, watched: Watched) -> None:
    async def scenario(engine: Engine) -> None:
        write(tmp_path / "docs", range(6))
        await take_in(engine, tmp_path / "docs")

        async def breaks(call: int) -> None:
            if call == 2:
                raise ModelError("Down.")

        watched.meanwhile = breaks
        with pytest.raises(ModelError):
            await engine.reindex(SCOPE, NEW)
        (half,) = await engine.spare_indexes(SCOPE)
        done = await engine.reindex(SCOPE, OLD)
        assert done.index_name != half.index_name
        with pytest.raises(NotFoundError):
            await engine.stores.vectors.count(half.index_name, DEFAULT_TENANT)
        await assert_right(engine)

    on_engine(tmp_path, scenario)


# ---------------------------------------------------------------- under load


class Asked:
    """Every vector search: the index, and the dimension of the question."""

    def __init__(self, store: VectorStore) -> None:
        self._search = store.search
        self.seen: list[tuple[str, int]] = []

    async def search(self, index: str, tenant: str, vector: Vector, limit: int, where: Any = None) -> Any:
        self.seen.append((index, len(vector)))
        return await self._search(index, tenant, vector, limit, where)


@pytest.mark.req("D-19")
@pytest.mark.parametrize("keep_old", [True, False])
def test_readers_never_fail_and_see_one_index(
    tmp_path: Path, watched: Watched, monkeypatch: pytest.MonkeyPatch, keep_old: bool
) -> None:
    """Eight readers ask all the time; the new model waits in each call until they have been answered a few times."""

    async def scenario(engine: Engine) -> None:
        write(tmp_path / "docs", range(24))
        await take_in(engine, tmp_path / "docs")
        old = (await engine.collection(SCOPE)).index_name
        asked = Asked(engine.stores.vectors)
        monkeypatch.setattr(engine.stores.vectors, "search", asked.search)
        done, answers = asyncio.Event(), 0
        answered = asyncio.Condition()

        async def reader(number: int) -> None:
            nonlocal answers
            while not done.is_set():
                word = (number + answers) % 24
                query = Query(f"the text of word{word}", SCOPE)
                found = await (engine.search(query) if number % 2 else engine.ask(query))
                hits = found.hits
                assert hits[0].passage.title == f"Word{word}"
                async with answered:
                    answers += 1
                    answered.notify_all()

        async def until_answered(_call: int = 0) -> None:
            async with answered:
                wanted = answers + 10
                await answered.wait_for(lambda: answers >= wanted)

        watched.meanwhile = until_answered
        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(reader(number))
            await until_answered()
            new = (await engine.reindex(SCOPE, NEW, keep_old=keep_old)).index_name
            watched.meanwhile = None  # answers use the new model from now on
            await until_answered()
            done.set()
        assert {index for index, _ in asked.seen} == {old, new}
        assert set(asked.seen) == {(old, 64), (new, 128)}, "each index is asked with its own model"
        first_new = asked.seen.index((new, 128))
        assert first_new > 60, "the old index answered all through the building"
        await assert_right(engine)

    on_engine(tmp_path, scenario)


# ---------------------------------------------------------------- writers meanwhile

Change = tuple[str, int]
changes = st.lists(st.tuples(st.sampled_from(["add", "change", "delete"]), st.integers(0, 9)), max_size=5)


@pytest.mark.req("D-19", "C-09")
@settings(max_examples=12)
@given(steps=st.lists(changes, min_size=1, max_size=3), after=changes)
def test_what_writers_do_meanwhile_is_right_in_both(steps: list[list[Change]], after: list[Change]) -> None:
    """Between the batches of a re-index documents come, change and go; afterwards too; then the way back."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as place, watching(patch) as watched:
        folder = Path(place) / "docs"

        async def scenario(engine: Engine) -> None:
            async def change(kind: str, number: int) -> None:
                if kind == "delete":
                    await delete(engine, number)
                    return
                write(folder, [number], "The text of document" if kind == "add" else "Something else about")
                await take_in(engine, folder / f"d{number}.md")

            async def meanwhile(call: int) -> None:
                for kind, number in steps[call - 1] if call <= len(steps) else ():
                    await change(kind, number)

            write(folder, range(8))
            await take_in(engine, folder)
            watched.meanwhile = meanwhile
            await engine.reindex(SCOPE, NEW)
            await assert_right(engine)
            watched.meanwhile = None
            engine._keeper._settings = load_settings(environ={}, home=Path(place) / "home")
            for kind, number in after:
                await change(kind, number)
            await engine.rollback(SCOPE)
            await assert_right(engine)
            for key, text in (await live(engine)).items():
                found = (await engine.search(Query(text, SCOPE, top_k=20))).hits
                assert key in {hit.passage.id for hit in found}

        on_engine(Path(place), scenario)
