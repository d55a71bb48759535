"""The catalog on a SQL database (`sqlite:///path/catalog.db`)."""

from __future__ import annotations

from kedge.config import Settings
from kedge.errors import StoreError
from kedge.stores.catalog.analytics import SqlAnalytics
from kedge.stores.catalog.collections import SqlCollections
from kedge.stores.catalog.database import Database
from kedge.stores.catalog.documents import SqlDocuments
from kedge.stores.catalog.indexes import SqlIndexes
from kedge.stores.catalog.integrity import faults
from kedge.stores.catalog.jobs import SqlJobs
from kedge.stores.catalog.keys import SqlKeys
from kedge.stores.catalog.passages import SqlPassages
from kedge.stores.catalog.uploads import SqlUploads


class SqlCatalog:
    """The `Catalog` port: seven parts over one database, and uploads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.collections = SqlCollections(database)
        self.documents = SqlDocuments(database)
        self.passages = SqlPassages(database)
        self.indexes = SqlIndexes(database)
        self.uploads = SqlUploads(database)
        self.jobs = SqlJobs(database)
        self.keys = SqlKeys(database)
        self.analytics = SqlAnalytics(database)

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
