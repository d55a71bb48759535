"""The memory graph keeps the contract of graph stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.core.settings import Settings
from kedge.stores.graph.memory.concepts import open_graph
from kedge.stores.ports import GraphStore
from kedge.testing import GraphStoreContract


@pytest.mark.store("graph", "memory")
class TestMemoryGraph(GraphStoreContract):
    async def open_store(self, folder: Path) -> GraphStore:
        return open_graph("memory:", Settings())
