"""The graph in Neo4j keeps the contract of graph stores, on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from kedge.core.settings import Settings
from kedge.stores.graph.neo4j import open_graph
from kedge.stores.ports import GraphStore
from kedge.testing import GraphCongruence, GraphStoreContract
from kedge.testing.graph.sample import HERE, THERE
from tests.services import need


async def opened(folder: Path) -> GraphStore:
    """The graph; empty unless it was opened for this folder before. The server has one database for all tests."""
    graph = open_graph(need("neo4j"), Settings())
    used = folder / "used"
    if not used.exists():
        used.touch()
        for scope in (HERE, THERE):
            await graph.drop(scope)
    return graph


@pytest.mark.store("graph", "neo4j")
class TestNeo4jGraph(GraphStoreContract):
    async def open_store(self, folder: Path) -> GraphStore:
        return await opened(folder)


class Neo4jLikeMemory(GraphCongruence):
    async def open_store(self, folder: Path) -> GraphStore:
        return await opened(folder)


@pytest.mark.store("graph", "neo4j")
@pytest.mark.req("D-05", "D-06", "D-08")
class TestNeo4jLikeMemory(Neo4jLikeMemory.TestCase):
    settings = settings(max_examples=10, stateful_step_count=8, deadline=None)
