"""The catalog in the process's memory: for tests, for throw-away sessions, and as the oracle of the others."""

from __future__ import annotations

from kedge.stores.catalog.memory.catalog import open_catalog

__all__ = ["open_catalog"]
