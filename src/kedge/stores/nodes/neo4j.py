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

from kedge.config import Settings
from kedge.stores.catalog.database import batches
from kedge.stores.neo4j.address import parse
from kedge.stores.neo4j.connection import Connection, Transaction
from kedge.stores.neo4j.patterns import SCOPE
from kedge.stores.neo4j.words import scope_token
from kedge.stores.nodes.base import Counts, Edge, Node, Relation, Removed
from kedge.stores.nodes.rules import check, missing_ends, name_keys
from kedge.types import Scope

ROWS = 5000
"""Rows, or nodes dropped, per statement."""
_WITHIN = "{0}.tenant = $tenant AND {0}.collection = $collection"


def _node(name: str, identifier: str) -> str:
    return (
        f"MATCH ({name}:UserNode {{{SCOPE}, id: {identifier}}}) "
        f"USING INDEX SEEK {name}:UserNode(tenant, collection, id)"
    )


_PUT_NODES = f"""
UNWIND $rows AS row
MERGE (n:UserNode {{{SCOPE}, id: row.id}})
ON CREATE SET n.created_at = $now
SET n += row.fields, n.updated_at = $now
WITH n
MATCH (n)<-[old:NAMES]-(name)
DELETE old
WITH DISTINCT name WHERE NOT EXISTS {{ (name)-[:NAMES]->() }}
DELETE name
"""
_PUT_NAMES = f"""
UNWIND $rows AS row
{_node("n", "row.id")}
MERGE (name:UserName {{{SCOPE}, key: row.key}})
MERGE (name)-[:NAMES]->(n)
"""
_KNOWN = f"UNWIND $ids AS id {_node('n', 'id')} RETURN n.id"
_EDGE = "MATCH ()-[e:RELATES {key: %s}]->() USING INDEX SEEK e:RELATES(key)"
_OLD_EDGES = f"UNWIND $rows AS row {_EDGE % 'row.key'} WITH e, row, e.created_at AS made DELETE e RETURN row.key, made"
_PUT_EDGES = f"""
UNWIND $rows AS row
{_node("s", "row.source")}
{_node("t", "row.target")}
CREATE (s)-[e:RELATES]->(t)
SET e = row.fields, e.created_at = row.created_at, e.updated_at = $now
"""
_CUT = f"""
UNWIND $ids AS id
{_node("n", "id")}
MATCH (n)-[e:RELATES]-()
WITH DISTINCT e
WITH e, e.id AS id
DELETE e
RETURN id
"""
_REMOVE_NODES = f"""
UNWIND $ids AS id
{_node("n", "id")}
OPTIONAL MATCH (n)<-[:NAMES]-(name)
WITH n, n.id AS gone, collect(name) AS names
DETACH DELETE n
WITH gone, names
UNWIND CASE WHEN names = [] THEN [null] ELSE names END AS name
WITH gone, name, name IS NOT NULL AND NOT EXISTS {{ (name)-[:NAMES]->() }} AS idle
FOREACH (one IN CASE WHEN idle THEN [name] ELSE [] END | DELETE one)
RETURN DISTINCT gone
"""
_REMOVE_EDGES = f"UNWIND $ids AS key {_EDGE % 'key'} WITH e, e.id AS id DELETE e RETURN id"
_NODE_FIELDS = "n.id, n.type, n.title, n.description, n.aliases, n.properties, n.created_at, n.updated_at"
_EDGE_FIELDS = "e.id, startNode(e).id, endNode(e).id, e.type, e.properties, e.created_at, e.updated_at"
_NODES = f"UNWIND $ids AS id {_node('n', 'id')} RETURN {_NODE_FIELDS}"
_EDGES = f"UNWIND $ids AS key {_EDGE % 'key'} RETURN {_EDGE_FIELDS}"
_PAGE = f"""
MATCH (n:UserNode) USING INDEX SEEK n:UserNode(tenant, collection, id)
WHERE {_WITHIN.format("n")} AND n.id > $after AND ($type IS NULL OR n.type = $type)
RETURN {_NODE_FIELDS} ORDER BY n.id LIMIT $limit
"""
_EDGE_PAGE = f"""
MATCH ()-[e:RELATES]->() USING INDEX SEEK e:RELATES(key)
WHERE e.key > $after AND e.key < $end AND ($type IS NULL OR e.type = $type)
  AND ($node IS NULL OR startNode(e).id = $node OR endNode(e).id = $node)
RETURN {_EDGE_FIELDS} ORDER BY e.key LIMIT $limit
"""
_NODE_EDGE_PAGE = f"""
{_node("n", "$node")}
MATCH (n)-[e:RELATES]-()
WITH DISTINCT e WHERE e.key > $after AND ($type IS NULL OR e.type = $type)
RETURN {_EDGE_FIELDS} ORDER BY e.key LIMIT $limit
"""
_NAMED = f"""
UNWIND $keys AS key
MATCH (name:UserName {{{SCOPE}, key: key}}) USING INDEX SEEK name:UserName(tenant, collection, key)
MATCH (name)-[:NAMES]->(n:UserNode)
WITH key, n.id AS id ORDER BY id
RETURN key, collect(id)[..$limit]
"""
_RELATIONS = f"""
UNWIND $ids AS id
{_node("n", "id")}
MATCH (n)-[e:RELATES]-()
WITH id, e.type AS type, startNode(e) = n AS outgoing, endNode(e) = n AS incoming, e
WITH DISTINCT id, type, outgoing, incoming, e
RETURN id, type, sum(CASE WHEN outgoing THEN 1 ELSE 0 END), sum(CASE WHEN incoming THEN 1 ELSE 0 END)
"""
_FOLLOW = {
    True: f"""
UNWIND $ids AS id
{_node("n", "id")}
MATCH (n)-[e:RELATES]->(other) WHERE e.type = $type
RETURN id, e.id, other.id, e.key AS key ORDER BY key LIMIT $limit
""",
    False: f"""
UNWIND $ids AS id
{_node("n", "id")}
MATCH (n)<-[e:RELATES]-(other) WHERE e.type = $type
RETURN id, e.id, other.id, e.key AS key ORDER BY key LIMIT $limit
""",
}
_COUNT_NODES = f"MATCH (n:UserNode) WHERE {_WITHIN.format('n')} AND n.id IS NOT NULL RETURN count(n)"
_COUNT_EDGES = (
    "MATCH ()-[e:RELATES]->() USING INDEX SEEK e:RELATES(key) WHERE e.key > $after AND e.key < $end RETURN count(e)"
)
_DROP = tuple(
    f"MATCH (n:{label}) WHERE {_WITHIN.format('n')} AND n.{last} IS NOT NULL "
    "WITH n LIMIT $limit DETACH DELETE n RETURN count(*)"
    for label, last in (("UserName", "key"), ("UserNode", "id"))
)


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
        rows = await self._rows(scope, _NODES, list(dict.fromkeys(ids)))
        found = {row[0]: _read_node(row) for row in rows}
        return {key: found[key] for key in ids if key in found}

    async def edges(self, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
        rows = await self._rows(scope, _EDGES, [_key(scope, key) for key in dict.fromkeys(ids)])
        found = {row[0]: _read_edge(row) for row in rows}
        return {key: found[key] for key in ids if key in found}

    async def page(self, scope: Scope, *, type: str | None = None, after: str = "", limit: int = 100) -> list[Node]:
        rows = await self._connection.read(scope, _PAGE, type=type, after=after, limit=limit)
        return [_read_node(row) for row in rows]

    async def edge_page(
        self, scope: Scope, *, type: str | None = None, node: str | None = None, after: str = "", limit: int = 100
    ) -> list[Edge]:
        statement = _EDGE_PAGE if node is None else _NODE_EDGE_PAGE
        values = {"type": type, "node": node, "after": _key(scope, after), "end": _end(scope), "limit": limit}
        return [_read_edge(row) for row in await self._connection.read(scope, statement, **values)]

    async def named(self, scope: Scope, keys: Sequence[str], limit: int) -> dict[str, list[str]]:
        rows = await self._connection.read(scope, _NAMED, keys=list(dict.fromkeys(keys)), limit=limit)
        return {key: list(ids) for key, ids in rows}

    async def relations(self, scope: Scope, node_ids: Sequence[str]) -> list[Relation]:
        found: list[Relation] = []
        for node, type, outgoing, incoming in await self._rows(scope, _RELATIONS, list(dict.fromkeys(node_ids))):
            found += [Relation(node, type, True, outgoing)] if outgoing else []
            found += [Relation(node, type, False, incoming)] if incoming else []
        return found

    async def follow(
        self, scope: Scope, node_ids: Sequence[str], type: str, *, outgoing: bool, limit: int
    ) -> list[tuple[str, str, str]]:
        found: list[list[Any]] = []
        for ids in batches(dict.fromkeys(node_ids), ROWS):
            found += await self._connection.read(scope, _FOLLOW[outgoing], ids=ids, type=type, limit=limit)
        return [(row[0], row[1], row[2]) for row in sorted(found, key=lambda row: row[1])][:limit]

    async def count(self, scope: Scope) -> Counts:
        ((nodes,),) = await self._connection.read(scope, _COUNT_NODES)
        values = {"after": _key(scope, ""), "end": _end(scope)}
        ((edges,),) = await self._connection.read(scope, _COUNT_EDGES, **values)
        return Counts(nodes, edges)

    async def drop(self, scope: Scope) -> None:
        """In several transactions, so that a graph of any size fits in the server's memory."""
        while await self._connection.write(scope, _drop_some):
            pass

    async def close(self) -> None:
        await self._connection.close()

    async def _rows(self, scope: Scope, statement: str, ids: Sequence[str]) -> list[list[Any]]:
        found: list[list[Any]] = []
        for some in batches(ids, ROWS):
            found += await self._connection.read(scope, statement, ids=some)
        return found


def open_nodes(url: str, _settings: Settings) -> Neo4jNodes:
    """The graphs in this database; ConfigError if the URL cannot be read. The server is asked on first use."""
    return Neo4jNodes(Connection(parse(url)))


# ---------------------------------------------------------------- writing


async def _put(transaction: Transaction, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    scope, now = transaction.scope, datetime.now(UTC)
    latest = {node.id: node for node in nodes}
    rows = [{"id": node.id, "fields": _node_fields(node)} for node in latest.values()]
    names = [{"id": node.id, "key": key} for node in latest.values() for key in name_keys(node)]
    await _in_parts(transaction, _PUT_NODES, rows, now=now)
    await _in_parts(transaction, _PUT_NAMES, names)
    kept = {edge.id: edge for edge in edges}
    ends = dict.fromkeys(end for edge in kept.values() for end in (edge.source, edge.target))
    known = {row[0] for some in batches(ends, ROWS) for row in await transaction.run(_KNOWN, ids=some)}
    if missing := ends.keys() - known:
        raise missing_ends(missing)
    keys = [{"key": _key(scope, key)} for key in kept]
    made = {row[0]: row[1] for row in await _in_parts(transaction, _OLD_EDGES, keys)}
    new = [
        {
            "source": edge.source,
            "target": edge.target,
            "created_at": made.get(_key(scope, edge.id), now),
            "fields": _edge_fields(scope, edge),
        }
        for edge in kept.values()
    ]
    await _in_parts(transaction, _PUT_EDGES, new, now=now)


async def _in_parts(transaction: Transaction, statement: str, rows: Iterable[object], **values: object) -> list[Any]:
    found: list[Any] = []
    for part in batches(rows, ROWS):
        found += await transaction.run(statement, rows=part, **values)
    return found


async def _remove(transaction: Transaction, node_ids: Sequence[str], edge_ids: Sequence[str]) -> Removed:
    scope = transaction.scope
    nodes: list[str] = []
    edges: set[str] = set()
    for some in batches(dict.fromkeys(node_ids), ROWS):
        edges |= {row[0] for row in await transaction.run(_CUT, ids=some)}
        nodes += [row[0] for row in await transaction.run(_REMOVE_NODES, ids=some)]
    for keys in batches((_key(scope, key) for key in dict.fromkeys(edge_ids)), ROWS):
        edges |= {row[0] for row in await transaction.run(_REMOVE_EDGES, ids=keys)}
    return Removed(sorted(nodes), sorted(edges))


async def _drop_some(transaction: Transaction) -> bool:
    for statement in _DROP:
        ((count,),) = await transaction.run(statement, limit=ROWS)
        if count == ROWS:
            return True
    return False


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
