"""Collections: each pins its embedder and dimension; a change of model is a re-index beside and a switch."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

from kedge import registry
from kedge.config import Settings
from kedge.errors import DimensionMismatchError, EmbedderMismatchError, KedgeError, NotFoundError, UsageError
from kedge.ids import sha256
from kedge.ingest.kind import Kind
from kedge.ingest.parts import as_points
from kedge.kinds import kind_named
from kedge.models.base import Embedder
from kedge.models.cache import VectorCache
from kedge.models.wrappers import CachedEmbedder
from kedge.stores.base import CanOptimize, IndexSpec
from kedge.stores.opened import Stores
from kedge.types import Collection, Json, Passage, Scope

log = logging.getLogger(__name__)

NAME = re.compile(r"[\w][\w .@-]{0,99}")
REINDEX_BATCH = 256


class CollectionKeeper:
    """Makes, finds, re-indexes and deletes collections, and keeps their embedders loaded."""

    def __init__(self, settings: Settings, stores: Stores) -> None:
        self._settings = settings
        self._stores = stores
        self._embedders: dict[str, Embedder] = {}
        self._cache: VectorCache | None = None
        self._loading = asyncio.Lock()
        self._checked: set[str] = set()

    async def get(self, scope: Scope) -> Collection:
        """The collection, or NotFoundError that says how to make one."""
        collection = await self._stores.catalog.collections.get(scope)
        if collection is None:
            raise NotFoundError(
                f"There is no collection {scope.collection!r}.",
                hint=f"Make it with: kedge ingest PATH --collection {scope.collection}",
            )
        return collection

    async def ensure(self, scope: Scope, kind: Kind) -> tuple[Collection, Embedder]:
        """The collection for writing, made if it is not there yet, with its embedder."""
        if not NAME.fullmatch(scope.collection):
            raise UsageError(
                f"{scope.collection!r} cannot be the name of a collection.",
                hint="Use letters, digits, spaces, dots, dashes and underscores, at most 100.",
            )
        collection = await self._stores.catalog.collections.get(scope)
        if collection is None:
            collection = await self._make(scope, kind)
        elif collection.kind != kind.name:
            raise UsageError(
                f"Collection {scope.collection!r} holds {collection.kind}, not {kind.name}.",
                hint="Choose another collection with --collection.",
            )
        check_pinned(self._settings, collection)
        embedder = await self.embedder_of(collection)
        await self._stores.vectors.create(_spec(collection, kind))
        return collection, embedder

    async def embedder_of(self, collection: Collection) -> Embedder:
        """The embedder that the collection pins; checked against its dimension."""
        embedder = await self.embedder(collection.embedder)
        if embedder.dimension != collection.dimension:
            raise DimensionMismatchError(
                found=embedder.dimension, expected=collection.dimension, collection=collection.scope.collection
            )
        if collection.index_name not in self._checked:
            await self._stores.vectors.create(_spec(collection, kind_named(collection.kind)))
            self._checked.add(collection.index_name)
        return embedder

    async def embedder(self, name: str) -> Embedder:
        """Load an embedder once."""
        async with self._loading:
            if name not in self._embedders:
                inner = await asyncio.to_thread(registry.open_embedder, name, self._settings)
                self._cache = self._cache or registry.open_cache(self._settings)
                self._embedders[name] = CachedEmbedder(inner, self._settings.embed_cache, shared=self._cache)
            return self._embedders[name]

    async def reindex(
        self, scope: Scope, embedder_name: str, on_progress: Callable[[int, int], None] | None
    ) -> Collection:
        """Build the next generation of the index with this embedder beside the present one, then switch."""
        old = await self.get(scope)
        embedder = await self.embedder(embedder_name)
        generation = old.generation + 1
        kind = kind_named(old.kind)
        new = replace(
            old,
            embedder=embedder.name,
            dimension=embedder.dimension,
            generation=generation,
            index_name=_index_name(kind, scope, generation),
        )
        await self._stores.vectors.drop(new.index_name)
        await self._stores.vectors.create(_spec(new, kind))
        done = 0
        async for batch in self._stores.catalog.passages.scan(scope, REINDEX_BATCH):
            await self._embed_into(new, embedder, batch)
            done += len(batch)
            if on_progress is not None:
                on_progress(done, old.passages)
        await self._stores.catalog.collections.put(new)
        await self._stores.vectors.drop(old.index_name)
        return await self.get(scope)

    async def delete(self, scope: Scope) -> None:
        """Remove the collection: index, graph, then the catalog's rows. Hidden first by forgetting it there."""
        collection = await self._stores.catalog.collections.get(scope)
        if collection is None:
            return
        await self._stores.catalog.collections.delete(scope)
        await self._stores.vectors.drop(collection.index_name)
        await self._stores.graph.drop(scope)

    async def optimize(self, collection: Collection) -> None:
        """Let the store improve its index if it can. A failure costs speed only, so it is logged."""
        if isinstance(self._stores.vectors, CanOptimize):
            try:
                await self._stores.vectors.optimize(collection.index_name)
            except KedgeError as error:
                log.warning("index %s could not be optimized: %s", collection.index_name, error)

    async def health(self) -> dict[str, Json]:
        """Ask each store something small."""
        probe = Scope("health", "health")
        return {
            "catalog": await _answers(self._stores.catalog.collections.get(probe)),
            "graph": await _answers(self._stores.graph.concepts_by_key(probe, ["health"])),
            "vectors": await _answers(self._vectors_answer()),
        }

    async def close(self) -> None:
        """Release the models."""
        for embedder in self._embedders.values():
            await embedder.close()
        self._embedders.clear()

    async def _vectors_answer(self) -> None:
        for collection in (await self._stores.catalog.collections.everywhere())[:1]:
            await self._stores.vectors.count(collection.index_name, collection.scope.tenant)

    async def _make(self, scope: Scope, kind: Kind) -> Collection:
        embedder = await self.embedder(self._settings.embedder)
        collection = Collection(
            scope=scope,
            kind=kind.name,
            embedder=embedder.name,
            dimension=embedder.dimension,
            generation=1,
            index_name=_index_name(kind, scope, 1),
            created_at=datetime.now(UTC),
        )
        # What a killed delete of a former collection of this name left behind goes first.
        await self._stores.vectors.drop(collection.index_name)
        await self._stores.graph.drop(scope)
        await self._stores.vectors.create(_spec(collection, kind))
        await self._stores.catalog.collections.put(collection)
        return collection

    async def _embed_into(self, collection: Collection, embedder: Embedder, batch: list[Passage]) -> None:
        vectors = await embedder.embed([passage.embed_text for passage in batch])
        points = as_points(batch, vectors)
        await self._stores.vectors.upsert(collection.index_name, collection.scope.tenant, points)
        await self._stores.catalog.passages.mark_indexed([point.id for point in points], collection.index_name)


def check_pinned(settings: Settings, collection: Collection) -> None:
    """An embedder asked for by name must be the pinned one; the default gives way to it. EmbedderMismatchError."""
    asked = settings.embedder
    if "embedder" in settings.model_fields_set and asked not in (
        collection.embedder,
        collection.embedder.partition(":")[0],
    ):
        raise EmbedderMismatchError(
            f"Collection {collection.scope.collection!r} was built with {collection.embedder!r}, not {asked!r}.",
            hint=f"Run `kedge collection reindex {collection.scope.collection} --embedder {asked}` to change it.",
            details={"expected": collection.embedder, "found": asked},
        )


def _spec(collection: Collection, kind: Kind) -> IndexSpec:
    return IndexSpec(collection.index_name, collection.dimension, kind.payload_indexes)


def _index_name(kind: Kind, scope: Scope, generation: int) -> str:
    """Unique per tenant and collection, and a valid name in every store."""
    owner = sha256(f"{scope.tenant}\x1f{scope.collection}")[:12]
    return f"{kind.index_prefix}_{owner}_v{generation}"


async def _answers(question: Awaitable[object]) -> dict[str, Json]:
    started = time.perf_counter()
    try:
        await question
    except KedgeError as error:
        return {"ok": False, "message": str(error)}
    return {"ok": True, "ms": round(1000 * (time.perf_counter() - started), 2)}
