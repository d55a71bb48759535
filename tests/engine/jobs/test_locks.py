"""Locks between processes, uploads in the catalog, and a home that several processes share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from kedge.core.errors import ConflictError, HomeBusyError, SourceTooLargeError, StoreError
from kedge.core.locks import Locks
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Scope
from kedge.engine.engine import Engine
from kedge.engine.jobs import advisory
from kedge.engine.jobs.advisory import AdvisoryLocks
from kedge.engine.jobs.local import LocalLocks
from kedge.engine.jobs.spool import PIECE_BYTES, CatalogSpool
from kedge.stores.catalog.sql.catalog import open_catalog
from tests.contract.postgresql import url_of

SCOPE = Scope(DEFAULT_TENANT, "default")


@pytest.fixture(params=["local", "postgresql"])
def locks(request: pytest.FixtureRequest, tmp_path: Path) -> Locks:
    return LocalLocks() if request.param == "local" else AdvisoryLocks(url_of(tmp_path))


async def holds_back(first: object, second: object) -> bool:
    """Whether the second has to wait until the first is released."""
    taken = asyncio.Event()

    async def other() -> None:
        async with second:  # type: ignore[attr-defined]
            taken.set()

    async with first:  # type: ignore[attr-defined]
        task = asyncio.create_task(other())
        done, _ = await asyncio.wait([task], timeout=0.3)
        waits = not done
    await task
    assert taken.is_set()
    return waits


def test_a_collection_has_one_writer(locks: Locks) -> None:
    async def body() -> None:
        assert await holds_back(locks.writing(SCOPE), locks.writing(SCOPE))
        assert await holds_back(locks.writing(SCOPE), locks.writing(SCOPE, "d"))
        assert await holds_back(locks.writing(SCOPE, "d"), locks.writing(SCOPE, "d"))
        assert await holds_back(locks.writing(SCOPE, "d"), locks.writing(SCOPE))

    asyncio.run(body())


def test_documents_are_written_side_by_side_between_processes(tmp_path: Path) -> None:
    async def body() -> None:
        locks = AdvisoryLocks(url_of(tmp_path))
        assert not await holds_back(locks.writing(SCOPE, "d"), locks.writing(SCOPE, "e"))
        assert not await holds_back(locks.writing(SCOPE), locks.writing(Scope(DEFAULT_TENANT, "other")))

    asyncio.run(body())


def test_collections_are_written_side_by_side_in_one_process() -> None:
    async def body() -> None:
        locks = LocalLocks()
        assert not await holds_back(locks.writing(SCOPE), locks.writing(Scope(DEFAULT_TENANT, "other")))
        assert not await holds_back(locks.writing(SCOPE), locks.writing(Scope("other", SCOPE.collection)))

    asyncio.run(body())


def test_a_named_lock_is_waited_for_or_not(locks: Locks) -> None:
    async def body() -> None:
        x, y = f"x{uuid4().hex}", f"y{uuid4().hex}"  # of this test alone: the server is shared
        assert await holds_back(locks.named(x), locks.named(x))
        async with locks.alone(x), locks.alone(y):
            with pytest.raises(ConflictError, match=f"{x} is in work"):
                async with locks.alone(x):
                    raise AssertionError("two had it")
        async with locks.alone(x):
            pass

    asyncio.run(body())


def test_work_is_broken_off_when_its_lock_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advisory, "ALIVE_SECONDS", 0.05)
    url = url_of(tmp_path)

    async def body() -> None:
        locks = AdvisoryLocks(url)
        begun = asyncio.Event()

        async def work() -> None:
            async with locks.named("job/1"), locks.writing(SCOPE):
                begun.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await begun.wait()
        async with await psycopg.AsyncConnection.connect(url.partition("?")[0], autocommit=True) as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
                "WHERE locktype = 'advisory' AND pid <> pg_backend_pid() AND datname = current_database()"
            )
        with pytest.raises(StoreError, match="that held a lock was lost"):
            await task
        async with locks.alone("job/1"):
            pass

    asyncio.run(body())


async def _chunks(size: int) -> AsyncIterator[bytes]:
    for start in range(0, size, 300_000):
        yield bytes(min(300_000, size - start))


def test_uploads_in_the_catalog_come_back_whole_and_are_bounded(tmp_path: Path) -> None:
    async def body() -> None:
        catalog = open_catalog(f"sqlite:///{tmp_path / 'catalog.db'}", load_settings(environ={}))
        spool = CatalogSpool(catalog.uploads, limit=3 * PIECE_BYTES)
        size = 2 * PIECE_BYTES + 5
        place = await spool.keep(_chunks(size))
        async with spool.fetched((("a.txt", place),)) as ((name, path),):
            assert (name, Path(path).stat().st_size) == ("a.txt", size)
        assert not Path(path).exists()
        await spool.discard((("a.txt", place),))
        async with spool.fetched((("a.txt", place),)) as ((_, path),):
            assert Path(path).stat().st_size == 0
        with pytest.raises(SourceTooLargeError):
            await spool.keep(_chunks(4 * PIECE_BYTES))
        await catalog.close()

    asyncio.run(body())


def test_only_a_home_without_stores_is_shared(tmp_path: Path) -> None:
    url, home = url_of(tmp_path), tmp_path / "home"
    servers = load_settings(environ={}, home=home, embedder="hash", catalog_url=url, vector_url=url)
    mixed = load_settings(environ={}, home=home, embedder="hash", catalog_url=url)

    async def body() -> None:
        async with Engine.open(servers) as first, Engine.open(servers) as second:
            assert await first.collections(DEFAULT_TENANT) == await second.collections(DEFAULT_TENANT) == []
        async with Engine.open(mixed):
            with pytest.raises(HomeBusyError):
                async with Engine.open(mixed):
                    pass

    asyncio.run(body())
