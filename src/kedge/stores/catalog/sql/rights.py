"""Who may read what, and what is held, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, true, update

from kedge.core.acting import actor
from kedge.core.errors import HeldError
from kedge.core.values import Actor, Hold, Narrowed, Readers, Scope
from kedge.stores.batches import batches
from kedge.stores.catalog.sql.database import Database, upsert
from kedge.stores.catalog.sql.schema import document_versions as versions
from kedge.stores.catalog.sql.schema import documents
from kedge.stores.catalog.sql.schema_rights import audiences, legal_holds, reading_rules
from kedge.stores.catalog.sql.schema_rights import unsettled_documents as unsettled
from kedge.stores.catalog.sql.seeing import audience_of
from kedge.stores.catalog.sql.sights import changed, sight_of
from kedge.stores.catalog.sql.versions import counted


class SqlRights:
    """The `Rights` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def give(self, tenant: str, document_ids: Sequence[str], readers: Readers | None) -> list[str]:
        return await self._database.write(_give, tenant, document_ids, readers)

    async def readers(self, document_ids: Sequence[str]) -> dict[str, Readers]:
        return await self._database.read(_readers, document_ids)

    async def expected(self, version_ids: Sequence[str]) -> dict[str, Readers]:
        return await self._database.read(_expected, version_ids)

    async def narrowed(self, scope: Scope) -> Narrowed | None:
        who = actor()
        return None if who is None else await self._database.read(_narrowed, scope, who)

    async def restricted(self, tenant: str | None = None) -> bool:
        return await self._database.read(_restricted, tenant)

    async def restricted_documents(self, tenant: str) -> int:
        return await self._database.read(_restricted_documents, tenant)

    async def unsettled(self, scope: Scope) -> list[str]:
        return await self._database.read(_unsettled, scope)

    async def settled(self, document_ids: Sequence[str]) -> None:
        await self._database.write(_settled, document_ids)

    async def rules(self, scope: Scope) -> dict[str, Readers]:
        return await self._database.read(_rules, scope)

    async def rule(self, scope: Scope, label: str, readers: Readers | None) -> None:
        await self._database.write(_rule, scope, label, readers)

    async def hold(self, hold: Hold) -> None:
        await self._database.write(_hold, hold)

    async def release(self, tenant: str, document_id: str) -> bool:
        return await self._database.write(_release, tenant, document_id)

    async def holds(self, tenant: str, document_ids: Sequence[str] | None = None) -> list[Hold]:
        return await self._database.read(_holds, tenant, document_ids)


# ---------------------------------------------------------------- readers


def _give(connection: Connection, tenant: str, document_ids: Sequence[str], readers: Readers | None) -> list[str]:
    changed: list[str] = []
    for ids in batches(dict.fromkeys(document_ids)):
        held = (documents.c.tenant == tenant) & documents.c.id.in_(ids)
        columns = (documents.c.id, documents.c.collection, documents.c.readers)
        rows = connection.execute(select(*columns).where(held)).all()
        for row in rows:
            if (None if row.readers is None else tuple(row.readers)) != readers:
                put_readers(connection, row.id, Scope(tenant, row.collection), readers)
                changed.append(row.id)
        connection.execute(update(documents).where(held).values(readers_given=readers is not None))
    return changed


def _readers(connection: Connection, document_ids: Sequence[str]) -> dict[str, Readers]:
    found: dict[str, Readers] = {}
    for ids in batches(dict.fromkeys(document_ids)):
        named = documents.c.id.in_(ids) & documents.c.audience.is_not(None)
        rows = connection.execute(select(documents.c.id, documents.c.readers).where(named))
        found.update((row.id, tuple(row.readers)) for row in rows)
    return found


def _expected(connection: Connection, version_ids: Sequence[str]) -> dict[str, Readers]:
    found: dict[str, Readers] = {}
    columns = (documents.c.id, documents.c.readers, documents.c.readers_given, versions.c.readers.label("said"))
    joined = select(*columns).join(versions, versions.c.document_id == documents.c.id)
    for ids in batches(dict.fromkeys(version_ids)):
        for row in connection.execute(joined.where(versions.c.id.in_(ids))):
            readers = row.readers if row.said is None or row.readers_given else row.said
            if readers is not None:
                found[row.id] = tuple(readers)
    return found


def put_readers(connection: Connection, document_id: str, scope: Scope, readers: Readers | None) -> None:
    """The document has these readers from now on; its points in the index may name others until they are settled."""
    audience = audience_of(connection, scope, readers)
    with counted(connection, [document_id]):
        said = None if readers is None else list(readers)
        values = {"readers": said, "audience": audience}
        connection.execute(update(documents).where(documents.c.id == document_id).values(values))
    mark = {"document_id": document_id, "tenant": scope.tenant, "collection": scope.collection}
    upsert(connection, unsettled, [mark], ())
    changed(connection, [scope])


def _narrowed(connection: Connection, scope: Scope, who: Actor) -> Narrowed | None:
    return sight_of(connection, who, scope).narrowed(who)


def _restricted(connection: Connection, tenant: str | None) -> bool:
    for table in (audiences, reading_rules):
        own = true() if tenant is None else table.c.tenant == tenant
        if connection.execute(select(table.c.tenant).where(own).limit(1)).first() is not None:
            return True
    return False


def _restricted_documents(connection: Connection, tenant: str) -> int:
    counted_ = select(func.coalesce(func.sum(audiences.c.live_documents), 0)).where(audiences.c.tenant == tenant)
    return int(connection.execute(counted_).scalar_one())


def _unsettled(connection: Connection, scope: Scope) -> list[str]:
    here = (unsettled.c.tenant == scope.tenant) & (unsettled.c.collection == scope.collection)
    return list(connection.execute(select(unsettled.c.document_id).where(here).order_by("document_id")).scalars())


def _settled(connection: Connection, document_ids: Sequence[str]) -> None:
    places: set[Scope] = set()
    for ids in batches(document_ids):
        these = unsettled.c.document_id.in_(ids)
        rows = connection.execute(select(unsettled.c.tenant, unsettled.c.collection).where(these).distinct())
        places |= {Scope(row.tenant, row.collection) for row in rows}
        connection.execute(delete(unsettled).where(these))
    changed(connection, places)


def _rules(connection: Connection, scope: Scope) -> dict[str, Readers]:
    here = (reading_rules.c.tenant == scope.tenant) & (reading_rules.c.collection == scope.collection)
    rows = connection.execute(select(reading_rules).where(here).order_by(reading_rules.c.label))
    return {row.label: tuple(row.readers) for row in rows}


def _rule(connection: Connection, scope: Scope, label: str, readers: Readers | None) -> None:
    changed(connection, [scope])
    audience = audience_of(connection, scope, readers)
    if readers is None or audience is None:
        here = (reading_rules.c.tenant == scope.tenant) & (reading_rules.c.collection == scope.collection)
        connection.execute(delete(reading_rules).where(here & (reading_rules.c.label == label)))
        return
    row = {"tenant": scope.tenant, "collection": scope.collection, "label": label}
    upsert(
        connection, reading_rules, [{**row, "readers": list(readers), "audience": audience}], ("readers", "audience")
    )


# ---------------------------------------------------------------- holds


def _hold(connection: Connection, hold: Hold) -> None:
    row = {
        "document_id": hold.document_id,
        "tenant": hold.scope.tenant,
        "collection": hold.scope.collection,
        "reason": hold.reason,
        "held_by": hold.held_by,
        "since": hold.since,
    }
    upsert(connection, legal_holds, [row], ("reason", "held_by"))


def _release(connection: Connection, tenant: str, document_id: str) -> bool:
    this = (legal_holds.c.tenant == tenant) & (legal_holds.c.document_id == document_id)
    return bool(connection.execute(delete(legal_holds).where(this)).rowcount)


def _holds(connection: Connection, tenant: str, document_ids: Sequence[str] | None) -> list[Hold]:
    own = select(legal_holds).where(legal_holds.c.tenant == tenant).order_by(legal_holds.c.document_id)
    if document_ids is None:
        return [_read(row) for row in connection.execute(own)]
    found: list[Hold] = []
    for ids in batches(sorted(set(document_ids))):
        found += [_read(row) for row in connection.execute(own.where(legal_holds.c.document_id.in_(ids)))]
    return found


def _read(row: Row[Any]) -> Hold:
    return Hold(row.document_id, Scope(row.tenant, row.collection), row.reason, row.held_by, row.since)


def refuse_held(connection: Connection, document_ids: Sequence[str]) -> None:
    """HeldError where one of these documents is held."""
    for ids in batches(document_ids):
        row = connection.execute(select(legal_holds).where(legal_holds.c.document_id.in_(ids)).limit(1)).first()
        if row is not None:
            raise HeldError(row.document_id, row.reason)
