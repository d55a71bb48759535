"""Nodes on PostgreSQL keep the contract of node stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from tests.contract.postgresql import url_of

from kedge.config import Settings
from kedge.stores.nodes.base import NodeStore
from kedge.stores.nodes.sql import open_nodes
from kedge.testing.nodes import NodeStoreContract
from kedge.testing.nodes_congruence import NodesCongruence


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
