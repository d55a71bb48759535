"""The catalog on PostgreSQL keeps the contract of catalogs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from kedge.core.settings import Settings
from kedge.stores.catalog.ports import Catalog
from kedge.stores.catalog.sql.catalog import open_catalog
from kedge.testing import CatalogCongruence, CatalogContract
from tests.contract.postgresql import url_of


@pytest.mark.store("catalog", "postgresql")
class TestPostgresqlCatalog(CatalogContract):
    async def open_store(self, folder: Path) -> Catalog:
        return open_catalog(url_of(folder), Settings())


class PostgresqlLikeMemory(CatalogCongruence):
    async def open_store(self, folder: Path) -> Catalog:
        return open_catalog(url_of(folder), Settings())


@pytest.mark.req("D-09", "D-10", "D-18")
@pytest.mark.store("catalog", "postgresql")
class TestPostgresqlLikeMemory(PostgresqlLikeMemory.TestCase):
    settings = settings(max_examples=5, stateful_step_count=20, deadline=None)
