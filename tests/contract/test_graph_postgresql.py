"""The graph on PostgreSQL keeps the contract of graph stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from tests.contract.postgresql import url_of

from kedge.config import Settings
from kedge.stores.base import GraphStore
from kedge.stores.sqlgraph import open_graph
from kedge.testing.graph import GraphStoreContract
from kedge.testing.graph_congruence import GraphCongruence


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
