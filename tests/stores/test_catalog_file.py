"""What is special about the catalog on SQLite: faults of the file, full disks, writers in other places."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from kedge.core.errors import ConfigError, ConflictError, DiskFullError, StoreError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import GraphBatch
from kedge.stores.batches import batches
from kedge.stores.catalog.sql.catalog import SqlCatalog, open_catalog
from kedge.stores.catalog.sql.database import Database
from kedge.stores.graph.sql import SqlGraph, open_graph
from kedge.testing.catalog.sample import HERE, INDEX, collection, document, observe, passages, publish, version
from kedge.testing.graph.sample import chunk, mention

ONE = document("one")


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'catalog.db'}"


async def filled(folder: Path) -> SqlCatalog:
    catalog = open_catalog(url(folder), Settings())
    await catalog.collections.put(collection())
    await publish(catalog, ONE, "1", ["a", "b"])
    return catalog


def scalar(connection: Connection, statement: str) -> object:
    return connection.execute(text(statement)).scalar()


def test_a_full_disk_is_said_and_harms_nothing(tmp_path: Path) -> None:
    """SQLite's own limit on pages raises what a full disk raises: SQLITE_FULL."""

    async def body() -> None:
        database = Database(url(tmp_path))
        catalog = SqlCatalog(database)
        await catalog.collections.put(collection())
        await publish(catalog, ONE, "1", ["a", "b"])
        before = await observe(catalog)
        pages = await database.write(scalar, "PRAGMA page_count")
        await database.write(scalar, f"PRAGMA max_page_count={pages}")
        two = document("two")
        with pytest.raises(DiskFullError) as caught:
            await publish(catalog, two, "1", ["x" * 5000] * 200)
        assert (caught.value.code, caught.value.status) == ("disk_full", 507)
        assert "space" in caught.value.hint
        await catalog.documents.retire(HERE, [two.id])
        await database.write(scalar, "PRAGMA max_page_count=1000000")
        assert await catalog.integrity() == []
        assert (await observe(catalog))[f"visible in {HERE}"] == before[f"visible in {HERE}"]
        await publish(catalog, two, "ok", ["x"])
        await catalog.close()

    asyncio.run(body())


def test_a_file_that_is_no_database_is_refused_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").write_bytes(b"not a database at all " * 1000)
    for opened in (open_catalog, open_graph):
        with pytest.raises(StoreError, match="damaged") as caught:
            opened(url(tmp_path), Settings())
        assert "backup" in caught.value.hint


def test_damage_is_told_by_integrity_and_by_reads(tmp_path: Path) -> None:
    async def make() -> None:
        catalog = await filled(tmp_path)
        await publish(catalog, document("two"), "1", ["x" * 900] * 300)
        await catalog.close()

    async def look() -> None:
        catalog = open_catalog(url(tmp_path), Settings())
        assert await catalog.integrity() != []
        with pytest.raises(StoreError):
            await catalog.passages.of_document(HERE.tenant, document("two").id)
        await catalog.close()

    asyncio.run(make())
    file = tmp_path / "catalog.db"
    whole = bytearray(file.read_bytes())
    middle = len(whole) // 2
    whole[middle:] = b"\xa5" * (len(whole) - middle)
    file.write_bytes(whole)
    asyncio.run(look())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE documents SET live_version = 'none'", "not its live one"),
        ("UPDATE documents SET chunk_count = 9", "counts 9 passages, but has 2"),
        ("UPDATE documents SET status = 'failed'", "is failed"),
        ("UPDATE documents SET live_version = NULL, chunk_count = 0, status = 'pending'", "does not show it"),
        ("UPDATE passages SET position = 7 WHERE position = 1", "gaps"),
        ("UPDATE passages SET document_id = 'other'", "another document"),
        ("UPDATE collections SET live_passages = 5", "counts of collection default/notes"),
        ("DELETE FROM passages WHERE position = 1", "counts 2 passages, but has 1"),
        ("PRAGMA foreign_keys=OFF; DELETE FROM document_versions", "refers to a row"),
        ("UPDATE document_versions SET state = 'dead'", "marked as indexed"),
    ],
)
def test_integrity_notices_what_breaks_the_rules(tmp_path: Path, change: str, said: str) -> None:
    async def body() -> None:
        catalog = await filled(tmp_path)
        assert await catalog.integrity() == []
        with sqlite3.connect(tmp_path / "catalog.db") as connection:
            connection.executescript(change)
        connection.close()
        assert [fault for fault in await catalog.integrity() if said in fault] != []
        await catalog.close()

    asyncio.run(body())


def test_text_that_cannot_be_stored_is_refused_whole(tmp_path: Path) -> None:
    async def body() -> None:
        catalog = await filled(tmp_path)
        await catalog.documents.begin([(ONE, version(ONE, "2"))])
        fine, broken = passages(ONE, "2", ["fine", "broken"])
        with pytest.raises(UsageError):
            await catalog.passages.stage([fine, replace(broken, text="half a pair \ud800")], INDEX)
        assert await catalog.passages.staged(HERE) == []
        await catalog.close()

    asyncio.run(body())


def test_a_clash_is_a_conflict(tmp_path: Path) -> None:
    async def body() -> None:
        catalog = await filled(tmp_path)
        with pytest.raises(ConflictError):
            await catalog.documents.begin([(document("two", url=ONE.url), "v")])
        await catalog.close()
        with pytest.raises(StoreError, match="closed"):
            await catalog.documents.page(HERE)

    asyncio.run(body())


@pytest.mark.parametrize("wrong", ["sqlite://", "sqlite:///:memory:", "mysql://host/db", "nonsense"])
def test_urls_that_cannot_work_are_refused(wrong: str) -> None:
    with pytest.raises(ConfigError):
        open_catalog(wrong, Settings())


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        open_catalog(f"sqlite:///{tmp_path}/file/catalog.db", Settings())
    with pytest.raises(StoreError):
        open_catalog(f"sqlite:///{tmp_path}", Settings())


def test_catalog_and_graph_write_to_one_file_at_once(tmp_path: Path) -> None:
    """Each has its own writer; SQLite lets one in after the other, and nobody is turned away."""

    async def take_in(catalog: SqlCatalog, name: str) -> None:
        for content in "12345":
            await publish(catalog, document(name), content, [content] * 20)

    async def link(graph: SqlGraph, name: str) -> None:
        for n in range(10):
            ids = [f"{name}{n}-{i}" for i in range(20)]
            mentions = tuple(mention(passage, f"k{i % 5}") for i, passage in enumerate(ids))
            await graph.write(HERE, GraphBatch(chunks=tuple(chunk(p) for p in ids), mentions=mentions))

    async def body() -> None:
        catalog, graph = await filled(tmp_path), open_graph(url(tmp_path), Settings())
        await asyncio.gather(
            take_in(catalog, "two"), take_in(catalog, "six"), link(graph, "p"), link(graph, "q"), _read(catalog)
        )
        assert await catalog.integrity() == []
        hits = await graph.concepts_by_key(HERE, [f"k{i}" for i in range(5)])
        assert [hit.degree for hit in hits] == [80] * 5
        await graph.close()
        await catalog.close()

    asyncio.run(body())


async def _read(catalog: SqlCatalog) -> None:
    for _ in range(30):
        assert len(await catalog.passages.of_document(HERE.tenant, ONE.id)) == 2


def test_one_catalog_serves_several_event_loops(tmp_path: Path) -> None:
    """The blocking façade and a server may run their own loops in their own threads."""
    catalog = asyncio.run(filled(tmp_path))
    faults: list[BaseException] = []

    def work(name: str) -> None:
        try:
            asyncio.run(publish(catalog, document(name), "1", ["x"] * 5))  # type: ignore[arg-type]
        except BaseException as fault:
            faults.append(fault)
            raise

    threads = [threading.Thread(target=work, args=(name,)) for name in ("two", "six", "ten")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    found = asyncio.run(catalog.collections.get(HERE))
    assert found is not None
    assert (found.documents, found.passages) == (4, 17)
    asyncio.run(catalog.close())


def test_a_cancelled_caller_leaves_a_whole_transaction(tmp_path: Path) -> None:
    async def body() -> None:
        catalog = await filled(tmp_path)
        await catalog.documents.begin([(ONE, version(ONE, "2"))])
        staging = asyncio.create_task(catalog.passages.stage(passages(ONE, "2", ["x"] * 500), INDEX))
        await asyncio.sleep(0)
        staging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await staging
        await catalog.documents.set_status([version(ONE, "2")], ONE.status)
        assert len(await catalog.passages.staged(HERE)) in (0, 500)
        await catalog.close()

    asyncio.run(body())


def test_batches_are_short_enough_for_a_statement() -> None:
    assert [len(batch) for batch in batches(range(1200))] == [500, 500, 200]
    assert list(batches([])) == []
