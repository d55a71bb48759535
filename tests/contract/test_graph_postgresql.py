"""The graph on PostgreSQL keeps the contract of graph stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from kedge.core.settings import Settings
from kedge.stores.graph.sql import open_graph
from kedge.stores.ports import GraphStore
from kedge.testing import GraphCongruence, GraphStoreContract
from tests.contract.postgresql import url_of


@pytest.mark.store("graph", "postgresql")
class TestPostgresqlGraph(GraphStoreContract):
    async def open_store(self, folder: Path) -> GraphStore:
        return open_graph(url_of(folder), Settings())


class PostgresqlLikeMemory(GraphCongruence):
    async def open_store(self, folder: Path) -> GraphStore:
        return open_graph(url_of(folder), Settings())


@pytest.mark.req("D-05", "D-06", "D-08")
@pytest.mark.store("graph", "postgresql")
class TestPostgresqlLikeMemory(PostgresqlLikeMemory.TestCase):
    settings = settings(max_examples=5, stateful_step_count=12, deadline=None)
