"""Collections in SQL."""

from __future__ import annotations

from sqlalchemy import Connection, Row, delete, func, select, update

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

_REPLACED = ("embedder", "dimension", "generation", "index_name", "topics")


class SqlCollections:
    """The `Collections` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, scope: Scope) -> Collection | None:
        return await self._database.read(_get, scope)

    async def all(self, tenant: str) -> list[Collection]:
        return await self._database.read(_all, tenant)

    async def everywhere(self) -> list[Collection]:
        return await self._database.read(_everywhere)

    async def put(self, collection: Collection) -> None:
        await self._database.write(_put, collection)

    async def delete(self, scope: Scope) -> None:
        await self._database.write(_delete, scope)


def _get(connection: Connection, scope: Scope) -> Collection | None:
    where = (table.c.tenant == scope.tenant) & (table.c.name == scope.collection)
    row = connection.execute(select(table).where(where)).first()
    return None if row is None else _collection(row)


def _all(connection: Connection, tenant: str) -> list[Collection]:
    rows = connection.execute(select(table).where(table.c.tenant == tenant).order_by(table.c.name))
    return [_collection(row) for row in rows]


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
    }
    upsert(connection, table, [row], _REPLACED)


def _delete(connection: Connection, scope: Scope) -> None:
    of_scope = (documents.c.tenant == scope.tenant) & (documents.c.collection == scope.collection)
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


def _collection(row: Row[tuple[object, ...]]) -> Collection:
    values = row._mapping
    return Collection(
        scope=Scope(values["tenant"], values["name"]),
        kind=values["kind"],
        embedder=values["embedder"],
        dimension=values["dimension"],
        generation=values["generation"],
        index_name=values["index_name"],
        created_at=values["created_at"],
        topics=tuple(values["topics"]),
        documents=values["live_documents"],
        passages=values["live_passages"],
    )


Totals = dict[tuple[str, str], tuple[int, int]]
"""(tenant, collection) → (visible documents, visible passages)."""


def totals(connection: Connection, document_ids: list[str]) -> Totals:
    """What these documents add to their collections' counts at this moment; one batch of ids."""
    statement = (
        select(
            documents.c.tenant,
            documents.c.collection,
            func.count(documents.c.live_version),
            func.sum(documents.c.chunk_count),
        )
        .where(documents.c.id.in_(document_ids))
        .group_by(documents.c.tenant, documents.c.collection)
    )
    return {(row[0], row[1]): (row[2], row[3]) for row in connection.execute(statement)}


def count_change(connection: Connection, before: Totals, after: Totals) -> None:
    """Add the difference to the collections' counts."""
    for (tenant, name), (live_documents, live_passages) in after.items():
        old_documents, old_passages = before[tenant, name]
        connection.execute(
            update(table)
            .where((table.c.tenant == tenant) & (table.c.name == name))
            .values(
                live_documents=table.c.live_documents + live_documents - old_documents,
                live_passages=table.c.live_passages + live_passages - old_passages,
            )
        )
