"""Nodes and edges in the catalog's database, SQLite or PostgreSQL by the same code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, Table, delete, func, select

from kedge.core.settings import Settings
from kedge.core.values import Scope
from kedge.stores.batches import batches
from kedge.stores.catalog.sql.database import Database, insert_rows, upsert
from kedge.stores.catalog.sql.schema_nodes import user_edges, user_node_names, user_nodes
from kedge.stores.graph.nodes import Counts, Edge, Node, Relation, Removed
from kedge.stores.graph.rules import check, missing_ends, name_keys
from kedge.stores.graph.sql.writing import numbered, within

_KEY = ("tenant", "collection", "id")
_SOURCE = user_nodes.alias("source")
_TARGET = user_nodes.alias("target")


class SqlNodes:
    """The `NodeStore` port over three tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, scope: Scope, nodes: Sequence[Node], edges: Sequence[Edge] = ()) -> None:
        check(nodes, edges)
        await self._database.write(_put, scope, nodes, edges)

    async def remove(self, scope: Scope, node_ids: Sequence[str], edge_ids: Sequence[str] = ()) -> Removed:
        return await self._database.write(_remove, scope, node_ids, edge_ids)

    async def nodes(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        return await self._database.read(_nodes, scope, ids)

    async def edges(self, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
        return await self._database.read(_edges, scope, ids)

    async def page(self, scope: Scope, *, type: str | None = None, after: str = "", limit: int = 100) -> list[Node]:
        return await self._database.read(_page, scope, type, after, limit)

    async def edge_page(
        self, scope: Scope, *, type: str | None = None, node: str | None = None, after: str = "", limit: int = 100
    ) -> list[Edge]:
        return await self._database.read(_edge_page, scope, type=type, node=node, after=after, limit=limit)

    async def named(self, scope: Scope, keys: Sequence[str], limit: int) -> dict[str, list[str]]:
        return await self._database.read(_named, scope, keys, limit)

    async def relations(self, scope: Scope, node_ids: Sequence[str]) -> list[Relation]:
        return await self._database.read(_relations, scope, node_ids)

    async def follow(
        self, scope: Scope, node_ids: Sequence[str], type: str, *, outgoing: bool, limit: int
    ) -> list[tuple[str, str, str]]:
        return await self._database.read(_follow, scope, node_ids, type, outgoing=outgoing, limit=limit)

    async def count(self, scope: Scope) -> Counts:
        return await self._database.read(_count, scope)

    async def drop(self, scope: Scope) -> None:
        await self._database.write(_drop, scope)

    async def close(self) -> None:
        await self._database.close()


def open_nodes(url: str, _settings: Settings) -> SqlNodes:
    """Open the tables, creating or upgrading them. StoreError when the database cannot be used."""
    return SqlNodes(Database(url))


# ---------------------------------------------------------------- writing


def _put(connection: Connection, scope: Scope, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    now = datetime.now(UTC)
    latest = {node.id: node for node in nodes}
    _put_nodes(connection, scope, latest.values(), now)
    kept = {edge.id: edge for edge in edges}
    if not kept:
        return
    ends = dict.fromkeys(end for edge in kept.values() for end in (edge.source, edge.target))
    numbers = _numbers(connection, scope, ends)
    if missing := ends.keys() - numbers.keys():
        raise missing_ends(missing)
    rows = [
        {
            **_identity(scope, edge.id, now),
            "source_seq": numbers[edge.source],
            "target_seq": numbers[edge.target],
            "type": edge.type,
            "properties": dict(edge.properties),
        }
        for edge in kept.values()
    ]
    upsert(connection, user_edges, rows, ("source_seq", "target_seq", "type", "properties", "updated_at"), _KEY)


def _put_nodes(connection: Connection, scope: Scope, nodes: Iterable[Node], now: datetime) -> None:
    rows = [
        {
            **_identity(scope, node.id, now),
            "type": node.type,
            "title": node.title,
            "description": node.description,
            "aliases": list(node.aliases),
            "properties": dict(node.properties),
        }
        for node in nodes
    ]
    if not rows:
        return
    changing = ("type", "title", "description", "aliases", "properties", "updated_at")
    upsert(connection, user_nodes, rows, changing, _KEY)
    numbers = _numbers(connection, scope, [node.id for node in nodes])
    for seqs in batches(numbers.values()):
        connection.execute(delete(user_node_names).where(user_node_names.c.node_seq.in_(seqs)))
    names = [
        {"tenant": scope.tenant, "collection": scope.collection, "key": key, "node_seq": numbers[node.id]}
        for node in nodes
        for key in name_keys(node)
    ]
    if names:
        insert_rows(connection, user_node_names, user_node_names.insert(), names)


def _identity(scope: Scope, key: str, now: datetime) -> dict[str, Any]:
    return {
        "tenant": scope.tenant,
        "collection": scope.collection,
        "id": key,
        "created_at": now,
        "updated_at": now,
    }


def _numbers(connection: Connection, scope: Scope, ids: Iterable[str]) -> dict[str, int]:
    return numbered(connection, user_nodes, user_nodes.c.id, scope, ids)


def _remove(connection: Connection, scope: Scope, node_ids: Sequence[str], edge_ids: Sequence[str]) -> Removed:
    numbers = _numbers(connection, scope, dict.fromkeys(node_ids))
    edges: dict[int, str] = {}
    for seqs in batches(numbers.values()):
        at = user_edges.c.source_seq.in_(seqs) | user_edges.c.target_seq.in_(seqs)
        edges.update(_pairs(connection, select(user_edges.c.seq, user_edges.c.id).where(at)))
    for some in batches(dict.fromkeys(edge_ids)):
        named = within(user_edges, scope) & user_edges.c.id.in_(some)
        edges.update(_pairs(connection, select(user_edges.c.seq, user_edges.c.id).where(named)))
    for seqs in batches(edges):
        connection.execute(delete(user_edges).where(user_edges.c.seq.in_(seqs)))
    for seqs in batches(numbers.values()):
        connection.execute(delete(user_node_names).where(user_node_names.c.node_seq.in_(seqs)))
        connection.execute(delete(user_nodes).where(user_nodes.c.seq.in_(seqs)))
    return Removed(sorted(numbers), sorted(edges.values()))


def _pairs(connection: Connection, statement: Select[Any]) -> list[tuple[int, str]]:
    return [(row[0], row[1]) for row in connection.execute(statement)]


def _drop(connection: Connection, scope: Scope) -> None:
    for table in (user_edges, user_node_names, user_nodes):
        connection.execute(delete(table).where(within(table, scope)))


# ---------------------------------------------------------------- reading


def _node(row: Row[Any]) -> Node:
    return Node(
        id=row.id,
        type=row.type,
        title=row.title,
        description=row.description,
        aliases=tuple(row.aliases),
        properties=row.properties,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _select_edges(scope: Scope) -> Select[Any]:
    joined = user_edges.join(_SOURCE, _SOURCE.c.seq == user_edges.c.source_seq).join(
        _TARGET, _TARGET.c.seq == user_edges.c.target_seq
    )
    columns = (
        user_edges.c.id,
        _SOURCE.c.id.label("source"),
        _TARGET.c.id.label("target"),
        *(user_edges.c[name] for name in ("type", "properties", "created_at", "updated_at")),
    )
    return select(*columns).select_from(joined).where(within(user_edges, scope))


def _nodes(connection: Connection, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for some in batches(dict.fromkeys(ids)):
        rows = connection.execute(select(user_nodes).where(within(user_nodes, scope), user_nodes.c.id.in_(some)))
        found.update((row.id, _node(row)) for row in rows)
    return {key: found[key] for key in ids if key in found}


def _edges(connection: Connection, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
    found: dict[str, Edge] = {}
    for some in batches(dict.fromkeys(ids)):
        rows = connection.execute(_select_edges(scope).where(user_edges.c.id.in_(some)))
        found.update((row.id, Edge(**row._mapping)) for row in rows)
    return {key: found[key] for key in ids if key in found}


def _page(connection: Connection, scope: Scope, type: str | None, after: str, limit: int) -> list[Node]:
    statement = select(user_nodes).where(within(user_nodes, scope), user_nodes.c.id > after)
    if type is not None:
        statement = statement.where(user_nodes.c.type == type)
    return [_node(row) for row in connection.execute(statement.order_by(user_nodes.c.id).limit(limit))]


def _edge_page(
    connection: Connection, scope: Scope, *, type: str | None, node: str | None, after: str, limit: int
) -> list[Edge]:
    statement = _select_edges(scope).where(user_edges.c.id > after)
    if type is not None:
        statement = statement.where(user_edges.c.type == type)
    if node is not None:
        seq = _numbers(connection, scope, [node]).get(node, -1)
        statement = statement.where((user_edges.c.source_seq == seq) | (user_edges.c.target_seq == seq))
    return [Edge(**row._mapping) for row in connection.execute(statement.order_by(user_edges.c.id).limit(limit))]


def _named(connection: Connection, scope: Scope, keys: Sequence[str], limit: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    joined = user_node_names.join(user_nodes, user_nodes.c.seq == user_node_names.c.node_seq)
    for some in batches(dict.fromkeys(keys)):
        rows = connection.execute(
            select(user_node_names.c.key, user_nodes.c.id)
            .select_from(joined)
            .where(within(user_node_names, scope), user_node_names.c.key.in_(some))
            .order_by(user_nodes.c.id)
        )
        for key, node in rows:
            held = found.setdefault(key, [])
            if len(held) < limit:
                held.append(node)
    return found


def _relations(connection: Connection, scope: Scope, node_ids: Sequence[str]) -> list[Relation]:
    names = {seq: node for node, seq in _numbers(connection, scope, dict.fromkeys(node_ids)).items()}
    found: list[Relation] = []
    for seqs in batches(names):
        for side, outgoing in ((user_edges.c.source_seq, True), (user_edges.c.target_seq, False)):
            counted = select(side, user_edges.c.type, func.count()).where(side.in_(seqs))
            for seq, type, count in connection.execute(counted.group_by(side, user_edges.c.type)):
                found.append(Relation(names[seq], type, outgoing, count))
    return found


def _follow(
    connection: Connection, scope: Scope, node_ids: Sequence[str], type: str, *, outgoing: bool, limit: int
) -> list[tuple[str, str, str]]:
    names = {seq: node for node, seq in _numbers(connection, scope, dict.fromkeys(node_ids)).items()}
    near, far = user_edges.c.source_seq, user_edges.c.target_seq
    if not outgoing:
        near, far = far, near
    found: list[tuple[str, str, str]] = []
    joined = user_edges.join(_TARGET, _TARGET.c.seq == far)
    for seqs in batches(names):
        rows = connection.execute(
            select(near, user_edges.c.id, _TARGET.c.id)
            .select_from(joined)
            .where(near.in_(seqs), user_edges.c.type == type)
            .order_by(user_edges.c.id)
            .limit(limit)
        )
        found += [(names[row[0]], row[1], row[2]) for row in rows]
    return sorted(found, key=lambda one: one[1])[:limit]


def _count(connection: Connection, scope: Scope) -> Counts:
    def of(table: Table) -> int:
        return connection.execute(select(func.count()).select_from(table).where(within(table, scope))).scalar_one()

    return Counts(of(user_nodes), of(user_edges))
