"""What commands share that open the catalog alone, so that they also work beside a running server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from kedge.engine.library import Library
from kedge.stores import registry
from kedge.stores.catalog.ports import Catalog

if TYPE_CHECKING:
    from kedge.core.settings import Settings

T = TypeVar("T")


def with_catalog(settings: Settings, work: Callable[[Catalog], Awaitable[T]]) -> T:
    """Open the catalog, do the work, close it; returns what the work returns."""

    async def opened() -> T:
        catalog = registry.open_catalog(settings)
        try:
            return await work(catalog)
        finally:
            await catalog.close()

    return asyncio.run(opened())


def with_library(settings: Settings, work: Callable[[Library], Awaitable[T]]) -> T:
    """The same with what is there: collections, documents and jobs."""
    return with_catalog(settings, lambda catalog: work(Library(settings, catalog)))
