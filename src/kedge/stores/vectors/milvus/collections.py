"""The collections of a Milvus database: made, found, kept in the server's memory, dropped."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pymilvus import MilvusClient
from pymilvus.client.types import LoadState

from kedge.core.errors import NotFoundError, StoreError
from kedge.stores.ports import IndexSpec
from kedge.stores.vectors.milvus.address import MilvusAddress, index_of_kind
from kedge.stores.vectors.milvus.names import collection_name
from kedge.stores.vectors.milvus.schema import MilvusShape, has_sparse_vectors, index_of, schema_of, shape_of
from kedge.stores.vectors.milvus.server import NOT_LOADED, MilvusServer
from kedge.stores.vectors.rules import check_dimension, unknown_index

_LOADING = 600.0
"""Seconds that a collection may take to be loaded."""
_PAUSE = 0.5
"""Seconds between looks at an index that is being built."""
_SEALING = 3600.0
"""Seconds that the vectors of sealed segments may take to be indexed."""
_STANDING = 300.0
"""Seconds that this may make no progress."""


class MilvusCollections:
    """One collection for each index; what they look like is asked once."""

    def __init__(self, server: MilvusServer, address: MilvusAddress) -> None:
        self._server = server
        self._address = address
        self._shapes: dict[str, MilvusShape] = {}
        self.sealing, self.standing, self.pause = _SEALING, _STANDING, _PAUSE
        """How long `seal` waits in all, and without progress; and between two looks."""

    async def create(self, spec: IndexSpec) -> None:
        """Make it if it is not there; else check its dimension."""
        name = collection_name(spec.name)
        if not await self._server.ask(MilvusClient.has_collection, name):
            await self.make(name, spec)
        check_dimension(spec, (await self._described(spec.name)).dimension)
        self._shapes[spec.name] = await self._ready(spec.name)

    async def make(self, name: str, spec: IndexSpec) -> None:
        """A new collection, not yet indexed."""
        sparse = has_sparse_vectors(str(await self._server.ask(MilvusClient.get_server_version)))
        schema = schema_of(spec, self._address.layout(spec.name).text, sparse=sparse)
        await self._server.ask(MilvusClient.create_collection, name, schema=schema, consistency_level="Strong")

    async def drop(self, index: str) -> None:
        """Remove it; unknown ones are ignored."""
        self._shapes.pop(index, None)
        name = collection_name(index)
        if await self._server.ask(MilvusClient.has_collection, name):
            for alias in (await self._server.ask(MilvusClient.describe_collection, name)).get("aliases", ()):
                await self._server.ask(MilvusClient.drop_alias, alias)
        await self._server.ask(MilvusClient.drop_collection, name)

    async def alias(self, alias: str, index: str) -> None:
        """Let the name lead to the collection of the index, wherever it led before. StoreError if it is a collection's.

        An alias of the same name is moved in one step of the server.
        """
        name = collection_name(index)
        known = await self.aliased(alias)
        if known is None:
            await self._server.ask(MilvusClient.create_alias, name, alias)
        elif known != name:
            await self._server.ask(MilvusClient.alter_alias, name, alias)

    async def aliased(self, alias: str) -> str | None:
        """The collection that the name leads to; None when it leads nowhere, or is a collection's own."""
        if not await self._server.ask(MilvusClient.has_collection, alias):
            return None
        described = await self._server.ask(MilvusClient.describe_collection, alias)
        found = str(described["collection_name"])
        return found if found != alias else None

    async def seal(self, index: str) -> None:
        """End the segments that are being written, and wait until the vectors in them are indexed.

        StoreError when that takes longer than it may, or makes no progress.
        """
        await self.ask(index, MilvusClient.flush)
        started = moved = time.monotonic()
        least = math.inf
        while True:
            described = await self.ask(index, MilvusClient.describe_index, index_name="vector")
            pending, now = int(described["pending_index_rows"]), time.monotonic()
            if not pending:
                return
            if pending < least:
                least, moved = pending, now
            if now - moved >= self.standing or now - started >= self.sealing:
                raise _not_indexed(index, pending, now - started, stands=now - moved >= self.standing)
            await asyncio.sleep(self.pause)

    async def shape(self, index: str) -> MilvusShape:
        """What the collection looks like; NotFoundError when there is none."""
        shape = self._shapes.get(index)
        if shape is None:
            name = collection_name(index)
            if not await self._server.ask(MilvusClient.has_collection, name):
                raise unknown_index(index)
            shape = self._shapes[index] = await self._ready(index)
        return shape

    async def ask(self, index: str, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a method of `MilvusClient` on the collection; one that dropped out of memory is loaded again."""
        name = collection_name(index)
        try:
            return await self._server.ask(method, name, *arguments, **options)
        except NotFoundError:
            self._shapes.pop(index, None)
            raise
        except StoreError as error:
            if error.details.get("reason") != NOT_LOADED:
                raise
        await self._load(name)
        return await self._server.ask(method, name, *arguments, **options)

    async def _ready(self, index: str) -> MilvusShape:
        """Indexed and in the server's memory; also after a kill between the steps, and after a restart."""
        name, layout = collection_name(index), self._address.layout(index)
        shape = await self._described(index)
        indexed = await self._server.ask(MilvusClient.list_indexes, name)
        if len(indexed) < 1 + shape.sparse:
            wanted = index_of(layout.index, sparse=shape.sparse)
            await self._server.ask(MilvusClient.create_index, name, wanted, sync=False)
        await self._load(name)
        described = await self._server.ask(MilvusClient.describe_index, name, index_name="vector")
        return replace(shape, index=index_of_kind(str(described["index_type"]), layout))

    async def _load(self, name: str) -> None:
        """Into the server's memory; waits on our own clock, as much data takes longer than a call may."""
        deadline, pause = time.monotonic() + _LOADING, 0.05
        while not await self._is_loaded(name):
            if time.monotonic() > deadline:
                raise StoreError(f"Milvus does not get {name} into its memory.", hint="See how much the server has.")
            await self._server.ask(MilvusClient.load_collection, name, _async=True)
            await asyncio.sleep(pause)
            pause = min(2 * pause, 1.0)

    async def _is_loaded(self, name: str) -> bool:
        answer = await self._server.ask(MilvusClient.get_load_state, name)
        return bool(answer["state"] == LoadState.Loaded)

    async def _described(self, index: str) -> MilvusShape:
        described = await self._server.ask(MilvusClient.describe_collection, collection_name(index))
        return shape_of(described, self._address.layout(index).text)


def _not_indexed(index: str, pending: int, seconds: float, *, stands: bool) -> StoreError:
    why = "makes no progress" if stands else "takes too long"
    return StoreError(
        f"Milvus' indexing of {index} {why}: {pending} rows are not indexed after {seconds:.0f} s.",
        hint="See the log of its index nodes and how much memory they have; searches work meanwhile, only slower.",
        details={"index": index, "pending_rows": pending},
    )
