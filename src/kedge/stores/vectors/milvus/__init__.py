"""Vectors and keywords in a Milvus server, one of its collections for each index."""

from __future__ import annotations

from kedge.stores.vectors.milvus.store import MilvusVectors, open_vectors

__all__ = ["MilvusVectors", "open_vectors"]
