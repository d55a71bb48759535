"""The graph in SQLite keeps the contract of graph stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from kedge.core.settings import Settings
from kedge.stores.graph.sql import open_graph
from kedge.stores.ports import GraphStore
from kedge.testing import GraphCongruence, GraphStoreContract


@pytest.mark.store("graph", "sqlite")
class TestSqliteGraph(GraphStoreContract):
    async def open_store(self, folder: Path) -> GraphStore:
        return open_graph(f"sqlite:///{folder / 'catalog.db'}", Settings())


class SqliteLikeMemory(GraphCongruence):
    async def open_store(self, folder: Path) -> GraphStore:
        return open_graph(f"sqlite:///{folder / 'catalog.db'}", Settings())


@pytest.mark.req("D-05", "D-06", "D-08")
@pytest.mark.store("graph", "sqlite")
class TestSqliteLikeMemory(SqliteLikeMemory.TestCase):
    settings = settings(max_examples=20, stateful_step_count=12, deadline=None)
