"""The audit log in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, update

from kedge.core.values import AuditEntry, documents_in
from kedge.stores.batches import batches
from kedge.stores.catalog.sql.analytics import forget_queries
from kedge.stores.catalog.sql.database import Database
from kedge.stores.catalog.sql.schema import conversation_turns as turns
from kedge.stores.catalog.sql.schema import conversations, rag_queries
from kedge.stores.catalog.sql.schema_rights import audit_documents as named
from kedge.stores.catalog.sql.schema_rights import audit_log as table


class SqlAuditLog:
    """The `AuditLog` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, entry: AuditEntry) -> None:
        await self._database.write(_record, entry)

    async def recent(
        self, tenant: str, *, who: str | None = None, document_id: str | None = None, limit: int = 100
    ) -> list[AuditEntry]:
        return await self._database.read(_recent, tenant, who, document_id, limit)

    async def count(self, tenant: str) -> int:
        return await self._database.read(_count, tenant)

    async def sweep(self, before: datetime) -> int:
        return await self._database.write(_sweep, before)

    async def traces(self, tenant: str, document_id: str, *, erase: bool = False) -> tuple[int, int, int]:
        if erase:
            return await self._database.write(_erase, tenant, document_id)
        return await self._database.read(_traces, tenant, document_id)


def _record(connection: Connection, entry: AuditEntry) -> None:
    row: dict[str, Any] = {column.name: getattr(entry, column.name) for column in table.columns}
    connection.execute(table.insert(), [row])
    rows = [{"entry_id": entry.id, "document_id": one} for one in dict.fromkeys(entry.documents)]
    if rows:
        connection.execute(named.insert(), rows)


def _recent(
    connection: Connection, tenant: str, who: str | None, document_id: str | None, limit: int
) -> list[AuditEntry]:
    wanted = select(table).where(table.c.tenant == tenant)
    if who is not None:
        wanted = wanted.where(table.c.who == who)
    if document_id is not None:
        wanted = wanted.where(table.c.id.in_(select(named.c.entry_id).where(named.c.document_id == document_id)))
    rows = connection.execute(wanted.order_by(table.c.at.desc(), table.c.id).limit(limit)).all()
    cited: dict[str, list[str]] = {}
    for ids in batches(row.id for row in rows):
        held = select(named).where(named.c.entry_id.in_(ids)).order_by(named.c.document_id)
        for row in connection.execute(held):
            cited.setdefault(row.entry_id, []).append(row.document_id)
    return [_entry(row, cited.get(row.id, ())) for row in rows]


def _entry(row: Row[Any], documents: Sequence[str]) -> AuditEntry:
    return AuditEntry(**row._mapping, documents=tuple(documents))


def _count(connection: Connection, tenant: str) -> int:
    return connection.execute(select(func.count()).where(table.c.tenant == tenant)).scalar_one()


def _sweep(connection: Connection, before: datetime) -> int:
    old = select(table.c.id).where(table.c.at < before)
    connection.execute(delete(named).where(named.c.entry_id.in_(old)))
    return connection.execute(delete(table).where(table.c.at < before)).rowcount


# ---------------------------------------------------------------- what is kept of a document


def _traces(connection: Connection, tenant: str, document_id: str) -> tuple[int, int, int]:
    entries = _entries(connection, tenant, document_id)
    return len(entries), len(_queries(connection, tenant, entries)), len(_turns(connection, tenant, document_id))


def _erase(connection: Connection, tenant: str, document_id: str) -> tuple[int, int, int]:
    entries = _entries(connection, tenant, document_id)
    queries = _queries(connection, tenant, entries)
    quoting = _turns(connection, tenant, document_id)
    forget_queries(connection, queries)
    for ids in batches(row.id for row in entries):
        connection.execute(delete(named).where(named.c.entry_id.in_(ids) & (named.c.document_id == document_id)))
        connection.execute(update(table).where(table.c.id.in_(ids)).values(words=None))
        others = select(named.c.entry_id).where(named.c.entry_id.in_(ids))
        connection.execute(delete(table).where(table.c.id.in_(ids) & table.c.id.not_in(others)))
    for ids in batches(quoting):
        connection.execute(delete(turns).where(turns.c.id.in_(ids)))
    return len(entries), len(queries), len(quoting)


def _entries(connection: Connection, tenant: str, document_id: str) -> list[Row[Any]]:
    held = select(named.c.entry_id).where(named.c.document_id == document_id)
    own = select(table.c.id, table.c.query_id).where(table.c.tenant == tenant, table.c.id.in_(held))
    return list(connection.execute(own.order_by(table.c.id)))


def _queries(connection: Connection, tenant: str, entries: Sequence[Row[Any]]) -> list[str]:
    found: list[str] = []
    for ids in batches(row.query_id for row in entries if row.query_id is not None):
        known = select(rag_queries.c.id).where(rag_queries.c.tenant == tenant, rag_queries.c.id.in_(ids))
        found += connection.execute(known).scalars()
    return found


def _turns(connection: Connection, tenant: str, document_id: str) -> list[str]:
    """Turns with a citation of the document. Citations are JSON, read here: no index knows them."""
    own = select(turns.c.id, turns.c.metadata).join(conversations, conversations.c.id == turns.c.conversation_id)
    rows = connection.execute(own.where(conversations.c.tenant == tenant))
    return [row.id for row in rows if document_id in documents_in(row.metadata)]
