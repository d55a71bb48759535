"""Stores that live in the process's memory: for tests, for throw-away sessions, and as the oracle of the others."""

from __future__ import annotations

from kedge.stores.memory.catalog import open_catalog
from kedge.stores.memory.graph import open_graph
from kedge.stores.memory.vectors import open_vectors

__all__ = ["open_catalog", "open_graph", "open_vectors"]
