"""The memory store keeps the contract of vector stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.core.settings import Settings
from kedge.stores.ports import VectorStore
from kedge.stores.vectors.memory import open_vectors
from kedge.testing import VectorStoreContract


@pytest.mark.store("vectors", "memory")
class TestMemoryVectors(VectorStoreContract):
    async def open_store(self, folder: Path) -> VectorStore:
        return open_vectors("memory:", Settings())
