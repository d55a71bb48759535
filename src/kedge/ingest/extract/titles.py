"""The titles of a collection, and the links from passages that were there before a title was."""

from __future__ import annotations

import asyncio
from collections.abc import Collection as Keys
from collections.abc import Mapping

from kedge.core.values import Passage, Scope
from kedge.ingest.batch import Target
from kedge.ingest.extract.concepts import aliases, link_titles
from kedge.ingest.extract.judge import reader_judge
from kedge.stores.bundle import Stores
from kedge.stores.ports import CanKeywordSearch

PAGE = 1000
SEARCH_COST = 20
"""One keyword search costs about as much as linking so many passages: decides how new titles are looked for."""
SEARCH_LIMIT = 200


class TitleIndex:
    """Keys of all titles in a collection.

    A passage is linked to the titles that are known when it is extracted. Titles of this job that come to be known
    later, and all new ones as far as older passages are concerned, are linked at the job's end.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._old: dict[str, str] = {}
        """Linked into all passages by earlier jobs."""
        self._early: dict[str, str] = {}
        """New, and known before the first passage was extracted."""
        self._late: dict[str, str] = {}
        self._extracting = False
        self._older_passages = False

    @classmethod
    async def load(cls, stores: Stores, scope: Scope, *, unlinked: bool = False) -> TitleIndex:
        """Titles of all documents that are there. `unlinked`: an interrupted job may not have linked them yet."""
        index = cls(scope)
        target = index._early if unlinked else index._old
        offset = 0
        while page := await stores.catalog.documents.page(scope, limit=PAGE, offset=offset):
            offset += len(page)
            for document in page:
                if document.live_version is not None:
                    index._older_passages = True
                    target.update((key, document.title) for key in aliases(document.title))
        return index

    async def refresh(self, stores: Stores) -> None:
        """Take in the titles that others made visible meanwhile: whoever comes last links both ways."""
        now = await TitleIndex.load(stores, self._scope)
        self._older_passages = self._older_passages or now._older_passages
        for key, title in now._old.items():
            if key not in self._old and key not in self._early:
                self._late[key] = title

    def add(self, title: str) -> None:
        """A document with this title is being taken in."""
        target = self._late if self._extracting else self._early
        for key in aliases(title):
            if key not in self._old and key not in self._early:
                target[key] = title

    def known(self, keys: Keys[str]) -> set[str]:
        """Which of these are titles."""
        self._extracting = True
        return {key for key in keys if key in self._old or key in self._early or key in self._late}

    async def link_new(self, target: Target) -> None:
        """Link titles into passages that name them and were extracted before they were known."""
        new = {**self._late, **(self._early if self._older_passages else {})}
        if not new:
            return
        collection = await target.stores.catalog.collections.get(self._scope)
        total = collection.passages if collection else 0
        if isinstance(target.stores.vectors, CanKeywordSearch) and len(new) * SEARCH_COST < total:
            await self._link_found(target, target.stores.vectors, new)
        else:
            async for passages in target.stores.catalog.passages.scan(self._scope):
                await self._link(target, passages, new)

    async def _link_found(self, target: Target, keywords: CanKeywordSearch, new: Mapping[str, str]) -> None:
        index, tenant = target.collection.index_name, self._scope.tenant
        for title in set(new.values()):
            hits = await keywords.keyword_search(index, tenant, title, SEARCH_LIMIT)
            live = await target.stores.catalog.passages.live(self._scope, [hit.id for hit in hits])
            await self._link(target, list(live.values()), new)

    async def _link(self, target: Target, passages: list[Passage], new: Mapping[str, str]) -> None:
        judge = reader_judge(target.settings)
        found = await asyncio.to_thread(
            link_titles, passages, self.known, lambda keys: {k for k in keys if k in new}, judge
        )
        if found.mentions or found.triples:
            await target.stores.graph.write(self._scope, found)
