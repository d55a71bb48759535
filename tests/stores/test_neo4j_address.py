"""Graph URLs of Neo4j, and what is said when no server answers; no server is needed."""

from __future__ import annotations

import asyncio
import socket

import pytest

from kedge.core.errors import ConfigError, StoreError
from kedge.core.settings import Settings
from kedge.core.values import Scope
from kedge.stores.graph.neo4j import Neo4jGraph, open_graph
from kedge.stores.graph.neo4j.address import Neo4jAddress, parse
from kedge.stores.registry import open_graph as open_by_settings


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("neo4j://host", Neo4jAddress("neo4j://host:7687", None, None, 15.0)),
        ("neo4j://me:a%2Fb@host:1/kb", Neo4jAddress("neo4j://host:1", "kb", ("me", "a/b"), 15.0)),
        ("neo4j+s://me@host/kb", Neo4jAddress("neo4j+s://host:7687", "kb", ("me", ""), 15.0)),
        ("neo4j+ssc://host?timeout=2.5", Neo4jAddress("neo4j+ssc://host:7687", None, None, 2.5)),
        ("neo4j://host?direct=true", Neo4jAddress("bolt://host:7687", None, None, 15.0)),
        ("neo4j+s://[::1]:9/?direct=true", Neo4jAddress("bolt+s://[::1]:9", None, None, 15.0)),
    ],
)
def test_urls(url: str, address: Neo4jAddress) -> None:
    assert parse(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "neo4j://",
        "neo4j+x://host",
        "bolt://host",
        "neo4j://host:port",
        "neo4j://host?timeout=soon",
        "neo4j://host?timeout=0",
        "neo4j://host?direct=maybe",
        "neo4j://host?encrypted=true",
    ],
)
def test_urls_that_cannot_be(url: str) -> None:
    with pytest.raises(ConfigError, match="graph URL"):
        parse(url)


def test_the_password_is_not_shown() -> None:
    address = parse("neo4j://me:secret@host/kb")
    assert "secret" not in repr(address) + address.shown


def test_the_registry_knows_all_schemes() -> None:
    for scheme in ("neo4j", "neo4j+s", "neo4j+ssc"):
        assert isinstance(open_by_settings(Settings(graph_url=f"{scheme}://host")), Neo4jGraph)


@pytest.mark.req("G-01")
@pytest.mark.parametrize("direct", ["true", "false"])
def test_a_server_that_is_away_is_a_store_error(direct: str) -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"neo4j://me:secret@127.0.0.1:{taken.getsockname()[1]}/kb?timeout=0.2&direct={direct}"

        async def ask() -> None:
            graph = open_graph(url, Settings())
            try:
                await graph.concepts_by_key(Scope("t", "c"), ["a"])
            finally:
                await graph.close()

        with pytest.raises(StoreError, match="cannot be reached") as caught:
            asyncio.run(ask())
    assert "Check that the server runs" in caught.value.hint
    assert "secret" not in str(caught.value)


def test_a_closed_graph_says_so() -> None:
    async def ask() -> None:
        graph = open_graph("neo4j://host", Settings())
        await graph.close()
        await graph.concepts_by_key(Scope("t", "c"), ["a"])

    with pytest.raises(StoreError, match="closed"):
        asyncio.run(ask())
