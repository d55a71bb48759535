"""Vectors and keywords on a Qdrant server (1.19 or newer), or in qdrant-client's own local mode."""

from __future__ import annotations

from kedge.stores.vectors.qdrant.store import QdrantVectors, open_vectors

__all__ = ["QdrantVectors", "open_vectors"]
