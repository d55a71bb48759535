"""The IRIS store keeps the contract of vector stores, with SQLite in the place of a server: no IRIS is to be had."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge.stores.ports import VectorStore
from kedge.stores.vectors.iris import IrisVectors
from kedge.stores.vectors.iris.address import IrisAddress
from kedge.testing import DurableVectorStoreContract
from tests.stores.iris_sqlite import Connection

_IN_MEMORY = Path("/dev/shm")


@pytest.mark.store("vectors", "iris (SQL on SQLite)")
class TestIrisVectors(DurableVectorStoreContract):
    examples = 15

    @pytest.fixture
    def folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as name:
            yield Path(name)

    async def open_store(self, folder: Path) -> VectorStore:
        return IrisVectors(IrisAddress.of("iris://user:password@host:1972/USER"), lambda: Connection(folder))
