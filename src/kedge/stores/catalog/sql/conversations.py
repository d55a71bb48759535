"""Conversations of users in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, select

from kedge.core.outside import from_json, to_json
from kedge.core.values import Citation, KeptConversation, KeptTurn
from kedge.stores.batches import batches
from kedge.stores.catalog.sql.database import Database, upsert
from kedge.stores.catalog.sql.schema import conversation_turns as turns
from kedge.stores.catalog.sql.schema import conversations as table


class SqlConversations:
    """The `Conversations` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, conversation: KeptConversation) -> None:
        await self._database.write(_put, conversation)

    async def get(self, tenant: str, user_hash: str, conversation_id: str) -> KeptConversation | None:
        return await self._database.read(_get, tenant, user_hash, conversation_id)

    async def page(self, tenant: str, user_hash: str, *, limit: int = 100, offset: int = 0) -> list[KeptConversation]:
        return await self._database.read(_page, tenant, user_hash, limit, offset)

    async def delete(self, tenant: str, user_hash: str, conversation_id: str | None = None) -> list[str]:
        return await self._database.write(_delete, tenant, user_hash, conversation_id)

    async def turns(self, conversation: KeptConversation) -> list[KeptTurn]:
        return await self._database.read(_turns, conversation)

    async def put_turn(self, conversation: KeptConversation, turn: KeptTurn) -> bool:
        return await self._database.write(_put_turn, conversation, turn)

    async def delete_turn(self, conversation: KeptConversation, turn_id: str) -> bool:
        return await self._database.write(_delete_turn, conversation, turn_id)

    async def sweep(self, before: datetime) -> int:
        return await self._database.write(_sweep, before)


def _own(tenant: str, user_hash: str) -> ColumnElement[bool]:
    return (table.c.tenant == tenant) & (table.c.user_hash == user_hash)


def _counted() -> Select[Any]:
    count = select(func.count()).where(turns.c.conversation_id == table.c.id).scalar_subquery()
    return select(table, count.label("turn_count"))


def _put(connection: Connection, conversation: KeptConversation) -> None:
    row = {column.name: getattr(conversation, column.name) for column in table.columns}
    upsert(connection, table, [row], ["name", "updated_at"])


def _get(connection: Connection, tenant: str, user_hash: str, conversation_id: str) -> KeptConversation | None:
    row = connection.execute(_counted().where(_own(tenant, user_hash) & (table.c.id == conversation_id))).first()
    return None if row is None else _conversation(row)


def _page(connection: Connection, tenant: str, user_hash: str, limit: int, offset: int) -> list[KeptConversation]:
    newest = _counted().where(_own(tenant, user_hash)).order_by(table.c.updated_at.desc(), table.c.id)
    return [_conversation(row) for row in connection.execute(newest.limit(limit).offset(offset))]


def _delete(connection: Connection, tenant: str, user_hash: str, conversation_id: str | None) -> list[str]:
    wanted = _own(tenant, user_hash)
    if conversation_id is not None:
        wanted &= table.c.id == conversation_id
    ids = list(connection.execute(select(table.c.id).where(wanted).order_by(table.c.id)).scalars())
    _forget(connection, ids)
    return ids


def _forget(connection: Connection, ids: Sequence[str]) -> None:
    for some in batches(ids):
        connection.execute(delete(turns).where(turns.c.conversation_id.in_(some)))
        connection.execute(delete(table).where(table.c.id.in_(some)))


def _turns(connection: Connection, conversation: KeptConversation) -> list[KeptTurn]:
    own = _own(conversation.tenant, conversation.user_hash) & (table.c.id == conversation.id)
    joined = select(turns).join(table, table.c.id == turns.c.conversation_id).where(own)
    return [_turn(row) for row in connection.execute(joined.order_by(turns.c.number, turns.c.id))]


def _put_turn(connection: Connection, conversation: KeptConversation, turn: KeptTurn) -> bool:
    if _get(connection, conversation.tenant, conversation.user_hash, conversation.id) is None:
        return False
    _put(connection, conversation)
    row: dict[str, Any] = {
        "id": turn.id,
        "conversation_id": conversation.id,
        "number": turn.number,
        "question": turn.question,
        "collection": turn.collection,
        "created_at": turn.created_at,
        "filter": dict(turn.filter),
        "content": turn.content,
        "citations": [to_json(one) for one in turn.citations],
        "metadata": dict(turn.metadata),
    }
    upsert(connection, turns, [row], [name for name in row if name not in ("id", "conversation_id")])
    return True


def _delete_turn(connection: Connection, conversation: KeptConversation, turn_id: str) -> bool:
    if _get(connection, conversation.tenant, conversation.user_hash, conversation.id) is None:
        return False
    this = (turns.c.conversation_id == conversation.id) & (turns.c.id == turn_id)
    return bool(connection.execute(delete(turns).where(this)).rowcount)


def _sweep(connection: Connection, before: datetime) -> int:
    ids = list(connection.execute(select(table.c.id).where(table.c.updated_at < before)).scalars())
    _forget(connection, ids)
    return len(ids)


def _conversation(row: Row[Any]) -> KeptConversation:
    return KeptConversation(**row._mapping)


def _turn(row: Row[Any]) -> KeptTurn:
    values = dict(row._mapping)
    del values["conversation_id"]
    cited = tuple(from_json(Citation, one) for one in values.pop("citations"))
    return KeptTurn(**values, citations=cited)
