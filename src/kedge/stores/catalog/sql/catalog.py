"""The catalog on a SQL database (`sqlite:///path/catalog.db`)."""

from __future__ import annotations

from kedge.core.errors import StoreError
from kedge.core.settings import Settings
from kedge.stores.catalog.sql.analytics import SqlAnalytics
from kedge.stores.catalog.sql.audit import SqlAuditLog
from kedge.stores.catalog.sql.collections import SqlCollections
from kedge.stores.catalog.sql.conversations import SqlConversations
from kedge.stores.catalog.sql.database import Database
from kedge.stores.catalog.sql.documents import SqlDocuments
from kedge.stores.catalog.sql.indexes import SqlIndexes
from kedge.stores.catalog.sql.integrity import faults
from kedge.stores.catalog.sql.jobs import SqlJobs
from kedge.stores.catalog.sql.keys import SqlKeys
from kedge.stores.catalog.sql.passages import SqlPassages
from kedge.stores.catalog.sql.past import SqlPast
from kedge.stores.catalog.sql.rights import SqlRights
from kedge.stores.catalog.sql.sources import SqlSources
from kedge.stores.catalog.sql.uploads import SqlUploads


class SqlCatalog:
    """The `Catalog` port: its parts over one database, with all that a catalog may keep beside them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.collections = SqlCollections(database)
        self.documents = SqlDocuments(database)
        self.passages = SqlPassages(database)
        self.past = SqlPast(database)
        self.indexes = SqlIndexes(database)
        self.uploads = SqlUploads(database)
        self.conversations = SqlConversations(database)
        self.sources = SqlSources(database)
        self.jobs = SqlJobs(database)
        self.keys = SqlKeys(database)
        self.analytics = SqlAnalytics(database)
        self.rights = SqlRights(database)
        self.audit = SqlAuditLog(database)

    async def integrity(self) -> list[str]:
        try:
            return await self._database.read(faults)
        except StoreError as error:
            return [error.message]

    async def close(self) -> None:
        await self._database.close()


def open_catalog(url: str, _settings: Settings) -> SqlCatalog:
    """Open the catalog, creating or upgrading its tables. StoreError when the file cannot be used."""
    return SqlCatalog(Database(url))
