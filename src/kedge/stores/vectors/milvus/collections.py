"""The collections of a Milvus database: made, found, kept in the server's memory, dropped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from pymilvus import MilvusClient
from pymilvus.client.types import LoadState

from kedge.core.errors import NotFoundError, StoreError
from kedge.stores.ports import IndexSpec
from kedge.stores.vectors.milvus.address import MilvusAddress
from kedge.stores.vectors.milvus.names import collection_name
from kedge.stores.vectors.milvus.schema import MilvusShape, has_sparse_vectors, index_of, schema_of, shape_of
from kedge.stores.vectors.milvus.server import NOT_LOADED, MilvusServer
from kedge.stores.vectors.rules import check_dimension, unknown_index

_LOADING = 600.0
"""Seconds that a collection may take to be loaded."""
_PAUSE = 0.5
"""Seconds between looks at an index that is being built."""


class MilvusCollections:
    """One collection for each index; what they look like is asked once."""

    def __init__(self, server: MilvusServer, address: MilvusAddress) -> None:
        self._server = server
        self._address = address
        self._shapes: dict[str, MilvusShape] = {}

    async def create(self, spec: IndexSpec) -> None:
        """Make it if it is not there; else check its dimension."""
        name = collection_name(spec.name)
        if not await self._server.ask(MilvusClient.has_collection, name):
            await self.make(name, spec)
        shape = self._shapes[spec.name] = await self._described(name)
        check_dimension(spec, shape.dimension)
        await self._make_ready(name, shape)

    async def make(self, name: str, spec: IndexSpec) -> None:
        """A new collection, not yet indexed."""
        sparse = has_sparse_vectors(str(await self._server.ask(MilvusClient.get_server_version)))
        schema = schema_of(spec, self._address.text, sparse=sparse)
        await self._server.ask(MilvusClient.create_collection, name, schema=schema, consistency_level="Strong")

    async def drop(self, index: str) -> None:
        """Remove it; unknown ones are ignored."""
        self._shapes.pop(index, None)
        await self._server.ask(MilvusClient.drop_collection, collection_name(index))

    async def seal(self, index: str) -> None:
        """End the segments that are being written, and wait until the vectors in them are indexed."""
        await self.ask(index, MilvusClient.flush)
        while True:
            described = await self.ask(index, MilvusClient.describe_index, index_name="vector")
            if not described["pending_index_rows"]:
                return
            await asyncio.sleep(_PAUSE)

    async def shape(self, index: str) -> MilvusShape:
        """What the collection looks like; NotFoundError when there is none."""
        shape = self._shapes.get(index)
        if shape is None:
            name = collection_name(index)
            if not await self._server.ask(MilvusClient.has_collection, name):
                raise unknown_index(index)
            shape = await self._described(name)
            await self._make_ready(name, shape)
            self._shapes[index] = shape
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

    async def _make_ready(self, name: str, shape: MilvusShape) -> None:
        """Indexed and in the server's memory; also after a kill between the steps, and after a restart."""
        indexed = await self._server.ask(MilvusClient.list_indexes, name)
        if len(indexed) < 1 + shape.sparse:
            wanted = index_of(self._address.index, sparse=shape.sparse)
            await self._server.ask(MilvusClient.create_index, name, wanted, sync=False)
        await self._load(name)

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

    async def _described(self, name: str) -> MilvusShape:
        return shape_of(await self._server.ask(MilvusClient.describe_collection, name), self._address.text)
