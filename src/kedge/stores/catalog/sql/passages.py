"""Passages by version, in SQL. Readers see `documents.live_version` alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, exists, select

from kedge.core.acting import actor
from kedge.core.errors import ConflictError
from kedge.core.values import Passage, Scope
from kedge.stores.batches import batches
from kedge.stores.catalog.ports import DeadPassages
from kedge.stores.catalog.sql.database import Database, upsert
from kedge.stores.catalog.sql.schema import collections, documents, passage_indexes
from kedge.stores.catalog.sql.schema import document_versions as versions
from kedge.stores.catalog.sql.schema import passages as table
from kedge.stores.catalog.sql.seeing import of_seen
from kedge.stores.catalog.sql.sights import sight_of
from kedge.stores.catalog.sql.versions import BUILDING, DEAD, LIVE, not_shared

_FIELDS = {
    "id": "passage_id",
    "document_id": "document_id",
    "version_id": "version_id",
    "index": "position",
    "text": "text",
    "start": "start_offset",
    "end": "end_offset",
    "content_hash": "content_hash",
    "token_count": "token_count",
    "title": "title",
    "url": "url",
    "external_id": "external_id",
    "section_path": "section_path",
    "page": "page",
    "has_code": "has_code",
    "has_formula": "has_formula",
    "has_table": "has_table",
    "language": "language",
    "topic_tag": "topic_tag",
    "ingested_at": "ingested_at",
    "document_updated_at": "document_updated_at",
    "metadata": "metadata",
}
"""Field of `Passage`, in its order → column."""
COLUMNS = tuple(_FIELDS.values())
"""The passages' columns, in the order of the fields of `Passage`."""
_SECTION_PATH = list(_FIELDS).index("section_path")
_values_of = attrgetter(*_FIELDS)


class SqlPassages:
    """The `Passages` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def stage(self, passages: Sequence[Passage], index_name: str) -> list[str]:
        return await self._database.write(_stage, passages, index_name)

    async def staged(self, scope: Scope) -> list[str]:
        return await self._database.read(_staged, scope)

    async def mark_indexed(
        self, passage_ids: Sequence[str], index_name: str, *, kept: Collection[str] = ()
    ) -> list[str]:
        return await self._database.write(_mark_indexed, passage_ids, index_name, kept)

    async def live(self, scope: Scope, passage_ids: Sequence[str]) -> dict[str, Passage]:
        return await self._database.read(_live, scope, passage_ids)

    async def visible(self, scope: Scope, passage_ids: Sequence[str]) -> set[str]:
        return await self._database.read(_visible_ids, scope, passage_ids)

    async def of_document(
        self, tenant: str, document_id: str, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        return await self._database.read(_of_document, tenant, document_id, first, last)

    async def scan(self, scope: Scope, batch: int = 1000) -> AsyncIterator[list[Passage]]:
        """Each batch sees its own moment: what is switched meanwhile is seen new from there on."""
        after = ("", -1)
        while found := await self._database.read(_scan, scope, batch, after):
            yield found
            after = (found[-1].document_id, found[-1].index)

    async def dead(self, limit: int, scope: Scope | None = None, document_id: str | None = None) -> list[DeadPassages]:
        return await self._database.read(_dead, limit, scope, document_id)

    async def forget(self, version_ids: Sequence[str]) -> None:
        await self._database.write(_forget, version_ids)


# ---------------------------------------------------------------- building


def _stage(connection: Connection, passages: Sequence[Passage], index_name: str) -> list[str]:
    building = _in_building(connection, dict.fromkeys(passage.version_id for passage in passages))
    rows = [_row(passage) for passage in passages if passage.version_id in building]
    upsert(connection, table, rows, COLUMNS)
    ids = dict.fromkeys(passage.id for passage in passages)
    marked = _marked(connection, ids, index_name)
    return [passage_id for passage_id in ids if passage_id not in marked]


def _in_building(connection: Connection, version_ids: Iterable[str]) -> set[str]:
    """Which of these may be staged. Live ones are complete already, and a repeated step leaves them as they are."""
    wanted = list(version_ids)
    states: dict[str, str] = {}
    for ids in batches(wanted):
        rows = connection.execute(select(versions.c.id, versions.c.state).where(versions.c.id.in_(ids)))
        states.update((row.id, row.state) for row in rows)
    gone = [version for version in wanted if states.get(version) not in (BUILDING, LIVE)]
    if gone:
        raise ConflictError(
            "Passages of a version that is no longer being built cannot be staged.",
            hint="Its document was deleted or begun anew meanwhile.",
            details={"version_ids": list(gone)},
        )
    return {version for version, state in states.items() if state == BUILDING}


def _row(passage: Passage) -> dict[str, Any]:
    row = dict(zip(COLUMNS, _values_of(passage), strict=True))
    row["section_path"] = list(passage.section_path)
    row["metadata"] = dict(passage.metadata)
    return row


def _marked(connection: Connection, passage_ids: Iterable[str], index_name: str) -> set[str]:
    found: set[str] = set()
    for ids in batches(passage_ids):
        marks = passage_indexes.c.passage_id.in_(ids) & (passage_indexes.c.index_name == index_name)
        found.update(connection.execute(select(passage_indexes.c.passage_id).where(marks)).scalars())
    return found


def _staged(connection: Connection, scope: Scope) -> list[str]:
    joined = versions.join(documents, documents.c.id == versions.c.document_id).join(
        table, table.c.version_id == versions.c.id
    )
    here = (documents.c.tenant == scope.tenant) & (documents.c.collection == scope.collection)
    statement = select(table.c.passage_id).select_from(joined).where(here, versions.c.state == BUILDING)
    return list(connection.execute(statement.order_by(versions.c.document_id, table.c.position)).scalars())


def _mark_indexed(
    connection: Connection, passage_ids: Sequence[str], index_name: str, kept: Collection[str]
) -> list[str]:
    """Only ids of live or staged versions: what is dead may be swept from the index at any time."""
    marked: set[str] = set()
    now = datetime.now(UTC)
    for ids in batches(dict.fromkeys(passage_ids)):
        held = select(table.c.passage_id).distinct().join(versions, versions.c.id == table.c.version_id)
        alive = held.where(table.c.passage_id.in_(ids) & (versions.c.state != DEAD))
        found = list(connection.execute(alive).scalars())
        marks = [{"passage_id": key, "index_name": index_name, "embedded_at": now} for key in found]
        upsert(connection, passage_indexes, [mark for mark in marks if mark["passage_id"] in kept], ())
        made = [mark for mark in marks if mark["passage_id"] not in kept]
        upsert(connection, passage_indexes, made, ("embedded_at",))
        marked.update(found)
    return [passage_id for passage_id in dict.fromkeys(passage_ids) if passage_id in marked]


# ---------------------------------------------------------------- reading


def _visible() -> Select[Any]:
    return select(*(table.c[column] for column in COLUMNS)).join(
        documents, (documents.c.id == table.c.document_id) & (documents.c.live_version == table.c.version_id)
    )


_LIVE = (
    _visible()
    .add_columns(documents.c.audience)
    .where(
        table.c.passage_id.in_(bindparam("ids", expanding=True)),
        documents.c.tenant == bindparam("tenant"),
        documents.c.collection == bindparam("collection"),
    )
)
"""Live passages of a scope among those named, each with the audience of its document behind it."""
_AUDIENCES = (
    select(table.c.passage_id, documents.c.audience)
    .join(documents, (documents.c.id == table.c.document_id) & (documents.c.live_version == table.c.version_id))
    .where(
        table.c.passage_id.in_(bindparam("ids", expanding=True)),
        documents.c.tenant == bindparam("tenant"),
        documents.c.collection == bindparam("collection"),
    )
)
"""Live passages of a scope among those named, with the audiences of their documents."""
SCAN = (
    select(*(table.c[column] for column in COLUMNS))
    .select_from(documents)
    .join(table, table.c.version_id == documents.c.live_version)
    .where(
        documents.c.tenant == bindparam("tenant"),
        documents.c.collection == bindparam("collection"),
        documents.c.id >= bindparam("document"),
        (documents.c.id > bindparam("document")) | (table.c.position > bindparam("position")),
    )
    .order_by(documents.c.id, table.c.position)
    .limit(bindparam("batch"))
)
"""Live passages of a scope after a place in it."""


_LAST = (1 << 31) - 1
"""Position behind that of every passage."""
_OF_DOCUMENT = (
    _visible()
    .add_columns(passage_indexes.c.embedded_at, collections.c.embedder)
    .join(collections, (collections.c.tenant == documents.c.tenant) & (collections.c.name == documents.c.collection))
    .outerjoin(
        passage_indexes,
        (passage_indexes.c.passage_id == table.c.passage_id)
        & (passage_indexes.c.index_name == collections.c.index_name),
    )
    .where(
        documents.c.id == bindparam("document"),
        documents.c.tenant == bindparam("tenant"),
        table.c.position.between(bindparam("first"), bindparam("last")),
    )
    .order_by(table.c.position)
)
"""Live passages of a document from one position to another."""


def _live(connection: Connection, scope: Scope, passage_ids: Sequence[str]) -> dict[str, Passage]:
    return {row[0]: read_passage(row[:-1]) for row in _of_live(connection, _LIVE, scope, passage_ids)}


def _visible_ids(connection: Connection, scope: Scope, passage_ids: Sequence[str]) -> set[str]:
    return {row.passage_id for row in _of_live(connection, _AUDIENCES, scope, passage_ids)}


def _of_live(
    connection: Connection, statement: Select[Any], scope: Scope, passage_ids: Sequence[str]
) -> list[Row[Any]]:
    """What the statement, whose last column is the audience, says of those that the actor in force may read."""
    who = actor()
    sight = sight_of(connection, who, scope) if who is not None and passage_ids else None
    if sight is not None and sight.shut:
        return []
    place = {"tenant": scope.tenant, "collection": scope.collection}
    found: list[Row[Any]] = []
    for ids in batches(dict.fromkeys(passage_ids)):
        found += connection.execute(statement, {"ids": ids, **place}).all()
    if sight is None:
        return found
    return [row for row in found if row[-1] is None or row[-1] in sight.audiences]


def _of_document(connection: Connection, tenant: str, document_id: str, first: int, last: int | None) -> list[Passage]:
    ends = {"first": first, "last": _LAST if last is None else last}
    rows = connection.execute(of_seen(_OF_DOCUMENT), {"document": document_id, "tenant": tenant, **ends}).all()
    return [replace(read_passage(row[:-2]), embedded_at=row[-2], embedding_model=row[-1]) for row in rows]


def _scan(connection: Connection, scope: Scope, batch: int, after: tuple[str, int]) -> list[Passage]:
    values = {"tenant": scope.tenant, "collection": scope.collection, "batch": batch}
    rows = connection.execute(of_seen(SCAN), {**values, "document": after[0], "position": after[1]})
    return [read_passage(row) for row in rows]


def read_passage(row: Any) -> Passage:
    """A row of the passages' columns, in their order."""
    values = list(row)
    values[_SECTION_PATH] = tuple(values[_SECTION_PATH])
    return Passage(*values)


# ---------------------------------------------------------------- sweeping


def _dead(connection: Connection, limit: int, scope: Scope | None, document_id: str | None) -> list[DeadPassages]:
    held = versions.alias()
    held_on = exists().where((held.c.document_id == versions.c.document_id) & (held.c.state != DEAD))
    oldest = (
        select(versions.c.id, versions.c.document_id, versions.c.live_from, versions.c.live_until)
        .add_columns(documents.c.tenant, documents.c.collection, held_on.label("held_on"))
        .join(documents, documents.c.id == versions.c.document_id)
        .where(versions.c.state == DEAD, versions.c.kept.is_(False))
        .order_by(versions.c.died, versions.c.id)
        .limit(limit)
    )
    if scope is not None:
        oldest = oldest.where(documents.c.tenant == scope.tenant, documents.c.collection == scope.collection)
    if document_id is not None:
        oldest = oldest.where(documents.c.id == document_id)
    rows = connection.execute(oldest).all()
    ids = _sweepable(connection, [row.id for row in rows])
    return [
        DeadPassages(
            scope=Scope(row.tenant, row.collection),
            document_id=row.document_id,
            version_id=row.id,
            passage_ids=tuple(ids.get(row.id, ())),
            document_gone=not row.held_on,
            was_live=None if row.live_from is None or row.live_until is None else (row.live_from, row.live_until),
        )
        for row in rows
    ]


def _sweepable(connection: Connection, version_ids: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for ids in batches(version_ids):
        statement = select(table.c.version_id, table.c.passage_id).where(table.c.version_id.in_(ids) & not_shared())
        for row in connection.execute(statement.order_by(table.c.version_id, table.c.position)):
            found.setdefault(row.version_id, []).append(row.passage_id)
    return found


def _forget(connection: Connection, version_ids: Sequence[str]) -> None:
    """Only what is still dead and not kept: a version begun again since it was listed stays."""
    for ids in batches(version_ids):
        gone = versions.c.id.in_(ids) & (versions.c.state == DEAD) & versions.c.kept.is_(False)
        connection.execute(delete(table).where(table.c.version_id.in_(select(versions.c.id).where(gone))))
        connection.execute(delete(versions).where(gone))
