"""PostgreSQL with pgvector keeps the contract of vector stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contract.postgresql import url_of

from kedge.config import Settings
from kedge.stores.base import VectorStore
from kedge.stores.pgvector import open_vectors
from kedge.testing.vectors import DurableVectorStoreContract


@pytest.mark.store("vectors", "postgresql")
class TestPostgresqlVectors(DurableVectorStoreContract):
    examples = 15

    async def open_store(self, folder: Path) -> VectorStore:
        return open_vectors(url_of(folder), Settings())
