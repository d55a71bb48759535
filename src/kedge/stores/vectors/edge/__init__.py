"""The default vector store: Qdrant's engine inside the process, one folder per index. Needs no server."""

from __future__ import annotations

from kedge.stores.vectors.edge.store import EdgeVectors, open_vectors

__all__ = ["EdgeVectors", "open_vectors"]
