"""Change of model or dimension (D-19): a new index is built beside the one in use and exchanged with it at once.

The new index is filled while readers and writers go on with the old one. When nothing is missing any more, writers wait
for the moment of the exchange. Killed anywhere, the same command goes on: what the new index holds is not embedded
again. A rollback is the same way back, to the index that was kept.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from kedge.core.errors import KedgeError, NotFoundError
from kedge.core.locks import Locks
from kedge.core.values import Collection, Passage, Scope
from kedge.engine.collections import CollectionKeeper, index_name, spec_of
from kedge.ingest.batch import OnStep, as_points
from kedge.ingest.write.past import drop_past, fill_past, missing_past
from kedge.kinds import kind_named
from kedge.models.ports import Embedder
from kedge.stores.bundle import Stores
from kedge.stores.catalog.ports import IndexState, SpareIndex

log = logging.getLogger(__name__)

BATCH = 256
UNCHANGED = "The index in use is as it was; run the same command again to go on."

OnCount = Callable[[int, int], None]
"""Called with the passages that the new index holds, and how many there are."""
OnHeld = Callable[[int], None]


class Reindexer:
    """Builds, exchanges and drops the indexes of collections; one re-index of a collection at a time."""

    def __init__(self, stores: Stores, keeper: CollectionKeeper, locks: Locks, on_step: OnStep) -> None:
        self._stores = stores
        self._keeper = keeper
        self._locks = locks
        self._step = on_step

    async def run(self, scope: Scope, embedder_name: str, *, keep: bool, on_count: OnCount | None) -> Collection:
        """Switch to an index made with this embedder. On failure the one in use stays, and the next run goes on."""
        async with self._locks.alone(_name(scope)):
            await self.drop_unneeded(scope)
            embedder = await self._keeper.embedder(embedder_name, scope.tenant)
            target = await self._begin(await self._keeper.get(scope), embedder)
            return await self._move(target, embedder, keep=keep, on_count=on_count)

    async def rollback(self, scope: Scope, *, on_count: OnCount | None) -> Collection:
        """Return to the index that was in use before, after what changed meanwhile is in it too. NotFoundError."""
        async with self._locks.alone(_name(scope)):
            await self._keeper.get(scope)
            spares = await self._stores.catalog.indexes.spare(scope)
            kept = [spare for spare in spares if spare.state is IndexState.KEPT]
            if not kept:
                raise NotFoundError(
                    f"There is no former index of {scope.collection!r} to return to.",
                    hint="One is kept by every re-index, unless it was told to drop the old one.",
                )
            embedder = await self._keeper.embedder(kept[-1].embedder, scope.tenant)
            return await self._move(kept[-1], embedder, keep=True, on_count=on_count)

    async def discard(self, scope: Scope) -> int:
        """Drop every index but the one in use; returns how many. A rollback is not possible any more."""
        async with self._locks.alone(_name(scope)):
            await self._keeper.get(scope)
            spare = await self._stores.catalog.indexes.spare(scope)
            for one in spare:
                await self._stores.catalog.indexes.put(replace(one, state=IndexState.DROPPING))
            await self.drop_unneeded(scope)
            return len(spare)

    async def drop_unneeded(self, scope: Scope) -> None:
        """Finish what a switch or a discard began."""
        for spare in await self._stores.catalog.indexes.spare(scope):
            if spare.state is IndexState.DROPPING:
                await self._stores.vectors.drop(spare.index_name)
                await drop_past(self._stores, spare.index_name)
                await self._stores.catalog.indexes.forget(scope, spare.index_name)

    # ------------------------------------------------------------ beside the index in use

    async def _begin(self, used: Collection, embedder: Embedder) -> SpareIndex:
        """The half-built index of an earlier run with this embedder, or a new one; others that are half-built go."""
        spares = await self._stores.catalog.indexes.spare(used.scope)
        wanted = (embedder.name, embedder.dimension)
        found: SpareIndex | None = None
        for spare in spares:
            if spare.state is IndexState.BUILDING:
                if (spare.embedder, spare.dimension) == wanted:
                    found = spare
                else:
                    await self._stores.catalog.indexes.put(replace(spare, state=IndexState.DROPPING))
        await self.drop_unneeded(used.scope)
        if found is not None:
            return found
        generation = 1 + max(used.generation, *(spare.generation for spare in spares), 0)
        name = index_name(kind_named(used.kind), used.scope, generation)
        fresh = SpareIndex(used.scope, name, generation, embedder.name, embedder.dimension, IndexState.BUILDING)
        await drop_past(self._stores, name)
        await self._stores.vectors.drop(name)  # what a killed delete of a former collection of this name left
        await self._stores.catalog.indexes.put(fresh)
        return fresh

    async def _move(
        self, target: SpareIndex, embedder: Embedder, *, keep: bool, on_count: OnCount | None
    ) -> Collection:
        scope = target.scope
        used = await self._keeper.get(scope)
        try:
            await self._stores.vectors.create(spec_of(_pointing(used, target), kind_named(used.kind)))
            filling = _Filling(self._stores, target, embedder, self._step)
            if on_count is not None:
                filling.show = lambda held: on_count(held, max(held, used.passages))
            await filling.look()
            await filling.fill()
            async with self._locks.writing(scope):
                await filling.fill()
                await self._fill_past(_pointing(used, target), embedder)
                await self._stores.catalog.indexes.switch(target, keep=keep)
                await self._keeper.name_index(_pointing(used, target), kind_named(used.kind), used.index_name)
        except KedgeError as error:
            await self._clear_if_deleted(target)
            error.hint = f"{error.hint} {UNCHANGED}".strip()
            raise
        self._step("index switched")
        await self.drop_unneeded(scope)
        return await self._keeper.get(scope)

    async def _fill_past(self, target: Collection, embedder: Embedder) -> None:
        """What is kept of superseded versions can be found in the new index as in the old."""
        await fill_past(self._stores, target, embedder, await missing_past(self._stores, target))

    async def _clear_if_deleted(self, target: SpareIndex) -> None:
        """The collection may have been deleted meanwhile; a store that fails is not asked to tidy up."""
        try:
            if await self._stores.catalog.collections.get(target.scope) is None:
                await self._stores.vectors.drop(target.index_name)
        except KedgeError as second:
            log.warning("the index %s could not be looked after: %s", target.index_name, second)


class _Filling:
    """Brings an index up to the live passages of its collection."""

    def __init__(self, stores: Stores, target: SpareIndex, embedder: Embedder, on_step: OnStep) -> None:
        self._stores = stores
        self._target = target
        self._embedder = embedder
        self._step = on_step
        self._held = 0
        self.show: OnHeld = lambda _held: None

    async def look(self) -> None:
        """Believe what the index holds, not what was noted about it; take out what is not live any more."""
        name, tenant = self._target.index_name, self._target.scope.tenant
        present = [ids async for ids in self._stores.vectors.ids(name, tenant)]
        await self._stores.catalog.indexes.unmark(name)
        for ids in present:
            await self._mark(ids)
        self.show(self._held)

    async def fill(self) -> None:
        """Embed what is missing, until nothing is."""
        found = True
        while found:
            found = False
            async for batch in self._stores.catalog.indexes.missing(self._target.scope, self._target.index_name, BATCH):
                found = True
                await self._add(batch)

    async def _add(self, batch: Sequence[Passage]) -> None:
        vectors = await self._embedder.embed([passage.embed_text for passage in batch])
        self._step("index embedded")
        readers = await self._stores.catalog.rights.readers([passage.document_id for passage in batch])
        points = as_points(batch, vectors, readers)
        await self._stores.vectors.upsert(self._target.index_name, self._target.scope.tenant, points)
        self._step("index written")
        await self._mark([point.id for point in points])
        self._step("index marked")
        self.show(self._held)

    async def _mark(self, ids: Sequence[str]) -> None:
        """What died meanwhile is not marked, and whoever swept it did not find it here: it goes now."""
        marked = await self._stores.catalog.passages.mark_indexed(ids, self._target.index_name)
        self._held += len(marked)
        if len(marked) < len(ids):
            dead = sorted(set(ids) - set(marked))
            await self._stores.vectors.delete(self._target.index_name, self._target.scope.tenant, dead)


def _pointing(used: Collection, target: SpareIndex) -> Collection:
    """The collection as it is after the switch."""
    return replace(
        used,
        index_name=target.index_name,
        generation=target.generation,
        embedder=target.embedder,
        dimension=target.dimension,
    )


def _name(scope: Scope) -> str:
    return f"The re-index of {scope.tenant}/{scope.collection}"
