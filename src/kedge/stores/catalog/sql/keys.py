"""API keys in SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Column, Connection, Row, Table, select

from kedge.core.values import ApiKey, Right
from kedge.stores.catalog.sql.database import Database, upsert
from kedge.stores.catalog.sql.schema import Bytewise, UtcDateTime, metadata

table = Table(
    "api_keys",
    metadata,
    Column("id", Bytewise, primary_key=True),
    Column("tenant", Bytewise, nullable=False),
    Column("name", Bytewise, nullable=False),
    Column("right", Bytewise, nullable=False),
    Column("digest", Bytewise, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime),
    Column("revoked_at", UtcDateTime),
    Column("user", Bytewise),
    Column("groups", JSON(none_as_null=True)),
)


class SqlKeys:
    """The `Keys` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, key: ApiKey) -> None:
        await self._database.write(_put, key)

    async def get(self, key_id: str) -> ApiKey | None:
        return await self._database.read(_get, key_id)

    async def all(self) -> list[ApiKey]:
        return await self._database.read(_all)

    async def exist(self) -> bool:
        return await self._database.read(_exist)


def _put(connection: Connection, key: ApiKey) -> None:
    row: dict[str, Any] = {column.name: getattr(key, column.name) for column in table.columns}
    upsert(
        connection,
        table,
        [{**row, "right": key.right.value, "groups": list(key.groups)}],
        [name for name in row if name != "id"],
    )


def _get(connection: Connection, key_id: str) -> ApiKey | None:
    row = connection.execute(select(table).where(table.c.id == key_id)).first()
    return None if row is None else _key(row)


def _all(connection: Connection) -> list[ApiKey]:
    return [_key(row) for row in connection.execute(select(table).order_by(table.c.created_at, table.c.id))]


def _exist(connection: Connection) -> bool:
    return connection.execute(select(table.c.id).limit(1)).first() is not None


def _key(row: Row[Any]) -> ApiKey:
    values = dict(row._mapping)
    return ApiKey(**{**values, "right": Right(values["right"]), "groups": tuple(values["groups"] or ())})
