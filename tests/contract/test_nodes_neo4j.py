"""Nodes in Neo4j keep the contract of node stores, on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from kedge.core.settings import Settings
from kedge.stores.graph.neo4j.nodes import open_nodes
from kedge.stores.graph.nodes import NodeStore
from kedge.testing import NodesCongruence
from kedge.testing.nodes.contract import HERE, THERE, NodeStoreContract
from tests.services import need


async def opened(folder: Path) -> NodeStore:
    """The store; empty unless it was opened for this folder before. The server has one database for all tests."""
    store = open_nodes(need("neo4j"), Settings())
    used = folder / "used"
    if not used.exists():
        used.touch()
        for scope in (HERE, THERE):
            await store.drop(scope)
    return store


@pytest.mark.req("G-01")
@pytest.mark.store("nodes", "neo4j")
class TestNeo4jNodes(NodeStoreContract):
    async def open_store(self, folder: Path) -> NodeStore:
        return await opened(folder)


class Neo4jLikeMemory(NodesCongruence):
    async def open_store(self, folder: Path) -> NodeStore:
        return await opened(folder)


@pytest.mark.req("G-01")
@pytest.mark.store("nodes", "neo4j")
class TestNeo4jLikeMemory(Neo4jLikeMemory.TestCase):
    settings = settings(max_examples=4, stateful_step_count=8, deadline=None)
