"""Vectors and keywords in InterSystems IRIS, by its official driver. Never run against an IRIS server yet."""

from __future__ import annotations

from kedge.stores.vectors.iris.store import IrisVectors, open_vectors

__all__ = ["IrisVectors", "open_vectors"]
