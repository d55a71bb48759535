"""Nodes on PostgreSQL keep the contract of node stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from kedge.core.settings import Settings
from kedge.stores.graph.nodes import NodeStore
from kedge.stores.graph.sql.nodes import open_nodes
from kedge.testing import NodesCongruence, NodeStoreContract
from tests.contract.postgresql import url_of


@pytest.mark.req("G-01")
@pytest.mark.store("nodes", "postgresql")
class TestPostgresqlNodes(NodeStoreContract):
    async def open_store(self, folder: Path) -> NodeStore:
        return open_nodes(url_of(folder), Settings())


class PostgresqlLikeMemory(NodesCongruence):
    async def open_store(self, folder: Path) -> NodeStore:
        return open_nodes(url_of(folder), Settings())


@pytest.mark.req("G-01")
@pytest.mark.store("nodes", "postgresql")
class TestPostgresqlLikeMemory(PostgresqlLikeMemory.TestCase):
    settings = settings(max_examples=5, stateful_step_count=12, deadline=None)
