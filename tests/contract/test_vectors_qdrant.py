"""The Qdrant store keeps the contract of vector stores: in local mode, and over REST with the engine behind it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from kedge.core.settings import Settings
from kedge.stores.ports import VectorStore
from kedge.stores.vectors.qdrant import open_vectors
from kedge.testing import DurableVectorStoreContract
from tests.stores.qdrant_rest import QdrantRest

_IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def server() -> Iterator[QdrantRest]:
    with QdrantRest() as server:
        yield server


@pytest.mark.store("vectors", "qdrant (local mode)")
class TestQdrantLocalVectors(DurableVectorStoreContract):
    examples = 15

    @pytest.fixture
    def folder(self) -> Iterator[Path]:
        """In memory where possible: local mode syncs the disk for every point."""
        with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as name:
            yield Path(name)

    async def open_store(self, folder: Path) -> VectorStore:
        return open_vectors(f"qdrant+local://{folder}/vectors", Settings())


@pytest.mark.store("vectors", "qdrant (REST)")
class TestQdrantRestVectors(DurableVectorStoreContract):
    """Over real HTTP, to a server that checks every request and has Qdrant's own engine behind it."""

    examples = 8
    url: ClassVar[str]

    @pytest.fixture
    def folder(self, server: QdrantRest, tmp_path: Path) -> Path:
        server.clear()
        type(self).url = server.url
        return tmp_path

    async def open_store(self, folder: Path) -> VectorStore:
        return open_vectors(f"{self.url}?timeout=300", Settings())  # Python checks every request: slow under load
