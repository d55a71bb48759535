"""Qdrant Edge keeps the contract of vector stores."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge.core.settings import Settings
from kedge.stores.ports import VectorStore
from kedge.stores.vectors.edge import open_vectors
from kedge.testing import DurableVectorStoreContract

_IN_MEMORY = Path("/dev/shm")


@pytest.mark.store("vectors", "edge")
class TestEdgeVectors(DurableVectorStoreContract):
    examples = 25

    @pytest.fixture
    def folder(self) -> Iterator[Path]:
        """In memory where possible: creating an index syncs a dozen files, which takes a second on a disk."""
        with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as name:
            yield Path(name)

    async def open_store(self, folder: Path) -> VectorStore:
        return open_vectors(f"edge://{folder}/vectors", Settings())
