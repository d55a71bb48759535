"""Collections: each pins its embedder and dimension. `kedge.engine.reindex` changes them."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial

import numpy as np

from kedge.core.acting import acting_as, actor
from kedge.core.errors import (
    DimensionMismatchError,
    EmbedderMismatchError,
    ForbiddenError,
    KedgeError,
    NotFoundError,
    StoreError,
    UsageError,
    in_collection,
)
from kedge.core.ids import sha256
from kedge.core.settings import Settings
from kedge.core.values import DEFAULT_TENANT, Collection, Scope
from kedge.engine.library import found_collection
from kedge.ingest.ports import IndexedKind
from kedge.ingest.write.past import drop_past
from kedge.models.ports import Embedder, VectorCache
from kedge.models.registry import open_embedder
from kedge.models.wrappers.cached import CachedEmbedder
from kedge.models.wrappers.timed import OnEmbed, WatchedEmbedder
from kedge.stores import registry
from kedge.stores.bundle import Stores
from kedge.stores.cache.file import FileCache
from kedge.stores.catalog.ports import Catalog
from kedge.stores.narrowing import READERS
from kedge.stores.ports import CanAlias, CanOptimize, IndexSpec, TellsFailures

log = logging.getLogger(__name__)

PAGE = 1000
PROBE = "kedge"
"""What a model is asked to find out whether it works."""
PROBE_SECONDS = 30.0
"""A model that has worked within this time is not asked."""
NAME = re.compile(r"[\w][\w .@-]{0,99}")


def check_name(name: str) -> None:
    """UsageError for what cannot be the name of a collection."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a collection.",
            hint="Use letters, digits, spaces, dots, dashes and underscores, at most 100.",
        )


async def check_admitted(catalog: Catalog, scope: Scope) -> None:
    """ForbiddenError where the actor in force would write into a collection that it may not read."""
    who = actor()
    if who is not None and not who.may_read((await catalog.rights.rules(scope)).get("")):
        raise ForbiddenError(
            f"Nothing of yours can go into {scope.collection!r}.", hint="Choose another name for the collection."
        )


async def is_secret(catalog: Catalog, scope: Scope) -> bool:
    """Whether the collection is there, and not for the actor in force: neither its name nor what belongs to it."""
    if actor() is None or await catalog.collections.get(scope) is not None:
        return False
    with acting_as(None):
        return await catalog.collections.get(scope) is not None


class CollectionKeeper:
    """Makes, finds and deletes collections, and keeps their embedders loaded."""

    def __init__(self, settings: Settings, stores: Stores) -> None:
        self._settings = settings
        self._stores = stores
        self._embedders: dict[str, CachedEmbedder] = {}
        self._watched: dict[str, WatchedEmbedder] = {}
        """The same without their caches."""
        self._worked_at: dict[str, float] = {}
        """When a model last worked, of those that have not failed since."""
        self._cache: VectorCache | None = None
        self._loading = asyncio.Lock()
        self._named: set[str] = set()
        """Names that could not be given to an index."""
        self._fitting: set[str] = set()
        """Indexes that were found to hold vectors as long as their embedder makes them."""
        self.on_embed: OnEmbed = lambda _seconds, _worked: None
        """Called after every call of an embedding model."""
        self.on_store_failure: Callable[[str], None] = lambda _store: None
        """Called for every call that a store failed, with its name."""

    async def get(self, scope: Scope) -> Collection:
        """The collection, or NotFoundError that says how to make one."""
        return await found_collection(self._stores.catalog, scope)

    async def admit(self, scope: Scope) -> None:
        """ForbiddenError where the actor in force would write into a collection that it may not read."""
        await check_admitted(self._stores.catalog, scope)

    async def ensure(self, scope: Scope, kind: IndexedKind, *, make: bool = True) -> tuple[Collection, Embedder]:
        """The collection for writing, with its embedder; made if it is not there yet, or else NotFoundError."""
        check_name(scope.collection)
        await self.admit(scope)
        with acting_as(None):  # what is there and not shown to who writes is not made again
            collection = await self._stores.catalog.collections.get(scope) if make else await self.get(scope)
        fresh = collection is None
        if collection is None:
            collection = await self._make(scope, kind)
        elif collection.kind != kind.name:
            raise UsageError(
                f"Collection {scope.collection!r} holds {collection.kind}, not {kind.name}.",
                hint="Choose another collection.",
            )
        check_pinned(self._settings, collection)
        embedder = await self.embedder_of(collection)
        with in_collection(scope.collection, collection.embedder):
            try:
                await self._stores.vectors.create(spec_of(collection, kind))
            except KedgeError as error:
                if fresh:
                    await self._unmake(collection, error)
                raise
        await self.name_index(collection, kind)
        return collection, embedder

    async def name_index(self, collection: Collection, kind: IndexedKind, before: str = "") -> None:
        """Let other programs find the default tenant's collection of a kind under the name of the design (D-36).

        That is the default collection; where it is of another kind, the first one. `before`: the index that it had; its
        name goes over to the new one. A name that is somebody else's is left to them.
        """
        vectors, name = self._stores.vectors, kind.index_prefix
        if collection.scope.tenant != DEFAULT_TENANT or not isinstance(vectors, CanAlias) or name in self._named:
            return
        try:
            led = await vectors.aliased(name)
            if led is None or collection.scope.collection == self._settings.collection or (before and before in led):
                await vectors.alias(name, collection.index_name)
        except StoreError as error:
            self._named.add(name)  # said once
            log.warning("other programs will not find the index %s as %s: %s", collection.index_name, name, error)

    async def embedder_of(self, collection: Collection) -> Embedder:
        """The embedder that the collection pins; checked against its dimension. Makes nothing: readers call it too."""
        embedder = await self.embedder(collection.embedder, collection.scope.tenant)
        if embedder.dimension != collection.dimension:
            raise DimensionMismatchError(
                found=embedder.dimension,
                expected=collection.dimension,
                collection=collection.scope.collection,
                model=collection.embedder,
            )
        return embedder

    @property
    def window(self) -> int | None:
        """Tokens that the embedder of the settings reads at once; None while it is not loaded."""
        found = self._embedders.get(self._settings.embedder)
        return None if found is None else found.window

    async def embedder(self, name: str, tenant: str = DEFAULT_TENANT) -> Embedder:
        """Load an embedder once; what it remembers is the tenant's own."""
        async with self._loading:
            if name not in self._embedders:
                inner = await asyncio.to_thread(open_embedder, name, self._settings)
                if self._cache is None:
                    self._cache = registry.open_cache(self._settings)
                    if isinstance(self._cache, TellsFailures):
                        self._cache.on_failure = lambda: self.on_store_failure("cache")
                watched = WatchedEmbedder(inner, partial(self._embedded, name), words=self._settings.keep_questions)
                self._watched[name] = watched
                path = self._settings.embed_cache
                own = FileCache(path) if path and self._cache is None else None
                self._embedders[name] = CachedEmbedder(watched, own, shared=self._cache)
            whole = self._embedders[name]
            return whole if tenant == DEFAULT_TENANT else whole.of(tenant)

    def _embedded(self, name: str, seconds: float, worked: bool) -> None:
        if worked:
            self._worked_at[name] = time.monotonic()
        else:
            self._worked_at.pop(name, None)
        self.on_embed(seconds, worked)  # whoever listens now, not when the model was loaded

    async def delete(self, scope: Scope) -> None:
        """Remove the collection in the order of D-18: all documents hidden at once, indexes, graph, then the catalog.

        Broken off anywhere, it is empty to readers and the same call goes on: nothing is forgotten before it is gone.
        """
        collection = await self._stores.catalog.collections.get(scope)
        if collection is None:
            return
        await self._stores.catalog.documents.retire(scope, await self._document_ids(scope))
        spare = await self._stores.catalog.indexes.spare(scope)
        for name in (collection.index_name, *(one.index_name for one in spare)):
            await self._stores.vectors.drop(name)
            await drop_past(self._stores, name)
        await self._stores.graph.drop(scope)
        await self._stores.nodes.drop(scope)
        await self._stores.catalog.collections.delete(scope)

    async def optimize(self, collection: Collection) -> None:
        """Let the store improve its index if it can. A failure costs speed only, so it is logged."""
        if isinstance(self._stores.vectors, CanOptimize):
            try:
                await self._stores.vectors.optimize(collection.index_name)
            except KedgeError as error:
                log.warning("index %s could not be optimized: %s", collection.index_name, error)

    def probes(self) -> dict[str, Callable[[], Awaitable[object]]]:
        """For each part something small to ask it; raises KedgeError if it does not work."""
        nobody = Scope("health", "health")
        return {
            "catalog": lambda: self._stores.catalog.collections.get(nobody),
            "graph": lambda: self._stores.graph.concepts_by_key(nobody, ["health"]),
            "vectors": self._vectors_answer,
            "embedder": self._embedder_answers,
            "collections": self._collections_fit,
        }

    async def close(self) -> None:
        """Release the models."""
        for embedder in self._embedders.values():
            await embedder.close()
        self._embedders.clear()

    async def _document_ids(self, scope: Scope) -> list[str]:
        found: list[str] = []
        while page := await self._stores.catalog.documents.page(scope, limit=PAGE, offset=len(found)):
            found += [document.id for document in page]
        return found

    async def _vectors_answer(self) -> None:
        for collection in (await self._stores.catalog.collections.everywhere())[:1]:
            await self._stores.vectors.count(collection.index_name, collection.scope.tenant)

    async def _collections_fit(self) -> None:
        """Every collection's embedder makes vectors as long as its index holds (D-35). DimensionMismatchError."""
        try:
            await self._look_at_collections()
        except (StoreError, NotFoundError) as error:  # told by the part of the store, and by `kedge check`
            log.info("the collections could not be looked at: %s", error)

    async def _look_at_collections(self) -> None:
        for collection in await self._stores.catalog.collections.everywhere():
            if collection.index_name in self._fitting or not collection.passages:
                continue
            embedder = await self.embedder_of(collection)
            probe = np.eye(1, embedder.dimension, dtype=np.float32)[0]
            with in_collection(collection.scope.collection, collection.embedder):
                await self._stores.vectors.search(collection.index_name, collection.scope.tenant, probe, 1)
            self._fitting.add(collection.index_name)

    async def _embedder_answers(self) -> None:
        """The model of the settings has worked lately, or works now; what it answers is not taken from a cache."""
        name = self._settings.embedder
        worked = self._worked_at.get(name)
        if worked is None or time.monotonic() - worked > PROBE_SECONDS:
            await self.embedder(name)
            await self._watched[name].embed_query(PROBE)

    async def _unmake(self, collection: Collection, cause: KedgeError) -> None:
        """No collection without its index: the disk may be full. What fails of this too must not hide the cause."""
        try:
            await self._stores.vectors.drop(collection.index_name)
            await self._stores.catalog.collections.delete(collection.scope)
        except KedgeError as second:
            cause.add_note(f"The collection could not be taken back: {second}")

    async def _make(self, scope: Scope, kind: IndexedKind) -> Collection:
        embedder = await self.embedder(usual_embedder(self._settings, kind))
        collection = Collection(
            scope=scope,
            kind=kind.name,
            embedder=embedder.name,
            dimension=embedder.dimension,
            generation=1,
            index_name=index_name(kind, scope, 1),
            created_at=datetime.now(UTC),
        )
        # An index that the catalog does not know of would stay for ever: it is noted first, and made by `ensure`.
        await self._stores.vectors.drop(collection.index_name)
        await drop_past(self._stores, collection.index_name)
        await self._stores.graph.drop(scope)
        await self._stores.catalog.collections.put(collection)
        return collection


def usual_embedder(settings: Settings, kind: IndexedKind) -> str:
    """What a new collection of the kind is embedded by: what the settings name, else what suits the kind."""
    named = "embedder" in settings.model_fields_set
    return settings.embedder if named or not kind.embedder else kind.embedder


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


def spec_of(collection: Collection, kind: IndexedKind) -> IndexSpec:
    """The physical index of a collection."""
    return IndexSpec(collection.index_name, collection.dimension, {**kind.fields, READERS: "keyword"})


def index_name(kind: IndexedKind, scope: Scope, generation: int) -> str:
    """Unique per tenant and collection, and a valid name in every store."""
    owner = sha256(f"{scope.tenant}\x1f{scope.collection}")[:32]
    return f"{kind.index_prefix}_{owner}_v{generation}"
