"""The memory graph keeps the contract of graph stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.config import Settings
from kedge.stores.base import GraphStore
from kedge.stores.memory import open_graph
from kedge.testing.graph import GraphStoreContract


@pytest.mark.store("graph", "memory")
class TestMemoryGraph(GraphStoreContract):
    async def open_store(self, folder: Path) -> GraphStore:
        return open_graph("memory:", Settings())
