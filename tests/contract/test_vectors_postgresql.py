"""PostgreSQL with pgvector keeps the contract of vector stores."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from tests.services import need

from kedge.config import Settings
from kedge.stores.base import VectorStore
from kedge.stores.pgvector import open_vectors
from kedge.testing.vectors import DurableVectorStoreContract


def url_of(folder: Path, part: str = "v") -> str:
    """A schema for each folder, so that tests do not meet."""
    name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    return f"{need('postgresql')}?schema={part}_{name}"


@pytest.mark.store("vectors", "postgresql")
class TestPostgresqlVectors(DurableVectorStoreContract):
    examples = 25

    async def open_store(self, folder: Path) -> VectorStore:
        return open_vectors(url_of(folder), Settings())
