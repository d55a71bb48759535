"""Nodes in SQLite keep the contract of node stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from kedge.core.settings import Settings
from kedge.stores.graph.nodes import NodeStore
from kedge.stores.graph.sql.nodes import open_nodes
from kedge.testing import NodesCongruence, NodeStoreContract


@pytest.mark.req("G-01")
@pytest.mark.store("nodes", "sqlite")
class TestSqliteNodes(NodeStoreContract):
    async def open_store(self, folder: Path) -> NodeStore:
        return open_nodes(f"sqlite:///{folder / 'catalog.db'}", Settings())


class SqliteLikeMemory(NodesCongruence):
    async def open_store(self, folder: Path) -> NodeStore:
        return open_nodes(f"sqlite:///{folder / 'catalog.db'}", Settings())


@pytest.mark.req("G-01")
@pytest.mark.store("nodes", "sqlite")
class TestSqliteLikeMemory(SqliteLikeMemory.TestCase):
    settings = settings(max_examples=5, stateful_step_count=10, deadline=None)
