"""Uploaded bytes in SQL, in pieces of a size that every driver takes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from sqlalchemy import Column, Connection, Integer, LargeBinary, Table, delete, select

from kedge.stores.batches import batches
from kedge.stores.catalog.sql.database import Database, upsert
from kedge.stores.catalog.sql.schema import Bytewise, metadata

table = Table(
    "upload_pieces",
    metadata,
    Column("upload_id", Bytewise, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("piece", LargeBinary, nullable=False),
)


class SqlUploads:
    """The `Uploads` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, upload_id: str, number: int, piece: bytes) -> None:
        await self._database.write(_append, upload_id, number, piece)

    async def read(self, upload_id: str) -> AsyncIterator[bytes]:
        number = 0
        while (piece := await self._database.read(_piece, upload_id, number)) is not None:
            yield piece
            number += 1

    async def delete(self, upload_ids: Sequence[str]) -> None:
        await self._database.write(_delete, upload_ids)


def _append(connection: Connection, upload_id: str, number: int, piece: bytes) -> None:
    upsert(connection, table, [{"upload_id": upload_id, "number": number, "piece": piece}], ["piece"])


def _piece(connection: Connection, upload_id: str, number: int) -> bytes | None:
    this = (table.c.upload_id == upload_id) & (table.c.number == number)
    found: bytes | None = connection.execute(select(table.c.piece).where(this)).scalar()
    return found


def _delete(connection: Connection, upload_ids: Sequence[str]) -> None:
    for ids in batches(upload_ids):
        connection.execute(delete(table).where(table.c.upload_id.in_(ids)))
