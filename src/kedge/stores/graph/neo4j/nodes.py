"""Nodes and edges of users in Neo4j (G-01), beside the concept graph in the same database.

A user's node is `(:UserNode)`, an edge `[:RELATES]`; what the user calls their type is a property. So no label and no
relationship type is ever made from a user's text, and there is nothing to escape. Properties are kept as JSON text,
because Neo4j's own cannot be nested. Names are nodes of their own, `(:UserName)-[:NAMES]->(:UserNode)`, since lists
cannot be indexed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from kedge.core.settings import Settings
from kedge.core.values import Scope
from kedge.stores.batches import batches
from kedge.stores.graph.neo4j.address import parse
from kedge.stores.graph.neo4j.connection import Connection, Neo4jTransaction
from kedge.stores.graph.neo4j.removing import run_until_full
from kedge.stores.graph.neo4j.words import scope_token
from kedge.stores.graph.nodes import Counts, Edge, Node, Relation, Removed
from kedge.stores.graph.rules import check, missing_ends, name_keys
from kedge.stores.queries import load_queries

CYPHER = load_queries(__package__, "nodes.cypher")
ROWS = 5000
"""Rows per statement."""


class Neo4jNodes:
    """The `NodeStore` port on a Neo4j server. Writers of one collection take turns."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def put(self, scope: Scope, nodes: Sequence[Node], edges: Sequence[Edge] = ()) -> None:
        check(nodes, edges)
        await self._connection.write(scope, _put, nodes, edges)

    async def remove(self, scope: Scope, node_ids: Sequence[str], edge_ids: Sequence[str] = ()) -> Removed:
        return await self._connection.write(scope, _remove, node_ids, edge_ids)

    async def nodes(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        rows = await self._rows(scope, CYPHER["nodes_by_id"], dict.fromkeys(ids))
        found = {row[0]: _read_node(row) for row in rows}
        return {key: found[key] for key in ids if key in found}

    async def edges(self, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
        rows = await self._rows(scope, CYPHER["edges_by_key"], (_key(scope, key) for key in dict.fromkeys(ids)))
        found = {row[0]: _read_edge(row) for row in rows}
        return {key: found[key] for key in ids if key in found}

    async def page(self, scope: Scope, *, type: str | None = None, after: str = "", limit: int = 100) -> list[Node]:
        rows = await self._connection.read(scope, CYPHER["node_page"], type=type, after=after, limit=limit)
        return [_read_node(row) for row in rows]

    async def edge_page(
        self, scope: Scope, *, type: str | None = None, node: str | None = None, after: str = "", limit: int = 100
    ) -> list[Edge]:
        statement = CYPHER["edge_page"] if node is None else CYPHER["edge_page_of_node"]
        values = {"type": type, "node": node, "after": _key(scope, after), "end": _end(scope), "limit": limit}
        return [_read_edge(row) for row in await self._connection.read(scope, statement, **values)]

    async def named(self, scope: Scope, keys: Sequence[str], limit: int) -> dict[str, list[str]]:
        rows = await self._connection.read(scope, CYPHER["nodes_named"], keys=list(dict.fromkeys(keys)), limit=limit)
        return {key: list(ids) for key, ids in rows}

    async def relations(self, scope: Scope, node_ids: Sequence[str]) -> list[Relation]:
        found: list[Relation] = []
        for node, type, outgoing, incoming in await self._rows(scope, CYPHER["relations"], dict.fromkeys(node_ids)):
            found += [Relation(node, type, True, outgoing)] if outgoing else []
            found += [Relation(node, type, False, incoming)] if incoming else []
        return found

    async def follow(
        self, scope: Scope, node_ids: Sequence[str], type: str, *, outgoing: bool, limit: int
    ) -> list[tuple[str, str, str]]:
        statement = CYPHER["follow_out"] if outgoing else CYPHER["follow_in"]
        found: list[list[Any]] = []
        for ids in batches(dict.fromkeys(node_ids), ROWS):
            found += await self._connection.read(scope, statement, ids=ids, type=type, limit=limit)
        return [(row[0], row[1], row[2]) for row in sorted(found, key=lambda row: row[1])][:limit]

    async def count(self, scope: Scope) -> Counts:
        ((nodes,),) = await self._connection.read(scope, CYPHER["count_nodes"])
        values = {"after": _key(scope, ""), "end": _end(scope)}
        ((edges,),) = await self._connection.read(scope, CYPHER["count_edges"], **values)
        return Counts(nodes, edges)

    async def drop(self, scope: Scope) -> None:
        """In several transactions, so that a graph of any size fits in the server's memory."""
        while await self._connection.write(scope, _drop_some):
            pass

    async def close(self) -> None:
        await self._connection.close()

    async def _rows(self, scope: Scope, statement: str, ids: Iterable[str]) -> list[list[Any]]:
        found: list[list[Any]] = []
        for some in batches(ids, ROWS):
            found += await self._connection.read(scope, statement, ids=some)
        return found


def open_nodes(url: str, _settings: Settings) -> Neo4jNodes:
    """The graphs in this database; ConfigError if the URL cannot be read. The server is asked on first use."""
    return Neo4jNodes(Connection(parse(url)))


# ---------------------------------------------------------------- writing


async def _put(transaction: Neo4jTransaction, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    scope, now = transaction.scope, datetime.now(UTC)
    latest = {node.id: node for node in nodes}
    rows = [{"id": node.id, "fields": _node_fields(node)} for node in latest.values()]
    names = [{"id": node.id, "key": key} for node in latest.values() for key in name_keys(node)]
    await transaction.run_over(CYPHER["put_nodes"], rows, ROWS, now=now)
    await transaction.run_over(CYPHER["put_names"], names, ROWS)
    kept = {edge.id: edge for edge in edges}
    ends = dict.fromkeys(end for edge in kept.values() for end in (edge.source, edge.target))
    known = {row[0] for some in batches(ends, ROWS) for row in await transaction.run(CYPHER["known_nodes"], ids=some)}
    if missing := ends.keys() - known:
        raise missing_ends(missing)
    keys = [{"key": _key(scope, key)} for key in kept]
    made = {row[0]: row[1] for row in await transaction.run_over(CYPHER["take_edges"], keys, ROWS)}
    new = [
        {
            "source": edge.source,
            "target": edge.target,
            "created_at": made.get(_key(scope, edge.id), now),
            "fields": _edge_fields(scope, edge),
        }
        for edge in kept.values()
    ]
    await transaction.run_over(CYPHER["put_edges"], new, ROWS, now=now)


async def _remove(transaction: Neo4jTransaction, node_ids: Sequence[str], edge_ids: Sequence[str]) -> Removed:
    scope = transaction.scope
    nodes: list[str] = []
    edges: set[str] = set()
    for some in batches(dict.fromkeys(node_ids), ROWS):
        edges |= {row[0] for row in await transaction.run(CYPHER["cut_edges"], ids=some)}
        nodes += [row[0] for row in await transaction.run(CYPHER["remove_nodes"], ids=some)]
    for keys in batches((_key(scope, key) for key in dict.fromkeys(edge_ids)), ROWS):
        edges |= {row[0] for row in await transaction.run(CYPHER["remove_edges"], ids=keys)}
    return Removed(sorted(nodes), sorted(edges))


async def _drop_some(transaction: Neo4jTransaction) -> bool:
    return await run_until_full(transaction, (CYPHER["drop_names"], CYPHER["drop_nodes"]))


def _node_fields(node: Node) -> dict[str, Any]:
    return {
        "type": node.type,
        "title": node.title,
        "description": node.description,
        "aliases": list(node.aliases),
        "properties": json.dumps(dict(node.properties), ensure_ascii=False),
    }


def _edge_fields(scope: Scope, edge: Edge) -> dict[str, Any]:
    return {
        "key": _key(scope, edge.id),
        "id": edge.id,
        "type": edge.type,
        "properties": json.dumps(dict(edge.properties), ensure_ascii=False),
    }


def _key(scope: Scope, identifier: str) -> str:
    """An edge's id among all scopes: constraints over several properties of a relationship cannot be looked up by."""
    return f"{scope_token(scope)}/{identifier}"


def _end(scope: Scope) -> str:
    """Behind every key of the scope: `0` follows `/`."""
    return f"{scope_token(scope)}0"


# ---------------------------------------------------------------- reading


def _read_node(row: Sequence[Any]) -> Node:
    key, type, title, description, aliases, properties, created, updated = row
    return Node(
        id=key,
        type=type,
        title=title,
        description=description,
        aliases=tuple(aliases),
        properties=json.loads(properties),
        created_at=created.to_native(),
        updated_at=updated.to_native(),
    )


def _read_edge(row: Sequence[Any]) -> Edge:
    key, source, target, type, properties, created, updated = row
    return Edge(key, source, target, type, json.loads(properties), created.to_native(), updated.to_native())
