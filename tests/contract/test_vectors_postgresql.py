"""PostgreSQL with pgvector keeps the contract of vector stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.core.settings import Settings
from kedge.stores.ports import VectorStore
from kedge.stores.vectors.pgvector import open_vectors
from kedge.testing import DurableVectorStoreContract
from tests.contract.postgresql import url_of


@pytest.mark.store("vectors", "postgresql")
class TestPostgresqlVectors(DurableVectorStoreContract):
    examples = 15

    async def open_store(self, folder: Path) -> VectorStore:
        return open_vectors(url_of(folder), Settings())
