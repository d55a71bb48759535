"""The memory catalog keeps the contract of catalogs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.core.settings import Settings
from kedge.stores.catalog.memory import open_catalog
from kedge.stores.catalog.ports import Catalog
from kedge.testing import CatalogContract


@pytest.mark.store("catalog", "memory")
class TestMemoryCatalog(CatalogContract):
    async def open_store(self, folder: Path) -> Catalog:
        return open_catalog("memory:", Settings())
