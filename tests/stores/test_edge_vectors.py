"""What is special about Qdrant Edge: kills, locks, optimising beside searches, left-overs, the engine's errors."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kedge.core.errors import ConfigError, DiskFullError, HomeBusyError, NotFoundError, StoreError
from kedge.core.settings import Settings
from kedge.core.values.filters import Eq, Range
from kedge.stores.ports import CanKeywordSearch, CanOptimize, IndexSpec, Point, StoredPoint, VectorStore
from kedge.stores.vectors.edge import EdgeVectors, open_vectors
from kedge.stores.vectors.edge import store as edge_store
from kedge.stores.vectors.edge.faults import translated
from kedge.stores.vectors.edge.remembered import RememberedPoints
from kedge.stores.vectors.memory import MemoryVectors
from kedge.stores.vectors.rules import MOST_TIED, SPARE
from kedge.testing.vectors.opened import (
    INDEX,
    all_ids,
    assert_agrees,
    assert_every_value,
    id_of,
    ids_of,
    point,
    spec,
    vector,
    write_every_value,
)
from tests.support.forked import piped

WIDE = 16
SPEC = IndexSpec(INDEX, 4, {"page": "integer"})
WRITER = """
import asyncio, sys
from pathlib import Path
from kedge.stores.ports import IndexSpec
from kedge.stores.vectors.edge import EdgeVectors
from kedge.testing.vectors.opened import INDEX, point

async def main():
    store = EdgeVectors(Path(sys.argv[1]))
    await store.create(IndexSpec(INDEX, 4))
    for start in range(0, 1_000_000, 50):
        await store.upsert(INDEX, "acme", [point(n, (n, 1, 0, 0), f"word{n}") for n in range(start, start + 50)])
        print(start + 50, flush=True)

asyncio.run(main())
"""


def wide_points(count: int, start: int = 0) -> list[Point]:
    rng = np.random.default_rng(start)
    rows = rng.standard_normal((count, WIDE)).astype(np.float32)
    return [Point(id_of(start + n), row, f"word{n % 7} tree", {"page": n % 10}) for n, row in enumerate(rows)]


def test_it_has_the_optional_powers(tmp_path: Path) -> None:
    store = open_vectors(f"edge://{tmp_path}", Settings())
    assert isinstance(store, VectorStore)
    assert isinstance(store, CanKeywordSearch)
    assert isinstance(store, CanOptimize)
    with pytest.raises(ConfigError):
        open_vectors("edge://", Settings())


@pytest.mark.req("D-18")
def test_acknowledged_points_survive_a_kill(tmp_path: Path) -> None:
    with piped([str(tmp_path)], script=WRITER) as writer:
        acknowledged = [int(next(writer.stdout)) for _ in range(12)][-1]
        writer.send_signal(signal.SIGKILL)
        acknowledged = max([acknowledged, *(int(line) for line in writer.stdout if line.endswith("\n"))])
        assert writer.wait() == -signal.SIGKILL

    async def body() -> None:
        store = EdgeVectors(tmp_path)
        held = set(await all_ids(store, "acme"))
        assert held >= {id_of(n) for n in range(acknowledged)}
        hits = await store.keyword_search(INDEX, "acme", f"word{acknowledged - 1}", 5)
        assert ids_of(hits) == [id_of(acknowledged - 1)]
        await store.close()

    asyncio.run(body())


def test_a_second_process_is_told_that_the_home_is_busy(tmp_path: Path) -> None:
    async def body() -> None:
        store = EdgeVectors(tmp_path)
        with pytest.raises(HomeBusyError):
            await store.count(INDEX, "acme")
        with pytest.raises(HomeBusyError):
            await store.drop(INDEX)
        await store.close()

    with piped([str(tmp_path)], script=WRITER) as writer:
        assert next(writer.stdout)
        asyncio.run(body())


@pytest.mark.req("D-04")
def test_optimizing_keeps_writes_and_searches_going(tmp_path: Path) -> None:
    async def body() -> None:
        oracle, store = MemoryVectors(), EdgeVectors(tmp_path, optimize_after=300)
        both: tuple[VectorStore, ...] = (oracle, store)
        for each in both:
            await each.create(IndexSpec(INDEX, WIDE, {"page": "integer"}))
            await each.upsert(INDEX, "acme", wide_points(400))
        task = asyncio.create_task(store.optimize(INDEX))
        searches = await _work_beside(task, both)
        assert await task is True
        assert searches >= 3
        assert await store.optimize(INDEX) is False
        await _agrees(oracle, store)
        await store.close()
        store = EdgeVectors(tmp_path, optimize_after=300)
        await _agrees(oracle, store)
        assert len(list(tmp_path.glob("*/shard-*"))) == 1
        await store.close()

    asyncio.run(body())


async def _work_beside(task: asyncio.Task[bool], both: Sequence[VectorStore]) -> int:
    """Replace, add, delete and search until the task ends."""
    searches = 0
    while not task.done():
        fresh = wide_points(5, start=1000 + searches) + wide_points(5, start=searches)
        for each in both:
            await each.upsert(INDEX, "acme", fresh)
            await each.delete(INDEX, "acme", [id_of(200 + searches)])
        assert await both[1].search(INDEX, "acme", fresh[0].vector, 1)
        searches += 1
    return searches


async def _agrees(oracle: MemoryVectors, store: EdgeVectors) -> None:
    assert await all_ids(store, "acme") == await all_ids(oracle, "acme")
    query = wide_points(1, start=77)[0].vector
    for where in (None, Range("page", lt=3)):
        whole = await oracle.search(INDEX, "acme", query, 9999, where)
        assert_agrees(await store.search(INDEX, "acme", query, 10, where), whole, 10)
        words = await oracle.keyword_search(INDEX, "acme", "word3 tree", 9999, where)
        assert_agrees(await store.keyword_search(INDEX, "acme", "word3 tree", 10, where), words, 10)


def test_filters_mean_the_same_after_optimizing(tmp_path: Path) -> None:
    async def body() -> None:
        store = EdgeVectors(tmp_path, optimize_after=10)
        await store.create(spec())
        await write_every_value(store)
        assert await store.optimize(INDEX) is True
        await assert_every_value(store)
        await store.close()

    asyncio.run(body())


def test_small_indexes_stay_exact(tmp_path: Path) -> None:
    async def body() -> None:
        store = EdgeVectors(tmp_path)
        await store.create(SPEC)
        await store.upsert(INDEX, "acme", [point(1)])
        assert await store.optimize(INDEX) is False
        with pytest.raises(NotFoundError):
            await store.optimize("nope")
        await store.close()

    asyncio.run(body())


def test_closing_stops_an_optimisation(tmp_path: Path) -> None:
    async def body() -> None:
        store = EdgeVectors(tmp_path, optimize_after=10)
        await store.create(SPEC)
        await store.upsert(INDEX, "acme", [point(n) for n in range(20)])
        task = asyncio.create_task(store.optimize(INDEX))
        while not store._optimizers:
            await asyncio.wait([task], timeout=0.01)
        await store.close()
        assert await task is False
        again = EdgeVectors(tmp_path)
        assert await again.count(INDEX, "acme") == 20
        await again.close()

    asyncio.run(body())


def test_left_overs_of_a_kill_are_swept(tmp_path: Path) -> None:
    async def body() -> None:
        store = EdgeVectors(tmp_path)
        await store.create(SPEC)
        await store.upsert(INDEX, "acme", [point(1, page=3)])
        await store.close()
        folder = next(tmp_path.glob("*.index"))
        (folder / "shard-half" / "wal").mkdir(parents=True)
        (tmp_path / "half.index" / "shard-1").mkdir(parents=True)
        (tmp_path / "other.index" / "shard-1").mkdir(parents=True)
        (tmp_path / ".gone-1234" / "shard-1").mkdir(parents=True)
        again = EdgeVectors(tmp_path)
        assert not (tmp_path / ".gone-1234").exists()
        await again.drop("other")
        assert not (tmp_path / "other.index").exists()
        assert await again.count(INDEX, "acme", Eq("page", 3)) == 1
        assert not (folder / "shard-half").exists()
        with pytest.raises(NotFoundError):
            await again.count("half", "acme")
        await again.create(IndexSpec("half", 4))
        assert await again.search("half", "acme", vector(1, 0, 0, 0), 1) == []
        await again.close()

    asyncio.run(body())


def test_a_nearly_full_disk_refuses_writes_and_keeps_what_is_there(tmp_path: Path) -> None:
    async def body() -> None:
        store = EdgeVectors(tmp_path)
        await store.create(SPEC)
        await store.upsert(INDEX, "acme", [point(1)])
        await store.close()
        full = EdgeVectors(tmp_path, optimize_after=1, reserve=1 << 60)
        for write in (
            full.upsert(INDEX, "acme", [point(2)]),
            full.delete(INDEX, "acme", [id_of(1)]),
            full.create(IndexSpec("other", 4)),
            full.optimize(INDEX),
        ):
            with pytest.raises(DiskFullError):
                await write
        assert ids_of(await full.search(INDEX, "acme", vector(1, 0, 0, 0), 5)) == [id_of(1)]
        with pytest.raises(NotFoundError):
            await full.count("other", "acme")
        await full.close()

    asyncio.run(body())


@pytest.mark.parametrize("damage", ["{", '{"name": "x"}', '{"name":"x","dimension":4,"shard":"s","layout":99}'])
def test_a_damaged_index_says_so_and_can_be_dropped(tmp_path: Path, damage: str) -> None:
    async def body() -> None:
        store = EdgeVectors(tmp_path)
        folder = tmp_path / f"{INDEX}.index"
        folder.mkdir()
        (folder / "index.json").write_text(damage)
        with pytest.raises(StoreError, match="index"):
            await store.count(INDEX, "acme")
        await store.drop(INDEX)
        await store.create(SPEC)
        assert json.loads((folder / "index.json").read_text())["dimension"] == 4
        await store.close()
        with pytest.raises(StoreError, match="closed"):
            await store.count(INDEX, "acme")

    asyncio.run(body())


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (Exception("failed to open WAL x/wal: Can't init WAL: Kind(WouldBlock)"), HomeBusyError),
        (Exception("Service runtime error: IO Error: No space left on device (os error 28)"), DiskFullError),
        (OSError(28, "No space left on device"), DiskFullError),
        (PermissionError(13, "Permission denied"), StoreError),
        (Exception("Service runtime error: something else"), StoreError),
        (NotFoundError("ours"), NotFoundError),
        (ValueError("a bug"), ValueError),
    ],
)
def test_errors_are_translated_once(raised: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected) as caught, translated(Path("/x")):
        raise raised
    assert type(caught.value) is expected


def test_many_indexes_share_a_few_open_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a tenant that makes a thousand collections ends the process of all."""
    monkeypatch.setattr("kedge.stores.vectors.edge.store.MOST_OPEN", 3)
    names = [f"index{number}" for number in range(12)]

    async def story() -> None:
        store = EdgeVectors(tmp_path)
        for number, name in enumerate(names):
            await store.create(IndexSpec(name, 4))
            await store.upsert(name, "acme", [point(number, (number, 1, 0, 0), f"word{number}")])
            assert len(store._open) <= 3

        async def use(number: int) -> None:
            name = names[number % len(names)]
            assert await store.count(name, "acme") >= 1
            found = await store.search(name, "acme", vector(number % len(names), 1, 0, 0), 5)
            assert found[0].id == id_of(number % len(names))
            await store.upsert(name, "acme", [point(100 + number, (-1, 0, 0, 0))])
            assert id_of(100 + number) in await all_ids(store, "acme", name)

        await asyncio.gather(*(use(number) for number in range(60)))
        await store.count(names[0], "acme")
        await store.count(names[1], "acme")
        await store.create(IndexSpec("one more", 4))
        assert len(store._open) <= 4
        await store.close()
        again = EdgeVectors(tmp_path)
        assert [await again.count(name, "acme") for name in names] == [6] * len(names)
        await again.close()

    asyncio.run(story())


@pytest.mark.req("G-12")
@pytest.mark.parametrize("by", ["vector", "words"])
def test_a_tie_of_thousands_is_not_sorted_for_every_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """Thousands of nodes that say the same but for their names: what is fetched of them has a bound."""
    fetched: list[int] = []
    request = edge_store.engine.QueryRequest

    def noted(**given: Any) -> Any:
        fetched.append(given["limit"])
        return request(**given)

    monkeypatch.setattr(edge_store.engine, "QueryRequest", noted)

    async def body() -> list[str]:
        store = EdgeVectors(tmp_path)
        await store.create(spec())
        for start in range(0, 3 * MOST_TIED, 1000):
            numbers = range(start, start + 1000)
            await store.upsert(INDEX, "t", [point(n, (1, 2, 0, 0), "known in the north") for n in numbers])
        await store.upsert(INDEX, "t", [point(9_999, (1, 1, 0, 0), "known as the north north star")])
        if by == "vector":
            hits = await store.search(INDEX, "t", vector(1, 1, 0, 0), 5)
        else:
            hits = await store.keyword_search(INDEX, "t", "north star", 5)
        await store.close()
        return ids_of(hits)

    found = asyncio.run(body())
    assert len(set(found)) == 5
    assert found[0] == id_of(9_999)
    assert fetched == [5 + SPARE, 4 * (5 + SPARE), 16 * (5 + SPARE), 5 + SPARE + MOST_TIED]


def test_a_point_that_is_read_again_is_as_it_was_written_last(tmp_path: Path) -> None:
    """Points that were read are remembered: what is written, removed or made anew under their name is not."""

    async def scenario() -> None:
        store = EdgeVectors(tmp_path)
        await store.create(SPEC)
        ids = [id_of(number) for number in (3, 1, 2)]
        await store.upsert(INDEX, "acme", [point(number, (number, 1, 0, 0), f"word{number}") for number in (1, 2, 3)])
        for _ in range(2):
            found = await store.read(INDEX, "acme", [*ids, id_of(9)])
            assert list(found) == ids
            assert np.allclose(found[ids[0]].vector, np.array((3, 1, 0, 0)) / np.sqrt(10), atol=1e-6)
        assert await store.read(INDEX, "other", ids) == {}
        await store.upsert(INDEX, "acme", [point(3, (0, 0, 1, 0), "quay")])
        again = (await store.read(INDEX, "acme", ids))[ids[0]]
        assert np.allclose(again.vector, (0, 0, 1, 0))
        assert again.terms != found[ids[0]].terms
        await store.delete(INDEX, "acme", [ids[1]])
        assert list(await store.read(INDEX, "acme", ids)) == [ids[0], ids[2]]
        await store.drop(INDEX)
        await store.create(SPEC)
        assert await store.read(INDEX, "acme", ids) == {}
        await store.close()

    asyncio.run(scenario())


def test_what_is_written_while_it_is_read_is_not_remembered() -> None:
    old, new = (StoredPoint(np.ones(4, dtype=np.float32), {number: 1.0}) for number in (1, 2))
    remembered = RememberedPoints(most=2)
    _, before = remembered.known(INDEX, "acme", ["a"])
    remembered.forget(INDEX, "acme", ["a"])
    remembered.keep(INDEX, "acme", {"a": old}, before)
    found, now = remembered.known(INDEX, "acme", ["a"])
    assert found == {}
    remembered.keep(INDEX, "acme", {"a": new, "b": old}, now)
    remembered.known(INDEX, "acme", ["a"])
    remembered.keep(INDEX, "acme", {"c": old}, now)
    assert remembered.known(INDEX, "acme", "abc")[0] == {"a": new, "c": old}
