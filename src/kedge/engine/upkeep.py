"""Work on the indexes that goes on behind everything else and may be broken off at any time without loss."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from kedge.core.tasks import stop
from kedge.core.values import Collection

Optimize = Callable[[Collection], Awaitable[None]]


class Upkeep:
    """Lets collections' indexes be improved one after the other in one background task."""

    def __init__(self, optimize: Optimize) -> None:
        self._optimize = optimize
        self._waiting: dict[str, Collection] = {}
        self._task: asyncio.Task[None] | None = None

    def due(self, collection: Collection) -> None:
        """The index has changed: have it looked after. Returns at once."""
        self._waiting[collection.index_name] = collection
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def settle(self) -> None:
        """Wait until nothing is left to do. Giving up waiting does not stop the work."""
        while self._task is not None and not self._task.done():
            await asyncio.shield(self._task)

    async def close(self) -> None:
        """Break off; what is due is found again by the next process that writes or serves."""
        if self._task is not None:
            await stop(self._task)

    async def _work(self) -> None:
        while self._waiting:
            _, collection = self._waiting.popitem()
            await self._optimize(collection)
