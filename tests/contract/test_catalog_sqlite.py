"""The SQLite catalog keeps the contract of catalogs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from kedge.core.settings import Settings
from kedge.stores.catalog.ports import Catalog
from kedge.stores.catalog.sql.catalog import open_catalog
from kedge.testing import CatalogCongruence, CatalogContract


@pytest.mark.store("catalog", "sqlite")
class TestSqliteCatalog(CatalogContract):
    async def open_store(self, folder: Path) -> Catalog:
        return open_catalog(f"sqlite:///{folder / 'catalog.db'}", Settings())


class SqliteLikeMemory(CatalogCongruence):
    async def open_store(self, folder: Path) -> Catalog:
        return open_catalog(f"sqlite:///{folder / 'catalog.db'}", Settings())


@pytest.mark.req("D-09", "D-10", "D-18")
@pytest.mark.store("catalog", "sqlite")
class TestSqliteLikeMemory(SqliteLikeMemory.TestCase):
    settings = settings(max_examples=10, stateful_step_count=20, deadline=None)
