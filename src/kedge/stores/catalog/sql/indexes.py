"""Indexes beside the one in use, in SQL."""

from __future__ import annotations

from collections.abc import AsyncIterator

from sqlalchemy import ColumnElement, Connection, delete, exists, insert, select, update

from kedge.core.errors import ConflictError
from kedge.core.values import Passage, Scope
from kedge.stores.catalog.ports import IndexState, SpareIndex
from kedge.stores.catalog.sql.database import Database, upsert
from kedge.stores.catalog.sql.passages import SCAN, read_passage
from kedge.stores.catalog.sql.schema import collection_indexes as table
from kedge.stores.catalog.sql.schema import collections, passage_indexes, passages


class SqlIndexes:
    """The `Indexes` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def spare(self, scope: Scope) -> list[SpareIndex]:
        return await self._database.read(_spare, scope)

    async def put(self, spare: SpareIndex) -> None:
        await self._database.write(_put, spare)

    async def switch(self, spare: SpareIndex, *, keep: bool) -> None:
        await self._database.write(_switch, spare, keep)

    async def forget(self, scope: Scope, index_name: str) -> None:
        await self._database.write(_forget, scope, index_name)

    async def unmark(self, index_name: str) -> None:
        await self._database.write(_unmark, index_name)

    async def missing(self, scope: Scope, index_name: str, batch: int) -> AsyncIterator[list[Passage]]:
        after = ("", -1)
        while found := await self._database.read(_missing, scope, index_name, batch, after):
            yield found
            after = (found[-1].document_id, found[-1].index)


def _within(scope: Scope) -> ColumnElement[bool]:
    return (table.c.tenant == scope.tenant) & (table.c.collection == scope.collection)


def _spare(connection: Connection, scope: Scope) -> list[SpareIndex]:
    rows = connection.execute(select(table).where(_within(scope)).order_by(table.c.generation))
    return [
        SpareIndex(scope, row.index_name, row.generation, row.embedder, row.dimension, IndexState(row.state))
        for row in rows
    ]


def _put(connection: Connection, spare: SpareIndex) -> None:
    row = {"index_name": spare.index_name, "generation": spare.generation, "embedder": spare.embedder}
    row |= {"tenant": spare.scope.tenant, "collection": spare.scope.collection}
    row |= {"dimension": spare.dimension, "state": spare.state.value}
    upsert(connection, table, [row], ["generation", "embedder", "dimension", "state"])
    if spare.state is IndexState.DROPPING:
        _unmark(connection, spare.index_name)


def _switch(connection: Connection, spare: SpareIndex, keep: bool) -> None:
    here = (collections.c.tenant == spare.scope.tenant) & (collections.c.name == spare.scope.collection)
    used = connection.execute(select(collections).where(here)).first()
    ready = _within(spare.scope) & (table.c.index_name == spare.index_name) & (table.c.state != IndexState.DROPPING)
    if used is None or connection.execute(select(table.c.index_name).where(ready)).first() is None:
        raise ConflictError(
            f"The index {spare.index_name} is not there to be used; nothing was switched.", hint="Build it again."
        )
    for old in _spare(connection, spare.scope):
        if old.state is IndexState.KEPT and old.index_name != spare.index_name:
            _drop(connection, old.scope, old.index_name)
    connection.execute(delete(table).where(_within(spare.scope) & (table.c.index_name == spare.index_name)))
    same = ("index_name", "generation", "embedder", "dimension")
    replaced = {name: used._mapping[name] for name in same} | {"state": IndexState.KEPT.value}
    connection.execute(
        insert(table), [{"tenant": spare.scope.tenant, "collection": spare.scope.collection, **replaced}]
    )
    if not keep:
        _drop(connection, spare.scope, used.index_name)
    connection.execute(update(collections).where(here).values({name: getattr(spare, name) for name in same}))


def _drop(connection: Connection, scope: Scope, index_name: str) -> None:
    this = _within(scope) & (table.c.index_name == index_name)
    connection.execute(update(table).where(this).values(state=IndexState.DROPPING.value))
    _unmark(connection, index_name)


def _forget(connection: Connection, scope: Scope, index_name: str) -> None:
    connection.execute(delete(table).where(_within(scope) & (table.c.index_name == index_name)))
    used = exists().where(collections.c.index_name == index_name)
    connection.execute(delete(passage_indexes).where((passage_indexes.c.index_name == index_name) & ~used))


def _unmark(connection: Connection, index_name: str) -> None:
    connection.execute(delete(passage_indexes).where(passage_indexes.c.index_name == index_name))


def _missing(
    connection: Connection, scope: Scope, index_name: str, batch: int, after: tuple[str, int]
) -> list[Passage]:
    marked = exists().where(
        (passage_indexes.c.passage_id == passages.c.passage_id) & (passage_indexes.c.index_name == index_name)
    )
    values = {"tenant": scope.tenant, "collection": scope.collection, "batch": batch}
    rows = connection.execute(SCAN.where(~marked), {**values, "document": after[0], "position": after[1]})
    return [read_passage(row) for row in rows]
