"""The titles of a collection, and the links from passages that were there before a title was."""

from __future__ import annotations

import asyncio
from collections.abc import Collection as Keys

from kedge.ingest.extract import link_titles
from kedge.ingest.parts import Target
from kedge.stores.base import CanKeywordSearch
from kedge.stores.opened import Stores
from kedge.text.concepts import title_aliases
from kedge.types import GraphBatch, Passage, Scope

PAGE = 1000
SEARCH_COST = 20
"""One keyword search costs about as much as linking so many passages: decides how new titles are looked for."""
SEARCH_LIMIT = 200


class TitleIndex:
    """Keys of all titles in a collection; those of this job are linked into older passages at its end."""

    def __init__(self, keys: dict[str, str], scope: Scope) -> None:
        self._keys = keys
        self._new: dict[str, str] = {}
        self._scope = scope

    @classmethod
    async def load(cls, stores: Stores, scope: Scope, *, unlinked: bool = False) -> TitleIndex:
        """Titles of all documents that are there. `unlinked`: an interrupted job may not have linked them yet."""
        keys: dict[str, str] = {}
        offset = 0
        while page := await stores.catalog.documents.page(scope, limit=PAGE, offset=offset):
            offset += len(page)
            for document in page:
                if document.live_version is not None:
                    keys.update((key, document.title) for key in title_aliases(document.title))
        index = cls({} if unlinked else keys, scope)
        index._new = keys if unlinked else {}
        return index

    def add(self, title: str) -> None:
        """A document with this title is being taken in."""
        for key in title_aliases(title):
            if key not in self._keys:
                self._new[key] = title

    def known(self, keys: Keys[str]) -> set[str]:
        """Which of these are titles."""
        return {key for key in keys if key in self._keys or key in self._new}

    async def link_new(self, target: Target) -> None:
        """Link this job's titles into passages that name them and were extracted before the title was known."""
        if not self._new:
            return
        collection = await target.stores.catalog.collections.get(self._scope)
        total = collection.passages if collection else 0
        if isinstance(target.stores.vectors, CanKeywordSearch) and len(self._new) * SEARCH_COST < total:
            await self._link_found(target, target.stores.vectors)
        else:
            async for passages in target.stores.catalog.passages.scan(self._scope):
                await self._link(target.stores, passages)

    async def _link_found(self, target: Target, keywords: CanKeywordSearch) -> None:
        index, tenant = target.collection.index_name, self._scope.tenant
        for title in set(self._new.values()):
            hits = await keywords.keyword_search(index, tenant, title, SEARCH_LIMIT)
            live = await target.stores.catalog.passages.live(self._scope, [hit.id for hit in hits])
            await self._link(target.stores, list(live.values()))

    async def _link(self, stores: Stores, passages: list[Passage]) -> None:
        edges = await asyncio.to_thread(link_titles, passages, self.known, self._new_keys)
        if edges:
            await stores.graph.write(self._scope, GraphBatch(mentions=tuple(edges)))

    def _new_keys(self, keys: Keys[str]) -> set[str]:
        return {key for key in keys if key in self._new}
