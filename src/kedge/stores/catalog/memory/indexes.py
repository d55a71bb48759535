"""Indexes beside the one in use, in a dictionary."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from kedge.core.errors import ConflictError
from kedge.core.values import Passage, Scope
from kedge.stores.catalog.memory.state import State
from kedge.stores.catalog.ports import IndexState, SpareIndex


class MemoryIndexes:
    """The `Indexes` port."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def spare(self, scope: Scope) -> list[SpareIndex]:
        found = (spare for spare in self._state.spare.values() if spare.scope == scope)
        return sorted(found, key=lambda spare: spare.generation)

    async def put(self, spare: SpareIndex) -> None:
        self._state.spare[spare.scope, spare.index_name] = spare
        if spare.state is IndexState.DROPPING:
            await self.unmark(spare.index_name)

    async def switch(self, spare: SpareIndex, *, keep: bool) -> None:
        used = self._state.collections.get(spare.scope)
        known = self._state.spare.get((spare.scope, spare.index_name))
        if used is None or known is None or known.state is IndexState.DROPPING:
            raise ConflictError(
                f"The index {spare.index_name} is not there to be used; nothing was switched.", hint="Build it again."
            )
        del self._state.spare[spare.scope, spare.index_name]
        for old in await self.spare(spare.scope):
            if old.state is IndexState.KEPT:
                await self.put(replace(old, state=IndexState.DROPPING))
        state = IndexState.KEPT if keep else IndexState.DROPPING
        await self.put(SpareIndex(spare.scope, used.index_name, used.generation, used.embedder, used.dimension, state))
        self._state.collections[spare.scope] = replace(
            used,
            index_name=spare.index_name,
            generation=spare.generation,
            embedder=spare.embedder,
            dimension=spare.dimension,
        )

    async def forget(self, scope: Scope, index_name: str) -> None:
        self._state.spare.pop((scope, index_name), None)
        if all(collection.index_name != index_name for collection in self._state.collections.values()):
            await self.unmark(index_name)

    async def unmark(self, index_name: str) -> None:
        self._state.indexed = {mark: at for mark, at in self._state.indexed.items() if mark[1] != index_name}

    async def missing(self, scope: Scope, index_name: str, batch: int) -> AsyncIterator[list[Passage]]:
        documents = sorted(self._state.within(scope), key=lambda document: document.id)
        live = [passage for document in documents for passage in self._state.visible(document)]
        found = [passage for passage in live if (passage.id, index_name) not in self._state.indexed]
        for start in range(0, len(found), batch):
            yield found[start : start + batch]
