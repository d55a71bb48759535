"""Milvus against the vector store contract, on the real server (`make services`)."""

from __future__ import annotations

import asyncio
import itertools
import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pymilvus import MilvusClient

from kedge.stores.ports import IndexSpec, VectorStore
from kedge.stores.vectors.milvus import MilvusVectors
from kedge.stores.vectors.milvus.address import read_address
from kedge.stores.vectors.milvus.names import collection_name
from kedge.testing.vectors import strategies as made
from kedge.testing.vectors.contract import DurableVectorStoreContract
from kedge.testing.vectors.opened import assert_filter, filters_on, on_store, spec, write_every_value
from tests.services import milvus, need

SPARE = "spare"
AT_ONCE = 4


class Spares:
    """Empty indexes like the suite's, made ahead by the store itself: loading one takes the server two seconds."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ready: queue.Queue[str] = queue.Queue(2 * AT_ONCE)
        self._numbers = itertools.count()
        self._over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._fill()))
        self._thread.start()

    def take(self) -> str:
        return self._ready.get(timeout=60)

    def close(self) -> None:
        self._over.set()
        while self._thread.is_alive():
            self._thread.join(0.05)
            while not self._ready.empty():
                self._ready.get_nowait()

    async def _fill(self) -> None:
        store = MilvusVectors(read_address(self._url))
        while not self._over.is_set():
            names = [f"{SPARE}{next(self._numbers)}" for _ in range(AT_ONCE)]
            await asyncio.gather(*(store.create(spec(name)) for name in names))
            for name in names:
                await asyncio.to_thread(self._ready.put, name)
        await store.close()


class Prepared(MilvusVectors):
    """The store, but a new index of the suite's kind is a spare one under a new name."""

    def __init__(self, url: str, spares: Spares) -> None:
        super().__init__(read_address(url))
        self._spares = spares
        self._make = self.collections.make
        self.collections.make = self._rename  # type: ignore[method-assign]

    async def _rename(self, name: str, wanted: IndexSpec) -> None:
        if wanted != spec(wanted.name):
            await self._make(name, wanted)
            return
        spare = await asyncio.to_thread(self._spares.take)
        await self._server.ask(MilvusClient.rename_collection, collection_name(spare), name)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with milvus.own_database(need("milvus"), "kedge_contract") as url:
        yield url


@pytest.fixture(scope="module")
def spares(server: str) -> Iterator[Spares]:
    made = Spares(server)
    yield made
    made.close()


@pytest.mark.store("vectors", "milvus")
class TestMilvusVectors(DurableVectorStoreContract):
    examples = 5

    @pytest.fixture
    def folder(self, server: str, spares: Spares) -> Iterator[Path]:
        self.url, self.spares = server, spares
        yield Path()
        milvus.empty(server, keep=SPARE)

    async def open_store(self, folder: Path) -> VectorStore:
        return Prepared(self.url, self.spares)

    @pytest.mark.req("C-07")
    @on_store
    async def test_every_value_is_told_from_every_other(self, store: VectorStore) -> None:
        """As in the suite, but the questions wait for the server's clock together."""
        await write_every_value(store)
        for field in made.FIELDS:
            await asyncio.gather(*(assert_filter(store, field, where) for where in filters_on(field)))


@pytest.mark.store("vectors", "milvus+lite")
class TestMilvusLite(DurableVectorStoreContract):
    """The same store on `milvus-lite`, which has sparse vectors as Milvus 2.4 and later do. Its files are slow."""

    examples = 5

    @pytest.fixture(autouse=True)
    def driver(self) -> None:
        pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")

    async def open_store(self, folder: Path) -> VectorStore:
        return MilvusVectors(read_address(f"milvus+lite://{folder}/vectors.db"))
