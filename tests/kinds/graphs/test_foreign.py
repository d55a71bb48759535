"""A Neo4j database that somebody else fills is read as it is, again and again, and never written to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import neo4j
import pytest

from kedge.core.errors import KedgeError, StoreError
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Job, Query, Scope
from kedge.core.values.filters import parse_terms
from kedge.engine.engine import Engine
from kedge.stores.graph.nodes import Node
from tests.services import need

HERE = Scope(DEFAULT_TENANT, "ships")
SHIPS = """
CREATE (v:Ship:Warship {id: 'vasa', name: 'Vasa', description: 'The Vasa sank in Stockholm harbour in 1628.',
                        launched: date('1627-03-01'), guns: 64})
CREATE (m:Ship {id: 'mary', title: 'Mary Rose', description: 'The Mary Rose sank in the Solent.'})
CREATE (s:Place {id: 'stockholm', name: 'Stockholm'})
CREATE (v)-[:SANK_IN {year: 1628}]->(s)
"""
LOOK = (
    "MATCH (n) WHERE n:Ship OR n:Place OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n), count(r), max(elementId(n))"
)


class Database:
    """What its owner does."""

    def __init__(self, url: str) -> None:
        self.url = url
        parts = urlsplit(url)
        self._driver = neo4j.GraphDatabase.driver(
            f"bolt://{parts.hostname}:{parts.port}", auth=(parts.username, parts.password)
        )

    def run(self, statement: str) -> list[Any]:
        with self._driver.session() as session:
            return session.run(statement).values()  # type: ignore[arg-type]

    def close(self) -> None:
        self.run("MATCH (n) WHERE n:Ship OR n:Place DETACH DELETE n")
        self._driver.close()


@pytest.fixture
def database() -> Iterator[Database]:
    found = Database(need("neo4j"))
    found.run("MATCH (n) WHERE n:Ship OR n:Place DETACH DELETE n")
    found.run(SHIPS)
    yield found
    found.close()


@pytest.mark.req("G-20", "G-22")
@pytest.mark.store("nodes", "neo4j in use")
def test_a_database_in_use_is_read_as_it_is(database: Database, tmp_path: Any) -> None:
    settings = load_settings(environ={}, home=tmp_path / "home", embedder="hash")
    request = IngestRequest(HERE, (database.url,), kind="graph")

    async def scenario() -> None:
        async with Engine.open(settings) as engine:
            graphs: Any = engine.kinds.named("graph")
            before = database.run(LOOK)
            job: Job = await engine.ingest(request)
            assert database.run(LOOK) == before
            assert (job.files_processed, job.passages_created) == (1, 3)
            vasa: Node = await graphs.nodes.node(HERE, "vasa")
            assert (vasa.type, vasa.title) == ("Ship", "Vasa")
            assert vasa.description.startswith("The Vasa sank")
            assert {
                "launched": "1627-03-01",
                "guns": 64,
                "labels": ["Ship", "Warship"],
            }.items() <= vasa.properties.items()
            (edge,) = await graphs.nodes.edges(HERE)
            assert (edge.source, edge.type, edge.target, edge.properties) == (
                *("vasa", "SANK_IN", "stockholm"),
                {"year": 1628},
            )
            assert (await graphs.nodes.node(HERE, "mary")).title == "Mary Rose"
            hits = (await engine.search(Query("Which ship sank in the Solent?", HERE, top_k=1))).hits
            assert hits[0].passage.external_id == "mary"
            assert "origin" not in hits[0].passage.text
            where = parse_terms(["created_at>=2026-01-01", "node_type=Ship"])
            assert len((await engine.search(Query("ship", HERE, where=where))).hits) == 2
            again = await engine.ingest(request)
            assert again.passages_created == 0
            database.run("MATCH (n:Ship {id: 'mary'}) DETACH DELETE n")
            database.run("MATCH (n:Ship {id: 'vasa'})-[r]->() DELETE r")
            database.run("MATCH (n:Place {id: 'stockholm'}) SET n.description = 'A town on fourteen islands.'")
            later = await engine.ingest(request)
            assert (later.passages_created, later.passages_deleted) == (1, 1)
            assert [node.id for node in await graphs.nodes.nodes(HERE)] == ["stockholm", "vasa"]
            assert await graphs.nodes.edges(HERE) == []
            found = (await engine.search(Query("Solent", HERE))).hits
            assert "mary" not in {hit.passage.external_id for hit in found}
            assert (await graphs.nodes.reconcile(HERE, repair=False)).ok

    asyncio.run(scenario())


@pytest.mark.req("G-20")
@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        ("neo4j://nobody:s3cret@127.0.0.1:1/none?timeout=1", StoreError, "cannot be reached"),
        ("http://127.0.0.1/graph.json?s3cret", KedgeError, "not fetched"),
    ],
)
def test_a_database_that_is_not_there(source: str, error: type[KedgeError], words: str, tmp_path: Any) -> None:
    settings = load_settings(environ={}, home=tmp_path / "home", embedder="hash")

    async def scenario() -> None:
        async with Engine.open(settings) as engine:
            with pytest.raises(error, match=words) as caught:
                await engine.ingest(IngestRequest(HERE, (source,), kind="graph"))
            assert caught.value.hint
            assert ":s3cret@" not in str(caught.value)

    asyncio.run(scenario())
