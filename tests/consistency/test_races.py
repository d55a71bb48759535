"""What changes between two reads of one answer: the answer is of one moment all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection

from kedge.core.errors import NotFoundError, StoreError
from kedge.core.ids import document_id
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, Document, IngestRequest, Passage, Query, Scope
from kedge.engine.engine import Engine
from kedge.engine.jobs import advisory
from kedge.stores.vectors.pgvector import open_vectors, reading, tables
from kedge.testing.vectors.opened import INDEX, T, point, spec
from tests.contract.postgresql import url_of

SCOPE = Scope(DEFAULT_TENANT, "default")
OLD = "# Kedge\n\nKedge kedge kedge kedge: the old light anchor called kedge.\n"
NEW = "# Grapnel\n\nA grapnel has flukes. It is no kedge, says the new text about it.\n"


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")


def settings_of(home: Path) -> Settings:
    return load_settings(environ={}, home=home, embedder="hash", reranker="none")


class HeldSwitch:
    """A catalog's documents whose switch waits until it is let go."""

    def __init__(self, documents: Any) -> None:
        self._switch = documents.switch
        self.reached = asyncio.Event()
        self.go = asyncio.Event()
        documents.switch = self

    async def __call__(self, version_ids: Sequence[str]) -> None:
        self.reached.set()
        await self.go.wait()
        await self._switch(version_ids)


@pytest.mark.req("C-09")
def test_a_search_that_reads_the_catalog_twice_shows_one_version(tmp_path: Path) -> None:
    """Hits that died but are not swept yet make the search look further, after the switch of a document it showed."""
    folder = tmp_path / "docs"
    write(folder, "kedge.md", OLD)
    for number in range(8):
        write(folder, f"other-{number}.md", f"# Other {number}\n\nA kedge, kedge again, number {number}.\n")

    async def body() -> None:
        async with Engine.open(settings_of(tmp_path / "home")) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
            others = [held.id for held in await engine.documents(SCOPE) if held.title != "Kedge"]
            await engine.stores.catalog.documents.retire(SCOPE, others)
            write(folder, "kedge.md", NEW)
            held = HeldSwitch(engine.stores.catalog.documents)
            ingest = asyncio.create_task(engine.ingest(IngestRequest(SCOPE, (str(folder / "kedge.md"),))))
            await held.reached.wait()
            passages: Any = engine.stores.catalog.passages
            live, reads = passages.live, []

            async def then_switch(scope: Scope, ids: Sequence[str]) -> dict[str, Passage]:
                found: dict[str, Passage] = await live(scope, ids)
                reads.append(len(found))
                if len(reads) == 1:
                    held.go.set()
                    await ingest
                return found

            passages.live = then_switch
            result = await engine.search(Query("kedge", SCOPE, top_k=2, include_graph=False))
            assert len(reads) > 1
            assert len({hit.passage.version_id for hit in result.hits}) == 1

    asyncio.run(body())


@pytest.mark.req("C-09")
def test_a_document_and_its_passages_are_of_one_version(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    write(folder, "kedge.md", OLD)

    async def body() -> None:
        async with Engine.open(settings_of(tmp_path / "home")) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
            documents: Any = engine.stores.catalog.documents
            get, updated = documents.get, []

            async def then_update(tenant: str, key: str) -> Document | None:
                found: Document | None = await get(tenant, key)
                if not updated:
                    updated.append(key)
                    write(folder, "kedge.md", NEW)
                    await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
                return found

            documents.get = then_update
            key = document_id(SCOPE, str(folder / "kedge.md"))
            document, passages = await engine.document(DEFAULT_TENANT, key)
            assert updated
            assert (document.title, document.live_version) == (passages[0].title, passages[0].version_id)

    asyncio.run(body())


@pytest.mark.store("vectors", "postgresql")
@pytest.mark.req("D-19")
def test_an_index_that_is_dropped_under_a_reader_is_not_found(tmp_path: Path) -> None:
    """Tables vanish at once, also for a reader whose moment is before: it must know to look for the new index."""
    url = url_of(tmp_path)

    async def body() -> None:
        store, other = open_vectors(url, Settings()), open_vectors(url, Settings())
        await store.create(spec())
        await store.upsert(INDEX, T, [point(1)])
        loop = asyncio.get_running_loop()

        def read(connection: Connection) -> int:
            tables.load(connection, INDEX)
            asyncio.run_coroutine_threadsafe(other.drop(INDEX), loop).result(30)
            return reading.count(connection, INDEX, T, None)

        with pytest.raises(NotFoundError, match="dropped meanwhile"):
            await store._database.read(read)
        await asyncio.gather(store.close(), other.close())

    asyncio.run(body())


class Away:
    """A connection that does not answer."""

    async def execute(self, _statement: str) -> None:
        raise psycopg.OperationalError("the connection is lost")


def test_work_whose_locks_are_lost_ends_with_a_store_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two locks, lost together, while a task group inside has a failure of its own to tell."""
    monkeypatch.setattr(advisory, "ALIVE_SECONDS", 0.01)
    lost: Any = Away()

    async def fail() -> None:
        raise StoreError("The store is away.")

    async def work(outcome: list[str]) -> None:
        async with advisory._unless_lost(lost, "db"), advisory._unless_lost(lost, "db"):
            with pytest.raises(ExceptionGroup):
                async with asyncio.TaskGroup() as group:
                    group.create_task(fail())
            outcome.append("went on")
            await asyncio.Event().wait()

    async def body() -> None:
        for _ in range(5):
            outcome: list[str] = []
            task = asyncio.create_task(work(outcome))
            (ended,) = await asyncio.gather(task, return_exceptions=True)
            assert isinstance(ended, StoreError)
            assert outcome == ["went on"]

    asyncio.run(body())


def test_work_that_is_cancelled_by_others_stays_cancelled() -> None:
    async def body() -> None:
        kept: Any = Away()

        async def work() -> None:
            async with advisory._unless_lost(kept, "db"):
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        (ended,) = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(ended, asyncio.CancelledError)

    asyncio.run(body())
