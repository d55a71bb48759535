"""Versions that readers saw before, in SQL: kept for a time behind the sweep, read as of an instant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    null,
    or_,
    select,
    update,
)

from kedge.core.acting import actor
from kedge.core.ids import past_version_id
from kedge.core.values import Passage, Scope
from kedge.stores.batches import batches
from kedge.stores.catalog.ports import PastPassage
from kedge.stores.catalog.sql.database import Database
from kedge.stores.catalog.sql.passages import COLUMNS, read_passage
from kedge.stores.catalog.sql.schema import document_versions as versions
from kedge.stores.catalog.sql.schema import documents
from kedge.stores.catalog.sql.schema import passages as table
from kedge.stores.catalog.sql.seeing import seen
from kedge.stores.catalog.sql.versions import DEAD, LIVE

_WAS_LIVE = and_(versions.c.state == DEAD, versions.c.live_from.is_not(None), versions.c.live_until.is_not(None))


class SqlPast:
    """The `Past` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, version_ids: Sequence[str]) -> None:
        await self._database.write(_keep, version_ids)

    async def release(self, scope: Scope, before: datetime) -> int:
        return await self._database.write(_release, scope, before)

    async def live(self, scope: Scope, passage_ids: Sequence[str], at: datetime) -> dict[str, Passage]:
        return await self._database.read(_live, scope, passage_ids, at)

    async def of_document(
        self, tenant: str, document_id: str, at: datetime, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        wanted = _at(at).where(documents.c.id == document_id, documents.c.tenant == tenant, table.c.position >= first)
        if last is not None:
            wanted = wanted.where(table.c.position <= last)
        return await self._database.read(_passages, wanted.order_by(table.c.position))

    async def of_versions(self, version_ids: Sequence[str]) -> dict[str, list[PastPassage]]:
        return await self._database.read(_of_versions, version_ids)

    async def held(self, passage_ids: Sequence[str]) -> set[str]:
        return await self._database.read(_held, passage_ids)

    async def scan(self, scope: Scope, batch: int = 1000) -> AsyncIterator[list[PastPassage]]:
        after = ""
        while found := await self._database.read(_kept_after, scope, after, batch):
            yield await self._database.read(_spanned, found)
            after = found[-1]


# ---------------------------------------------------------------- reading


def _seen(at: datetime) -> ColumnElement[bool]:
    """What was live at that instant."""
    until = or_(versions.c.live_until.is_(None), versions.c.live_until > at)
    return and_(versions.c.live_from.is_not(None), versions.c.live_from <= at, until)


_SAID = case((documents.c.readers_given.is_(True) | (versions.c.state == LIVE), null()), else_=versions.c.readers)
"""Who alone may read what a superseded version says: those whom it named, unless others were given by hand."""


def _at(at: datetime) -> Select[Any]:
    """Passages that were live then, of documents that the actor in force may read now; last, `_SAID` of each."""
    return (
        select(*(table.c[column] for column in COLUMNS), _SAID)
        .join(versions, versions.c.id == table.c.version_id)
        .join(documents, documents.c.id == versions.c.document_id)
        .where(_seen(at), seen())
    )


def _live(connection: Connection, scope: Scope, passage_ids: Sequence[str], at: datetime) -> dict[str, Passage]:
    here = (documents.c.tenant == scope.tenant) & (documents.c.collection == scope.collection)
    found: dict[str, Passage] = {}
    for ids in batches(dict.fromkeys(passage_ids)):
        found.update((one.id, one) for one in _passages(connection, _at(at).where(here, table.c.passage_id.in_(ids))))
    return found


def _passages(connection: Connection, wanted: Select[Any]) -> list[Passage]:
    """Those of `_at` that the actor in force may read."""
    who = actor()
    rows = ((row[:-1], row[-1]) for row in connection.execute(wanted))
    return [read_passage(row) for row, said in rows if who is None or said is None or who.may_read(tuple(said))]


def _of_versions(connection: Connection, version_ids: Sequence[str]) -> dict[str, list[PastPassage]]:
    found: dict[str, list[PastPassage]] = {}
    for ids in batches(dict.fromkeys(version_ids)):
        were_live = select(versions.c.id).where(versions.c.id.in_(ids), _WAS_LIVE)
        wanted = select(*(table.c[column] for column in COLUMNS)).where(table.c.version_id.in_(were_live))
        made = [read_passage(row) for row in connection.execute(wanted.order_by(table.c.version_id, table.c.position))]
        spans = _spans(connection, [one.id for one in made])
        for one in made:
            if one.id in spans:
                found.setdefault(one.version_id, []).append(PastPassage(one, *spans[one.id]))
    return found


def _spans(connection: Connection, passage_ids: Iterable[str]) -> dict[str, tuple[datetime, datetime]]:
    """From the first to the last instant at which a dead version showed each of these."""
    found: dict[str, tuple[datetime, datetime]] = {}
    for ids in batches(dict.fromkeys(passage_ids)):
        rows = connection.execute(
            select(table.c.passage_id, func.min(versions.c.live_from), func.max(versions.c.live_until))
            .join(versions, versions.c.id == table.c.version_id)
            .where(table.c.passage_id.in_(ids), _WAS_LIVE)
            .group_by(table.c.passage_id)
        )
        found.update((row[0], (row[1], row[2])) for row in rows)
    return found


def _held(connection: Connection, passage_ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for ids in batches(dict.fromkeys(passage_ids)):
        rows = connection.execute(
            select(table.c.passage_id)
            .join(versions, versions.c.id == table.c.version_id)
            .where(table.c.passage_id.in_(ids), versions.c.kept.is_(True))
        )
        found.update(rows.scalars())
    return found


def _kept_after(connection: Connection, scope: Scope, after: str, limit: int) -> list[str]:
    here = (documents.c.tenant == scope.tenant) & (documents.c.collection == scope.collection)
    statement = (
        select(table.c.passage_id)
        .distinct()
        .join(versions, versions.c.id == table.c.version_id)
        .join(documents, documents.c.id == versions.c.document_id)
        .where(here, versions.c.kept.is_(True), table.c.passage_id > after)
    )
    return list(connection.execute(statement.order_by(table.c.passage_id).limit(limit)).scalars())


def _spanned(connection: Connection, passage_ids: Sequence[str]) -> list[PastPassage]:
    spans = _spans(connection, passage_ids)
    found: dict[str, PastPassage] = {}
    for ids in batches(passage_ids):
        wanted = (
            select(*(table.c[column] for column in COLUMNS))
            .join(versions, versions.c.id == table.c.version_id)
            .where(table.c.passage_id.in_(ids), versions.c.kept.is_(True))
        )
        for row in connection.execute(wanted.order_by(versions.c.died)):
            found[row[0]] = PastPassage(read_passage(row), *spans[row[0]])
    return [found[key] for key in passage_ids if key in found]


# ---------------------------------------------------------------- keeping and letting go


def _keep(connection: Connection, version_ids: Sequence[str]) -> None:
    for ids in batches(version_ids):
        connection.execute(update(versions).where(versions.c.id.in_(ids) & _WAS_LIVE).values(kept=True))


def _release(connection: Connection, scope: Scope, before: datetime) -> int:
    here = (documents.c.tenant == scope.tenant) & (documents.c.collection == scope.collection)
    theirs = exists().where(here, documents.c.id == versions.c.document_id)
    over = versions.c.kept.is_(True) & (versions.c.live_until <= before) & theirs
    return connection.execute(update(versions).where(over).values(kept=False, live_from=None, live_until=None)).rowcount


def forget_past(connection: Connection, scope: Scope, document_ids: Sequence[str]) -> None:
    """Nothing of these is seen as of any time any more: what is kept of them is swept with the rest."""
    here = (documents.c.tenant == scope.tenant) & (documents.c.collection == scope.collection)
    for ids in batches(document_ids):
        theirs = select(documents.c.id).where(here, documents.c.id.in_(ids))
        dead = versions.c.document_id.in_(theirs) & (versions.c.state == DEAD)
        connection.execute(update(versions).where(dead).values(kept=False, live_from=None, live_until=None))


def part_from_past(connection: Connection, version_id: str) -> bool:
    """Give a dead version that readers saw an id of its own, since its usual one is begun again; whether it was one.

    The id of a version follows its content, so a document that returns to a former text returns to the id as well.
    """
    row = connection.execute(select(versions).where((versions.c.id == version_id) & _WAS_LIVE)).first()
    if row is None:
        return False
    apart = past_version_id(version_id, row.died)
    connection.execute(insert(versions), [{**row._mapping, "id": apart}])
    connection.execute(update(table).where(table.c.version_id == version_id).values(version_id=apart))
    connection.execute(delete(versions).where(versions.c.id == version_id))
    return True
