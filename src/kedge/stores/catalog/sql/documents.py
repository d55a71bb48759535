"""Documents, their versions and the switch, in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, func, insert, select, update

from kedge.core.errors import ConflictError, NotFoundError, UsageError
from kedge.core.values import Document, DocumentStatus, Readers, Scope
from kedge.stores.batches import batches
from kedge.stores.catalog.sql.database import Database
from kedge.stores.catalog.sql.past import forget_past, part_from_past
from kedge.stores.catalog.sql.rights import put_readers, refuse_held
from kedge.stores.catalog.sql.schema import collections, documents, passages
from kedge.stores.catalog.sql.schema import document_versions as versions
from kedge.stores.catalog.sql.seeing import audience_of, seen
from kedge.stores.catalog.sql.versions import BUILDING, DEAD, LIVE, counted, kill

_DESCRIPTIVE = (
    *("title", "format", "external_id", "author", "topic_tag"),
    *("file_hash", "content_hash", "file_size", "metadata", "updated_at", "ingested_at"),
)
"""Fields of a document that a version brings along and that the switch makes visible."""
IN_BUILDING = (
    DocumentStatus.PENDING,
    DocumentStatus.CHUNKING,
    DocumentStatus.EMBEDDING,
    DocumentStatus.EXTRACTING,
)


class SqlDocuments:
    """The `Documents` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, tenant: str, document_id: str) -> Document | None:
        return await self._database.read(_get, tenant, document_id)

    async def find(self, scope: Scope, urls: Sequence[str]) -> dict[str, Document]:
        return await self._database.read(_find, scope, urls)

    async def page(
        self, scope: Scope, *, status: DocumentStatus | None = None, limit: int = 100, offset: int = 0
    ) -> list[Document]:
        return await self._database.read(_page, scope, status, limit, offset)

    async def begin(self, versions: Sequence[tuple[Document, str]]) -> None:
        await self._database.write(_begin, versions)

    async def set_status(self, version_ids: Sequence[str], status: DocumentStatus) -> None:
        if status not in IN_BUILDING:
            raise UsageError(f"A version in building cannot be {status.value}.", hint="Use switch, fail or archive.")
        await self._database.write(_set_status, version_ids, status)

    async def switch(self, version_ids: Sequence[str]) -> None:
        await self._database.write(_switch, version_ids)

    async def fail(self, version_id: str, message: str) -> None:
        await self._database.write(_fail, version_id, message)

    async def retire(self, scope: Scope, document_ids: Sequence[str], *, erase: bool = True) -> list[str]:
        return await self._database.write(_retire, scope, document_ids, erase)

    async def archive(self, scope: Scope, document_ids: Sequence[str]) -> None:
        await self._database.write(_archive, scope, document_ids)

    async def retired(self, scope: Scope) -> list[str]:
        return await self._database.read(_retired, scope)


# ---------------------------------------------------------------- reading


def _within(scope: Scope) -> ColumnElement[bool]:
    return (documents.c.tenant == scope.tenant) & (documents.c.collection == scope.collection)


def _get(connection: Connection, tenant: str, document_id: str) -> Document | None:
    where = (documents.c.id == document_id) & (documents.c.tenant == tenant) & seen()
    row = connection.execute(select(documents).where(where)).first()
    return None if row is None else _document(row)


def _find(connection: Connection, scope: Scope, urls: Sequence[str]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for some in batches(dict.fromkeys(urls)):
        rows = connection.execute(select(documents).where(_within(scope) & documents.c.url.in_(some) & seen()))
        found.update((row.url, _document(row)) for row in rows)
    return found


def _page(
    connection: Connection, scope: Scope, status: DocumentStatus | None, limit: int, offset: int
) -> list[Document]:
    archived = documents.c.status != DocumentStatus.ARCHIVED.value
    wanted = archived if status is None else documents.c.status == status.value
    found = select(documents).where(_within(scope) & wanted & seen())
    statement = found.order_by(documents.c.url).limit(limit).offset(offset)
    return [_document(row) for row in connection.execute(statement)]


def _retired(connection: Connection, scope: Scope) -> list[str]:
    where = _within(scope) & documents.c.retired_at.is_not(None)
    return list(connection.execute(select(documents.c.id).where(where).order_by(documents.c.id)).scalars())


def _document(row: Row[Any]) -> Document:
    values = dict(row._mapping)
    values.pop("retired_at")
    values.pop("audience")
    values.pop("readers_given")
    readers = values.pop("readers")
    scope = Scope(values.pop("tenant"), values.pop("collection"))
    status = DocumentStatus(values.pop("status"))
    return Document(scope=scope, status=status, readers=None if readers is None else tuple(readers), **values)


# ---------------------------------------------------------------- building


def _begin(connection: Connection, begun: Sequence[tuple[Document, str]]) -> None:
    """New documents and versions are inserted together: most of an ingestion is new."""
    if len({document.id for document, _ in begun}) < len(begun):
        for pair in begun:
            _begin(connection, [pair])
        return
    for scope in {document.scope for document, _ in begun}:
        _require_collection(connection, scope)
    for ids in batches(dict.fromkeys(document.id for document, _ in begun)):
        part = [pair for pair in begun if pair[0].id in set(ids)]
        live = dict(_rows(connection, select(documents.c.id, documents.c.live_version).where(documents.c.id.in_(ids))))
        query = select(versions.c.document_id, versions.c.id, versions.c.state)
        held = [tuple(row) for row in connection.execute(query.where(versions.c.document_id.in_(ids)))]
        touched = live.keys() | {document for document, _, _ in held}
        fresh = {document.id: (document, version) for document, version in part if document.id not in touched}
        _insert_new(connection, list(fresh.values()))
        for document, version_id in part:
            if fresh.get(document.id) != (document, version_id):
                _begin_again(connection, document, version_id)


def _rows(connection: Connection, statement: Select[Any]) -> list[tuple[Any, Any]]:
    return [(row[0], row[1]) for row in connection.execute(statement)]


def _insert_new(connection: Connection, new: Sequence[tuple[Document, str]]) -> None:
    if new:
        audiences = _audiences(connection, [document for document, _ in new])
        rows = [{**_new_document(document), "audience": audiences[document.id]} for document, _ in new]
        connection.execute(insert(documents), rows)
        connection.execute(insert(versions), [_new_version(document, version_id) for document, version_id in new])


def _audiences(connection: Connection, new: Sequence[Document]) -> dict[str, str | None]:
    """By document: who may see it from the first moment on, when it has a name and no passages yet."""
    known: dict[tuple[Scope, Readers | None], str | None] = {}
    for one in new:
        if (one.scope, one.readers) not in known:
            known[one.scope, one.readers] = audience_of(connection, one.scope, one.readers)
    return {one.id: known[one.scope, one.readers] for one in new}


def _begin_again(connection: Connection, document: Document, version_id: str) -> None:
    """A document that is known: bring it up to date if readers see nothing of it; one version in building at a time."""
    columns = (documents.c.live_version, documents.c.readers_given)
    found = connection.execute(select(*columns).where(documents.c.id == document.id)).one()
    if found.live_version is None:
        pending = {**_pending(document), "retired_at": None}
        connection.execute(update(documents).where(documents.c.id == document.id).values(pending))
        if document.readers is not None and not found.readers_given:
            put_readers(connection, document.id, document.scope, document.readers)
    held = connection.execute(
        select(versions.c.id, versions.c.state).where(versions.c.document_id == document.id)
    ).all()
    kill(connection, [row.id for row in held if row.state == BUILDING and row.id != version_id])
    state = next((row.state for row in held if row.id == version_id), None)
    if state == DEAD and part_from_past(connection, version_id):
        state = None
    if state is None:
        connection.execute(insert(versions), [_new_version(document, version_id)])
    else:
        said = None if document.readers is None else list(document.readers)
        values = {**_pending(document), "readers": said}
        values |= {"died": None, "state": LIVE if state == LIVE else BUILDING}
        connection.execute(update(versions).where(versions.c.id == version_id).values(values))


def _pending(document: Document) -> dict[str, Any]:
    """The fields that describe a document, as both its row and its version's row hold them."""
    fields = {name: getattr(document, name) for name in _DESCRIPTIVE} | {"metadata": dict(document.metadata)}
    return {**fields, "status": DocumentStatus.PENDING.value, "error_message": None}


def _new_document(document: Document) -> dict[str, Any]:
    identity: dict[str, Any] = {"id": document.id, "tenant": document.scope.tenant}
    identity |= {"collection": document.scope.collection}
    identity |= {"readers": None if document.readers is None else list(document.readers)}
    created = document.created_at or datetime.now(UTC)
    return {**_pending(document), **identity, "url": document.url, "retired_at": None, "created_at": created}


def _new_version(document: Document, version_id: str) -> dict[str, Any]:
    said = None if document.readers is None else list(document.readers)
    identity = {"id": version_id, "document_id": document.id, "state": BUILDING, "readers": said}
    return {**_pending(document), **identity, "died": None, "created_at": datetime.now(UTC)}


def _require_collection(connection: Connection, scope: Scope) -> None:
    known = (collections.c.tenant == scope.tenant) & (collections.c.name == scope.collection)
    if connection.execute(select(collections.c.name).where(known)).first() is None:
        raise NotFoundError(f"There is no collection {scope.collection!r}.", hint="Create it first.")


def _set_status(connection: Connection, version_ids: Sequence[str], status: DocumentStatus) -> None:
    for ids in batches(version_ids):
        building = versions.c.id.in_(ids) & (versions.c.state == BUILDING)
        connection.execute(update(versions).where(building).values(status=status.value))
        theirs = documents.c.id.in_(select(versions.c.document_id).where(building))
        unseen = theirs & documents.c.live_version.is_(None)
        connection.execute(update(documents).where(unseen).values(status=status.value))


def _fail(connection: Connection, version_id: str, message: str) -> None:
    found = connection.execute(
        select(versions.c.document_id, versions.c.state).where(versions.c.id == version_id)
    ).first()
    if found is None or found.state == DEAD:
        return
    if found.state == BUILDING:
        kill(connection, [version_id])
        connection.execute(update(versions).where(versions.c.id == version_id).values(error_message=message))
    this = documents.c.id == found.document_id
    connection.execute(update(documents).where(this).values(error_message=message))
    unseen = this & documents.c.live_version.is_(None)
    connection.execute(update(documents).where(unseen).values(status=DocumentStatus.FAILED.value))


# ---------------------------------------------------------------- the switch


def _switch(connection: Connection, version_ids: Sequence[str]) -> None:
    rows = [row for ids in batches(dict.fromkeys(version_ids)) for row in connection.execute(_to_switch(ids))]
    _refuse_incomplete(version_ids, rows)
    # A document that is named twice, by its live version and by the one in building, gets the latter.
    chosen = {row.document_id: row for row in sorted(rows, key=lambda row: row.state == BUILDING)}
    now = datetime.now(UTC)
    refuse_held(connection, _replacing(connection, chosen))
    with counted(connection, list(chosen)):
        kill(connection, _replaced_by(connection, chosen), now)
        for ids in batches(row.id for row in chosen.values()):
            these = versions.c.id.in_(ids)
            since = func.coalesce(versions.c.live_from, now)
            connection.execute(update(versions).where(these).values(state=LIVE, died=None, live_from=since))
        changes = [_made_visible(row, now) for row in chosen.values()]
        if changes:
            connection.execute(_SHOW, changes)
    _say_readers(connection, chosen)


def _say_readers(connection: Connection, chosen: dict[str, Row[Any]]) -> None:
    """What the sources say of readers holds with the switch; where they say nothing, what was given stays."""
    said = {key: tuple(row.readers) for key, row in chosen.items() if row.readers is not None}
    for ids in batches(said):
        columns = (documents.c.id, documents.c.tenant, documents.c.collection, documents.c.readers)
        free = documents.c.id.in_(ids) & ~documents.c.readers_given
        for row in connection.execute(select(*columns).where(free)).all():
            if row.readers is None or tuple(row.readers) != said[row.id]:
                put_readers(connection, row.id, Scope(row.tenant, row.collection), said[row.id])


def _to_switch(ids: list[str]) -> Any:
    """The versions with the number of their passages and the highest position."""
    return (
        select(versions, func.count(passages.c.position).label("staged"), func.max(passages.c.position).label("top"))
        .outerjoin(passages, passages.c.version_id == versions.c.id)
        .where(versions.c.id.in_(ids))
        .group_by(versions.c.id)
    )


def _refuse_incomplete(version_ids: Sequence[str], rows: Sequence[Row[Any]]) -> None:
    gone = sorted(set(version_ids) - {row.id for row in rows if row.state != DEAD})
    if gone:
        raise ConflictError(
            "A version that is no longer being built cannot be switched to; nothing was switched.",
            hint="Its document was deleted or begun anew meanwhile: leave it out and switch the others.",
            details={"version_ids": list(gone)},
        )
    torn = sorted(row.id for row in rows if row.staged and row.top != row.staged - 1)
    if torn:
        raise ConflictError(
            "A version lacks some of its passages; nothing was switched.",
            hint="Stage all of its passages first.",
            details={"version_ids": list(torn)},
        )


def _replacing(connection: Connection, chosen: dict[str, Row[Any]]) -> list[str]:
    """Documents of which another version is live."""
    found: list[str] = []
    for ids in batches(chosen):
        shown = select(documents.c.id, documents.c.live_version).where(documents.c.id.in_(ids))
        rows = connection.execute(shown.where(documents.c.live_version.is_not(None)))
        found += [row.id for row in rows if row.live_version != chosen[row.id].id]
    return found


def _replaced_by(connection: Connection, chosen: dict[str, Row[Any]]) -> list[str]:
    keep = {row.id for row in chosen.values()}
    held: list[str] = []
    for ids in batches(chosen):
        shown = select(documents.c.live_version).where(documents.c.id.in_(ids) & documents.c.live_version.is_not(None))
        held += connection.execute(shown).scalars()
    return [version for version in held if version not in keep]


_SHOW = (
    update(documents)
    .where(documents.c.id == bindparam("of_document"))
    .values({name: bindparam(f"new_{name}", type_=documents.c[name].type) for name in _DESCRIPTIVE})
    .values(live_version=bindparam("of_version"), chunk_count=bindparam("staged"))
    .values(status=DocumentStatus.ACTIVE.value, error_message=None, retired_at=None)
)


def _made_visible(row: Row[Any], now: datetime) -> dict[str, Any]:
    fields = {f"new_{name}": row._mapping[name] for name in _DESCRIPTIVE}
    fields["new_ingested_at"] = fields["new_ingested_at"] or now
    return {**fields, "of_document": row.document_id, "of_version": row.id, "staged": row.staged}


# ---------------------------------------------------------------- deleting


def _retire(connection: Connection, scope: Scope, document_ids: Sequence[str], erase: bool) -> list[str]:
    wanted = list(dict.fromkeys(document_ids))
    held = [row for ids in batches(wanted) for row in connection.execute(_not_archived(scope, ids))]
    ids = [row.id for row in held]
    refuse_held(connection, ids)
    with counted(connection, ids):
        kill(connection, _of_documents(connection, ids))
        for some in batches(ids):
            connection.execute(
                update(documents)
                .where(documents.c.id.in_(some))
                .values(live_version=None, chunk_count=0, status=DocumentStatus.PENDING.value)
                .values(retired_at=func.coalesce(documents.c.retired_at, datetime.now(UTC)))
            )
    if erase:
        forget_past(connection, scope, wanted)
    visible = {row.id for row in held if row.live_version is not None}
    return [document for document in wanted if document in visible]


def _not_archived(scope: Scope, ids: list[str]) -> Any:
    known = _within(scope) & documents.c.id.in_(ids) & (documents.c.status != DocumentStatus.ARCHIVED.value)
    return select(documents.c.id, documents.c.live_version).where(known)


def _of_documents(connection: Connection, document_ids: Iterable[str]) -> list[str]:
    found: list[str] = []
    for ids in batches(document_ids):
        held = versions.c.document_id.in_(ids) & (versions.c.state != DEAD)
        found += connection.execute(select(versions.c.id).where(held)).scalars()
    return found


def _archive(connection: Connection, scope: Scope, document_ids: Sequence[str]) -> None:
    for ids in batches(document_ids):
        begun = _within(scope) & documents.c.id.in_(ids) & documents.c.retired_at.is_not(None)
        archived = update(documents).where(begun).values(status=DocumentStatus.ARCHIVED.value, retired_at=None)
        connection.execute(archived)
