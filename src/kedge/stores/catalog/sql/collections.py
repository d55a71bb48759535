"""Collections in SQL."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, func, select, true, update

from kedge.core.acting import actor
from kedge.core.errors import HeldError
from kedge.core.values import Collection, Scope
from kedge.stores.catalog.sql.database import Database, upsert
from kedge.stores.catalog.sql.schema import (
    collection_indexes,
    document_versions,
    documents,
    passage_indexes,
    passages,
)
from kedge.stores.catalog.sql.schema import collections as table
from kedge.stores.catalog.sql.schema_rights import (
    audience_readers,
    audiences,
    legal_holds,
    reading_rules,
    unsettled_documents,
)
from kedge.stores.catalog.sql.seeing import keeps_from, named_collections, shut_collections, unseen_counts
from kedge.stores.catalog.sql.sights import ActorSight, changed, new_state, sight_of
from kedge.stores.narrowing import told

_REPLACED = ("embedder", "dimension", "generation", "index_name", "topics")


_BY_NAME = select(table).where(table.c.tenant == bindparam("tenant"), table.c.name == bindparam("name"))


class SqlCollections:
    """The `Collections` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, scope: Scope) -> Collection | None:
        found, sight = await self._database.read(_get, scope)
        who = actor()
        if who is not None and sight is not None:
            told(scope, sight.narrowed(who))
        return found

    async def all(self, tenant: str) -> list[Collection]:
        return await self._database.read(_all, tenant)

    async def everywhere(self) -> list[Collection]:
        return await self._database.read(_everywhere)

    async def put(self, collection: Collection) -> None:
        await self._database.write(_put, collection)

    async def delete(self, scope: Scope) -> None:
        await self._database.write(_delete, scope)


def _get(connection: Connection, scope: Scope) -> tuple[Collection | None, ActorSight | None]:
    """And what the actor in force sees of it."""
    row = connection.execute(_BY_NAME, {"tenant": scope.tenant, "name": scope.collection}).first()
    who = actor()
    if row is None or who is None:
        return None if row is None else _collection(row), None
    sight = sight_of(connection, who, scope, row.rights_state)
    if sight.shut:
        return None, sight
    found = _collection(row, sight.hidden)
    return found if sight.named or not _is_secret(connection, found) else None, sight


def _is_secret(connection: Connection, seen: Collection) -> bool:
    """Whether a collection, as the actor in force sees it, shows nothing and keeps something from them."""
    return not seen.documents and keeps_from(connection, seen.scope)


def _all(connection: Connection, tenant: str) -> list[Collection]:
    unseen = unseen_counts(connection, tenant)
    own = select(table).where((table.c.tenant == tenant) & _open(tenant))
    rows = connection.execute(own.order_by(table.c.name)).all()
    found = [_collection(row, unseen.get(row.name, (0, 0))) for row in rows]
    if actor() is None:
        return found
    named = named_collections(connection, tenant)
    return [one for one in found if one.scope.collection in named or not _is_secret(connection, one)]


def _open(tenant: str) -> ColumnElement[bool]:
    """True for a collection that the actor in force may read."""
    return true() if actor() is None else table.c.name.not_in(shut_collections(tenant))


def _everywhere(connection: Connection) -> list[Collection]:
    rows = connection.execute(select(table).order_by(table.c.tenant, table.c.name))
    return [_collection(row) for row in rows]


def _put(connection: Connection, collection: Collection) -> None:
    row = {
        "tenant": collection.scope.tenant,
        "name": collection.scope.collection,
        "kind": collection.kind,
        "embedder": collection.embedder,
        "dimension": collection.dimension,
        "generation": collection.generation,
        "index_name": collection.index_name,
        "topics": list(collection.topics),
        "created_at": collection.created_at,
        "rights_state": new_state(),
    }
    upsert(connection, table, [row], _REPLACED)


def _delete(connection: Connection, scope: Scope) -> None:
    of_scope = (documents.c.tenant == scope.tenant) & (documents.c.collection == scope.collection)
    held = (legal_holds.c.tenant == scope.tenant) & (legal_holds.c.collection == scope.collection)
    hold = connection.execute(select(legal_holds).where(held).limit(1)).first()
    if hold is not None:
        raise HeldError(hold.document_id, hold.reason)
    here = (audiences.c.tenant == scope.tenant) & (audiences.c.collection == scope.collection)
    theirs = select(audiences.c.id).where(here)
    connection.execute(delete(audience_readers).where(audience_readers.c.audience.in_(theirs)))
    for rights in (audiences, reading_rules, unsettled_documents):
        own = (rights.c.tenant == scope.tenant) & (rights.c.collection == scope.collection)
        connection.execute(delete(rights).where(own))
    versions = select(document_versions.c.id).join(documents).where(of_scope)
    theirs = select(passages.c.passage_id).where(passages.c.version_id.in_(versions))
    connection.execute(delete(passage_indexes).where(passage_indexes.c.passage_id.in_(theirs)))
    connection.execute(delete(passages).where(passages.c.version_id.in_(versions)))
    document_ids = select(documents.c.id).where(of_scope)
    connection.execute(delete(document_versions).where(document_versions.c.document_id.in_(document_ids)))
    connection.execute(delete(documents).where(of_scope))
    spare = (collection_indexes.c.tenant == scope.tenant) & (collection_indexes.c.collection == scope.collection)
    connection.execute(delete(collection_indexes).where(spare))
    connection.execute(delete(table).where((table.c.tenant == scope.tenant) & (table.c.name == scope.collection)))


def _collection(row: Row[tuple[object, ...]], hidden: tuple[int, int] = (0, 0)) -> Collection:
    """`hidden`: documents and passages that are not to be counted."""
    values = row._mapping
    hidden_documents, hidden_passages = hidden
    return Collection(
        scope=Scope(values["tenant"], values["name"]),
        kind=values["kind"],
        embedder=values["embedder"],
        dimension=values["dimension"],
        generation=values["generation"],
        index_name=values["index_name"],
        created_at=values["created_at"],
        topics=tuple(values["topics"]),
        documents=values["live_documents"] - hidden_documents,
        passages=values["live_passages"] - hidden_passages,
    )


Totals = dict[tuple[str, str, str | None], tuple[int, int]]
"""(tenant, collection, audience) → (visible documents, visible passages)."""


def totals(connection: Connection, document_ids: list[str]) -> Totals:
    """What these documents add to the counts of their collections and audiences at this moment; one batch of ids."""
    statement = (
        select(
            documents.c.tenant,
            documents.c.collection,
            documents.c.audience,
            func.count(documents.c.live_version),
            func.sum(documents.c.chunk_count),
        )
        .where(documents.c.id.in_(document_ids))
        .group_by(documents.c.tenant, documents.c.collection, documents.c.audience)
    )
    return {(row[0], row[1], row[2]): (row[3], row[4]) for row in connection.execute(statement)}


def count_change(connection: Connection, before: Totals, after: Totals) -> None:
    """Add the difference to the counts of the collections and of the audiences."""
    restricted: list[Scope] = []
    for tenant, name, audience in dict.fromkeys([*before, *after]):
        old_documents, old_passages = before.get((tenant, name, audience), (0, 0))
        new_documents, new_passages = after.get((tenant, name, audience), (0, 0))
        if (old_documents, old_passages) == (new_documents, new_passages):
            continue
        for counts, this in (
            (table, (table.c.tenant == tenant) & (table.c.name == name)),
            *(() if audience is None else ((audiences, audiences.c.id == audience),)),
        ):
            connection.execute(
                update(counts)
                .where(this)
                .values(
                    live_documents=counts.c.live_documents + new_documents - old_documents,
                    live_passages=counts.c.live_passages + new_passages - old_passages,
                )
            )
        if audience is not None:
            restricted.append(Scope(tenant, name))
    changed(connection, restricted)
