"""Connected sources and what is remembered of their entries, in dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from kedge.core.errors import ConflictError
from kedge.core.values import ConnectedSource, SourceItem


class MemorySources:
    """The `Sources` port."""

    def __init__(self) -> None:
        self._sources: dict[str, ConnectedSource] = {}
        self._items: dict[str, dict[str, SourceItem]] = {}

    async def put(self, source: ConnectedSource) -> None:
        named = await self.get(source.scope.tenant, source.name)
        if named is not None and named.id != source.id:
            raise ConflictError(f"There is a source {source.name!r} already.", hint="Choose another name with --name.")
        self._sources[source.id] = source
        self._items.setdefault(source.id, {})

    async def begin(self, source_id: str, at: datetime, before: datetime | None) -> bool:
        found = self._sources.get(source_id)
        if found is None or found.begun_at != before:
            return False
        self._sources[source_id] = replace(found, begun_at=at)
        return True

    async def get(self, tenant: str, name: str) -> ConnectedSource | None:
        return next((one for one in self._sources.values() if (one.scope.tenant, one.name) == (tenant, name)), None)

    async def everywhere(self) -> list[ConnectedSource]:
        return sorted(self._sources.values(), key=lambda one: (one.scope.tenant, one.name))

    async def delete(self, source_id: str) -> None:
        self._sources.pop(source_id, None)
        self._items.pop(source_id, None)

    async def items(self, source_id: str) -> dict[str, SourceItem]:
        return dict(sorted(self._items.get(source_id, {}).items()))

    async def remember(self, source_id: str, found: Sequence[SourceItem]) -> None:
        if source_id in self._items:
            self._items[source_id].update({one.key: one for one in found})

    async def forget(self, source_id: str, keys: Sequence[str]) -> None:
        for key in keys:
            self._items.get(source_id, {}).pop(key, None)

    async def elsewhere(self, source: ConnectedSource, urls: Sequence[str]) -> set[str]:
        others = [key for key, one in self._sources.items() if one.scope == source.scope and one.id != source.id]
        return {item.url for key in others for item in self._items[key].values()} & set(urls)
