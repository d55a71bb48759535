"""Versions that readers saw before, in dictionaries."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime

from kedge.core.ids import past_version_id
from kedge.core.values import Passage, Scope
from kedge.stores.catalog.memory.state import State
from kedge.stores.catalog.ports import PastPassage


class MemoryPast:
    """The `Past` port."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def keep(self, version_ids: Sequence[str]) -> None:
        for version in map(self._state.versions.get, version_ids):
            if version is not None and version.span is not None:
                version.kept = True

    async def release(self, scope: Scope, before: datetime) -> int:
        over = [
            version
            for version in self._state.versions.values()
            if version.kept
            and version.span is not None
            and version.span[1] <= before
            and version.document.scope == scope
        ]
        for version in over:
            version.kept, version.live_from, version.live_until = False, None, None
        return len(over)

    async def live(self, scope: Scope, passage_ids: Sequence[str], at: datetime) -> dict[str, Passage]:
        wanted = set(passage_ids)
        may = {document.id for document in self._state.seen(scope)}
        shown = (one for one in self._state.versions.values() if one.seen_at(at) and one.document.id in may)
        there = (one for version in shown if self._state.open_then(version) for one in version.passages.values())
        return {passage.id: passage for passage in there if passage.id in wanted}

    async def of_document(
        self, tenant: str, document_id: str, at: datetime, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        document = self._state.documents.get(document_id)
        if document is None or document.scope.tenant != tenant or document not in self._state.seen(document.scope):
            return []
        seen = [one for one in self._state.of(document_id) if one.seen_at(at) and self._state.open_then(one)]
        found = [passage for version in seen for _, passage in sorted(version.passages.items())]
        return [one for one in found if one.index >= first and (last is None or one.index <= last)]

    async def of_versions(self, version_ids: Sequence[str]) -> dict[str, list[PastPassage]]:
        spans = self._spans()
        found: dict[str, list[PastPassage]] = {}
        for version in map(self._state.versions.get, dict.fromkeys(version_ids)):
            if version is not None and version.span is not None and version.passages:
                inside = [passage for _, passage in sorted(version.passages.items())]
                found[version.id] = [PastPassage(one, *spans[one.id]) for one in inside]
        return found

    async def held(self, passage_ids: Sequence[str]) -> set[str]:
        kept = (version for version in self._state.versions.values() if version.kept)
        return {one.id for version in kept for one in version.passages.values()} & set(passage_ids)

    async def scan(self, scope: Scope, batch: int = 1000) -> AsyncIterator[list[PastPassage]]:
        spans = self._spans()
        kept = [one for one in self._state.versions.values() if one.kept and one.document.scope == scope]
        kept.sort(key=lambda version: version.died)
        there = {passage.id: passage for version in kept for passage in version.passages.values()}
        found = [PastPassage(there[key], *spans[key]) for key in sorted(there)]
        for start in range(0, len(found), batch):
            yield found[start : start + batch]

    def _spans(self) -> dict[str, tuple[datetime, datetime]]:
        found: dict[str, tuple[datetime, datetime]] = {}
        for version in self._state.versions.values():
            if (span := version.span) is None:
                continue
            for passage in version.passages.values():
                since, until = found.get(passage.id, span)
                found[passage.id] = min(since, span[0]), max(until, span[1])
        return found


def part_from_past(state: State, version_id: str) -> None:
    """Give a dead version that readers saw an id of its own, since its usual one is begun again."""
    version = state.versions.get(version_id)
    if version is None or version.span is None:
        return
    del state.versions[version_id]
    version.id = past_version_id(version_id, version.died)
    version.passages = {key: replace(one, version_id=version.id) for key, one in version.passages.items()}
    state.versions[version.id] = version
