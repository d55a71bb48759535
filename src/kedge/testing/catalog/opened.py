"""What the parts of the catalog's contract share."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from kedge.core.values import DocumentStatus
from kedge.stores.catalog.ports import Catalog
from kedge.testing.catalog.sample import HERE, THERE, collection, document

ONE, TWO = document("one"), document("two")


class OpensCatalog(ABC):
    """A test class that can open the catalog under test."""

    @abstractmethod
    async def open_store(self, folder: Path) -> Catalog:
        """A catalog that keeps its files, if any, in the folder."""


def on_catalog(test: Callable[[Any, Any], Awaitable[None]]) -> Callable[[Any, Path], None]:
    """Turn `async def test_x(self, catalog)` into a plain test on a catalog with one collection per tenant."""

    def run(self: OpensCatalog, tmp_path: Path) -> None:
        async def body() -> None:
            catalog = await self.open_store(tmp_path)
            try:
                for scope in (HERE, THERE):
                    await catalog.collections.put(collection(scope))
                await test(self, catalog)
                assert await catalog.integrity() == []
            finally:
                await catalog.close()

        asyncio.run(body())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


async def texts(catalog: Catalog, name: str = "one") -> list[str]:
    """What readers see of a document."""
    return [passage.text for passage in await catalog.passages.of_document(HERE.tenant, document(name).id)]


async def state(catalog: Catalog, name: str = "one") -> DocumentStatus:
    """Status of a document that is there."""
    found = await catalog.documents.get(HERE.tenant, document(name).id)
    assert found is not None
    return found.status
