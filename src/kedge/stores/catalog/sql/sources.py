"""Connected sources and what is remembered of their entries, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, select, update

from kedge.core.errors import ConflictError
from kedge.core.outside import from_json, to_json
from kedge.core.values import ConnectedSource, Scope, SourceHold, SourceItem, SourceRun
from kedge.stores.batches import batches
from kedge.stores.catalog.sql.database import Database, upsert
from kedge.stores.catalog.sql.schema import connected_sources as table
from kedge.stores.catalog.sql.schema import source_items as items

_ITEM = ("key", "url", "fingerprint", "content_hash", "several", "format", "size", "note")


class SqlSources:
    """The `Sources` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, source: ConnectedSource) -> None:
        await self._database.write(_put, source)

    async def begin(self, source_id: str, at: datetime, before: datetime | None) -> bool:
        return await self._database.write(_begin, source_id, at, before)

    async def get(self, tenant: str, name: str) -> ConnectedSource | None:
        return await self._database.read(_get, tenant, name)

    async def everywhere(self) -> list[ConnectedSource]:
        return await self._database.read(_everywhere)

    async def delete(self, source_id: str) -> None:
        await self._database.write(_delete, source_id)

    async def items(self, source_id: str) -> dict[str, SourceItem]:
        return await self._database.read(_items, source_id)

    async def remember(self, source_id: str, found: Sequence[SourceItem]) -> None:
        await self._database.write(_remember, source_id, found)

    async def forget(self, source_id: str, keys: Sequence[str]) -> None:
        await self._database.write(_forget, source_id, keys)

    async def elsewhere(self, source: ConnectedSource, urls: Sequence[str]) -> set[str]:
        return await self._database.read(_elsewhere, source, urls)


def _put(connection: Connection, source: ConnectedSource) -> None:
    named = (table.c.tenant == source.scope.tenant) & (table.c.name == source.name)
    held = connection.execute(select(table.c.id).where(named)).scalar()
    if held not in (None, source.id):
        raise ConflictError(f"There is a source {source.name!r} already.", hint="Choose another name with --name.")
    row: dict[str, Any] = {
        "id": source.id,
        "tenant": source.scope.tenant,
        "collection": source.scope.collection,
        "name": source.name,
        "url": source.url,
        "every": source.every,
        "options": dict(source.options),
        "secrets": dict(source.secrets),
        "documents": source.documents,
        "held": None if source.held is None else to_json(source.held),
        "last_run": None if source.last_run is None else to_json(source.last_run),
        "cursor": source.cursor,
        "begun_at": source.begun_at,
        "created_at": source.created_at,
    }
    upsert(connection, table, [row], [name for name in row if name not in ("id", "tenant", "created_at")])


def _begin(connection: Connection, source_id: str, at: datetime, before: datetime | None) -> bool:
    same = table.c.begun_at.is_(None) if before is None else table.c.begun_at == before
    this = update(table).where((table.c.id == source_id) & same)
    return bool(connection.execute(this.values(begun_at=at)).rowcount)


def _get(connection: Connection, tenant: str, name: str) -> ConnectedSource | None:
    row = connection.execute(select(table).where((table.c.tenant == tenant) & (table.c.name == name))).first()
    return None if row is None else _source(row)


def _everywhere(connection: Connection) -> list[ConnectedSource]:
    return [_source(row) for row in connection.execute(select(table).order_by(table.c.tenant, table.c.name))]


def _delete(connection: Connection, source_id: str) -> None:
    connection.execute(delete(items).where(items.c.source_id == source_id))
    connection.execute(delete(table).where(table.c.id == source_id))


def _items(connection: Connection, source_id: str) -> dict[str, SourceItem]:
    columns = [items.c[name] for name in _ITEM]
    rows = connection.execute(select(*columns).where(items.c.source_id == source_id).order_by(items.c.key))
    return {row.key: SourceItem(**row._mapping) for row in rows}


def _remember(connection: Connection, source_id: str, found: Sequence[SourceItem]) -> None:
    if connection.execute(select(table.c.id).where(table.c.id == source_id)).first() is None:
        return
    last = {one.key: one for one in found}
    rows = [
        {"source_id": source_id, **{name: getattr(one, name) for name in _ITEM}, "note": dict(one.note)}
        for one in last.values()
    ]
    upsert(connection, items, rows, [name for name in _ITEM if name != "key"])


def _forget(connection: Connection, source_id: str, keys: Sequence[str]) -> None:
    for some in batches(keys):
        connection.execute(delete(items).where((items.c.source_id == source_id) & items.c.key.in_(some)))


def _elsewhere(connection: Connection, source: ConnectedSource, urls: Sequence[str]) -> set[str]:
    others = (
        (table.c.tenant == source.scope.tenant)
        & (table.c.collection == source.scope.collection)
        & (table.c.id != source.id)
    )
    joined = select(items.c.url).join(table, table.c.id == items.c.source_id).where(others)
    return {url for some in batches(urls) for url in connection.execute(joined.where(items.c.url.in_(some))).scalars()}


def _source(row: Row[Any]) -> ConnectedSource:
    values = dict(row._mapping)
    scope = Scope(values.pop("tenant"), values.pop("collection"))
    held, last = values.pop("held"), values.pop("last_run")
    return ConnectedSource(
        **values,
        scope=scope,
        held=None if held is None else from_json(SourceHold, held),
        last_run=None if last is None else from_json(SourceRun, last),
    )
