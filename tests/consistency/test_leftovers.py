"""What is broken off leaves nothing behind that nobody finds: collections half deleted, versions half built."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import KedgeError, NotFoundError, StoreError
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, DocumentStatus, IngestRequest, Job, JobStatus, Query, Scope
from kedge.engine.engine import Engine

SCOPE = Scope(DEFAULT_TENANT, "default")


class Broken:
    """A method of a store that fails until it is mended."""

    def __init__(self, store: Any, method: str) -> None:
        self._inner = getattr(store, method)
        self.mended = False
        setattr(store, method, self)

    async def __call__(self, *arguments: Any, **options: Any) -> Any:
        if not self.mended:
            raise StoreError("The store is away.")
        return await self._inner(*arguments, **options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name in ("Anchors", "Tides", "Knots"):
        (tmp_path / "docs" / f"{name}.md").write_text(f"# {name}\n\nAll about {name} and the kedge.\n", "utf-8")
    return tmp_path / "docs"


async def left(engine: Engine, index: str) -> tuple[set[str], set[str]]:
    """Ids in the vectors and in the graph."""
    graph = {key async for batch in engine.stores.graph.passage_ids(SCOPE) for key in batch}
    try:
        vectors = {key async for batch in engine.stores.vectors.ids(index, DEFAULT_TENANT) for key in batch}
    except NotFoundError:
        vectors = set()
    return vectors, graph


@pytest.mark.req("D-18")
@pytest.mark.parametrize(("part", "method"), [("vectors", "drop"), ("graph", "drop"), ("catalog", "delete")])
def test_a_collection_whose_delete_broke_off_is_empty_and_can_be_deleted_again(
    part: str, method: str, folder: Path, tmp_path: Path
) -> None:
    async def body() -> None:
        async with Engine.open(load_settings(environ={}, home=tmp_path / "home", embedder="hash")) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
            index = (await engine.collection(SCOPE)).index_name
            stores = engine.stores
            broken = Broken(stores.catalog.collections if part == "catalog" else getattr(stores, part), method)
            with pytest.raises(StoreError):
                await engine.delete_collection(SCOPE)
        async with Engine.open(load_settings(environ={}, home=tmp_path / "home", embedder="hash")) as engine:
            assert (await engine.collection(SCOPE)).documents == 0
            assert (await engine.search(Query("kedge", SCOPE))).hits == ()
            assert (await engine.check(repair=True)).ok
            assert await left(engine, index) == (set(), set())
            await engine.delete_collection(SCOPE)
            assert await engine.collections(DEFAULT_TENANT) == []
            assert await left(engine, index) == (set(), set())
        assert not broken.mended

    asyncio.run(body())


@pytest.mark.req("D-18", "G-09")
def test_versions_that_nobody_builds_on_are_found_and_swept(folder: Path, tmp_path: Path) -> None:
    async def body() -> None:
        async with Engine.open(load_settings(environ={}, home=tmp_path / "home", embedder="hash")) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
            index = (await engine.collection(SCOPE)).index_name
            before = await left(engine, index)
            (folder / "Tides.md").write_text("# Tides\n\nA new text about tides.\n", "utf-8")
            switch = Broken(engine.stores.catalog.documents, "switch")
            give_up = Broken(engine.stores.catalog.documents, "fail")
            with pytest.raises(KedgeError):
                await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
            switch.mended = give_up.mended = True
            assert (await left(engine, index)) != before
            (job,) = [job for job in await engine.jobs(DEFAULT_TENANT) if job.status is not JobStatus.COMPLETE]
            assert not job.status.ended
            assert (await engine.check()).problems == ()  # the job may go on with it
            await engine.stores.catalog.jobs.put(_failed(job))
            report = await engine.check()
            assert [problem.kind for problem in report.problems] == ["unfinished"]
            assert (await engine.check(repair=True)).ok
            assert (await engine.check()).problems == ()
            assert await left(engine, index) == before
            assert await engine.documents(SCOPE, status=DocumentStatus.FAILED) == []

    asyncio.run(body())


def _failed(job: Job) -> Job:
    return replace(job, status=JobStatus.FAILED, error_message="The process ended.")


@pytest.mark.req("D-18")
def test_readers_make_no_index(folder: Path, tmp_path: Path) -> None:
    """One that looked at the catalog just before a collection was deleted would leave an index that nobody knows."""
    settings = load_settings(environ={}, home=tmp_path / "home", embedder="hash")

    async def body() -> None:
        async with Engine.open(settings) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
            index = (await engine.collection(SCOPE)).index_name
        async with Engine.open(settings) as engine:
            await engine.stores.vectors.drop(index)
            with pytest.raises(NotFoundError) as caught:
                await engine.search(Query("kedge", SCOPE))
            assert "check --repair" in caught.value.hint
            with pytest.raises(NotFoundError):
                await engine.stores.vectors.count(index, DEFAULT_TENANT)
            assert (await engine.check(repair=True)).ok
            assert len((await engine.search(Query("kedge", SCOPE))).hits) == 3

    asyncio.run(body())
