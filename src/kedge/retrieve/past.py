"""Search as of an instant: the same way out over stores that show what was live then.

Two indexes are asked: the one in use for what has been there since, the one of the past for what was superseded. Both
are asked with the time as a filter, and the catalog decides. The graph knows only what is live now, so it is left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from kedge.core.errors import NotFoundError, UsageError
from kedge.core.values import Collection, Passage, Scope, Scored
from kedge.core.values.filters import Filter, all_of
from kedge.models.ports import Embedder
from kedge.retrieve.ports import CollectionSource
from kedge.stores.catalog.ports import Past
from kedge.stores.past import past_index, was_live, was_there
from kedge.stores.ports import (
    CanKeywordSearch,
    CanReadPoints,
    CanWeighTerms,
    IndexSpec,
    Point,
    StoredPoint,
    Vector,
    VectorStore,
)
from kedge.stores.vectors.rules import COSINE_DIGITS, KEYWORD_DIGITS, ranked
from kedge.text.analyze import SparseTerms

_TERMS = SparseTerms()


class PastPassages:
    """The catalog's passages as of an instant."""

    def __init__(self, past: Past, at: datetime) -> None:
        self._past = past
        self._at = at

    async def live(self, scope: Scope, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """Those of the ids that were visible then."""
        return await self._past.live(scope, passage_ids, self._at)

    async def of_document(
        self, tenant: str, document_id: str, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        """Passages of one document that were visible then, by position."""
        return await self._past.of_document(tenant, document_id, self._at, first=first, last=last)


class PastVectors:
    """Both indexes as one, as of an instant. Nothing can be written."""

    def __init__(self, inner: VectorStore, at: datetime) -> None:
        self._inner = inner
        self._at = at

    async def search(
        self, index: str, tenant: str, vector: Vector, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        now = self._inner.search(index, tenant, vector, limit, all_of(where, was_there(self._at)))
        before = self._inner.search(past_index(index), tenant, vector, limit, all_of(where, was_live(self._at)))
        found, past = await asyncio.gather(now, _or_none(before))
        return ranked(({hit.id: hit.score for hit in (*past, *found)}).items(), limit, COSINE_DIGITS)

    async def keyword_search(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        """Each index weighs words by its own texts, so what both find is weighed again, by the one in use."""
        if not isinstance(self._inner, CanKeywordSearch):
            return []
        now = self._inner.keyword_search(index, tenant, query, limit, all_of(where, was_there(self._at)))
        before = self._inner.keyword_search(past_index(index), tenant, query, limit, all_of(where, was_live(self._at)))
        found, past = await asyncio.gather(now, _or_none(before))
        if not past:
            return found
        points = await self.read(index, tenant, [hit.id for hit in (*found, *past)])
        asked = _TERMS.query_weights(query)
        rare = dict(zip(asked, await self.term_idf(index, list(asked)), strict=True))
        scores = {key: _dot(asked, rare, point.terms) for key, point in points.items()}
        return ranked(((key, score) for key, score in scores.items() if score > 0), limit, KEYWORD_DIGITS)

    async def read(self, index: str, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
        """Points of either index; what both hold is the same."""
        if not isinstance(self._inner, CanReadPoints):
            return {}
        found = await self._inner.read(index, tenant, ids)
        lacking = [key for key in ids if key not in found]
        with suppress(NotFoundError):
            found |= await self._inner.read(past_index(index), tenant, lacking) if lacking else {}
        return found

    async def term_idf(self, index: str, term_ids: Sequence[int]) -> list[float]:
        """As rare as in the index in use; a term that it does not know, as in that of the past."""
        if not isinstance(self._inner, CanWeighTerms):
            return [1.0] * len(term_ids)
        found = await self._inner.term_idf(index, term_ids)
        unknown = [place for place, value in enumerate(found) if not value]
        with suppress(NotFoundError):
            past = await self._inner.term_idf(past_index(index), [term_ids[place] for place in unknown])
            for place, value in zip(unknown, past, strict=True):
                found[place] = value
        return found

    async def count(self, index: str, tenant: str, where: Filter | None = None) -> int:
        """How many may have been there; one that came and went again is counted although it may have been away."""
        count = await self._inner.count(index, tenant, all_of(where, was_there(self._at)))
        with suppress(NotFoundError):
            count += await self._inner.count(past_index(index), tenant, all_of(where, was_live(self._at)))
        return count

    def ids(self, index: str, tenant: str) -> AsyncIterator[list[str]]:
        return self._inner.ids(index, tenant)

    async def create(self, spec: IndexSpec) -> None:  # noqa: ARG002 (nothing is written)
        raise _unchanging()

    async def drop(self, index: str) -> None:  # noqa: ARG002 (nothing is written)
        raise _unchanging()

    async def upsert(self, index: str, tenant: str, points: Sequence[Point]) -> None:  # noqa: ARG002 (nothing is written)
        raise _unchanging()

    async def delete(self, index: str, tenant: str, ids: Sequence[str]) -> None:  # noqa: ARG002 (nothing is written)
        raise _unchanging()

    async def close(self) -> None:
        """The store that is looked into stays open."""


class PastCollections:
    """Collections as of an instant: one that is empty now need not have been."""

    def __init__(self, source: CollectionSource, vectors: PastVectors) -> None:
        self._source = source
        self._vectors = vectors

    async def get(self, scope: Scope) -> Collection:
        """The collection, with about as many passages as it had. NotFoundError."""
        found = await self._source.get(scope)
        try:
            passages = await self._vectors.count(found.index_name, scope.tenant)
        except NotFoundError:  # nothing was ever taken in
            passages = 0
        return replace(found, passages=passages)

    async def embedder_of(self, collection: Collection) -> Embedder:
        """The embedder that its vectors were made by."""
        return await self._source.embedder_of(collection)


async def _or_none(search: Awaitable[list[Scored]]) -> list[Scored]:
    """What the index of the past gives; nothing where there is none."""
    try:
        return await search
    except NotFoundError:
        return []


def _dot(asked: Mapping[int, float], rare: Mapping[int, float], terms: Mapping[int, float]) -> float:
    return sum(weight * rare[term] * terms[term] for term, weight in asked.items() if term in terms)


def _unchanging() -> UsageError:
    return UsageError("What was cannot be changed.", hint="Write to the collection itself.")
