"""The vector store on PostgreSQL with the extension pgvector (`postgresql://host/database`)."""

from __future__ import annotations

from kedge.stores.vectors.pgvector.store import PgVectors, open_vectors

__all__ = ["PgVectors", "open_vectors"]
