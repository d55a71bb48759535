"""A Neo4j database that is in use already, read as it is: its nodes and relationships, in pages, never written to.

| there | here |
|---|---|
| `id` where it is unique in the database, else the element id | `id` |
| labels | the first by name is `type`; where there are several, all are the property `labels` |
| `name`, else `title`, else the id | `title` |
| `description` | `description` |
| all else | `properties`; dates and points as text |

Every node knows its database in the property `origin`, which is neither text nor filter, so that one that vanished
there is found here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import neo4j
from neo4j import AsyncGraphDatabase, AsyncSession

from kedge.core.values import Json
from kedge.stores.graph.neo4j.address import Neo4jAddress, parse
from kedge.stores.graph.neo4j.failures import translated
from kedge.stores.graph.nodes import Edge, Node
from kedge.stores.queries import load_queries

CYPHER = load_queries(__package__, "foreign.cypher")
OWN_LABELS = ("UserNode", "UserName", "Concept", "Chunk", "Document", "Title", "Collection")
"""Labels of the nodes that Kedge writes itself, where it keeps its graphs in the same database."""
ORIGIN = "origin"
PAGE = 1000
"""Rows that the server sends at a time."""
_NAMES = ("name", "title")


class ForeignGraph:
    """The nodes and relationships of one database. StoreError when it cannot be reached, ConfigError for its URL."""

    def __init__(self, url: str, password: str | None = None) -> None:
        address = parse(url)
        if password is not None and address.auth is not None:
            address = replace(address, auth=(address.auth[0], password))
        self._address: Neo4jAddress = address
        self._by_id = False

    @property
    def shown(self) -> str:
        """For messages, and as the origin of nodes: never the password."""
        return self._address.shown

    async def nodes(self) -> AsyncIterator[list[Node]]:
        """All nodes that are not Kedge's own, in pages, in no promised order."""
        async for rows in self._pages(CYPHER["all_nodes"], first=True):
            yield [self._node(*row) for row in rows]

    async def edges(self) -> AsyncIterator[list[Edge]]:
        """All relationships between them, in pages; after `nodes`."""
        async for rows in self._pages(CYPHER["all_relationships"]):
            yield [
                Edge(str(key), self._id(a, a_id), self._id(b, b_id), str(kind), properties=_plain(properties))
                for key, kind, a, a_id, b, b_id, properties in rows
            ]

    async def _pages(self, statement: str, *, first: bool = False) -> AsyncIterator[list[list[Any]]]:
        with translated(self.shown):
            async with self._session() as session:
                own = {"own": list(OWN_LABELS)}
                if first:
                    held, distinct = (await (await session.run(_literal(CYPHER["ids_of_nodes"]), own)).values())[0]
                    self._by_id = held == distinct
                result = await session.run(_literal(statement), own)
                while records := await result.fetch(PAGE):
                    yield [list(record.values()) for record in records]

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[AsyncSession]:
        driver = AsyncGraphDatabase.driver(
            self._address.uri,
            auth=self._address.auth,
            connection_timeout=self._address.timeout,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )
        async with (
            driver,
            driver.session(
                database=self._address.database, default_access_mode=neo4j.READ_ACCESS, fetch_size=PAGE
            ) as session,
        ):
            yield session

    def _id(self, element: str, own: Any) -> str:
        usable = self._by_id and isinstance(own, (str, int)) and not isinstance(own, bool) and own != ""
        return str(own) if usable else element

    def _node(self, element: str, labels: list[str], held: Mapping[str, Any]) -> Node:
        key = self._id(element, held.get("id"))
        names = sorted(labels)
        name = next((field for field in _NAMES if isinstance(held.get(field), str) and held[field].strip()), None)
        described = held.get("description")
        used = {"id", name, "description" if isinstance(described, str) else None}
        properties = _plain({field: value for field, value in held.items() if field not in used})
        several: dict[str, Json] = {"labels": list(names)} if len(names) > 1 else {}
        origin: dict[str, Json] = {ORIGIN: {"neo4j": self.shown, "element": element}}
        return Node(
            id=key,
            type=names[0] if names else "",
            title=held[name] if name else key,
            description=described if isinstance(described, str) else "",
            properties={**properties, **several, **origin},
        )


def origin_of(node: Node) -> str | None:
    """The database that the node came from."""
    found = node.properties.get(ORIGIN)
    shown = found.get("neo4j") if isinstance(found, dict) else None
    return shown if isinstance(shown, str) else None


def _plain(held: Mapping[str, Any]) -> dict[str, Json]:
    return {name: _value(value) for name, value in held.items()}


def _value(value: Any) -> Json:
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, list):
        return [_value(one) for one in value]
    written = getattr(value, "iso_format", None)  # the driver's own dates, times and durations
    return str(written() if callable(written) else value)


def _literal(statement: str) -> Any:
    """The driver asks type checkers for literal strings; ours are read from a file of the package."""
    return statement
