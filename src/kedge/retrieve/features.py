"""Reads what the vector store holds of passages, for the graph's walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kedge.core.values import Scope
from kedge.retrieve.channels.pool import PassageFeatures
from kedge.stores.ports import CanReadPoints


class StoredFeatures:
    """Vectors and term weights by passage id. The index name decides the collection; the scope brings the tenant."""

    def __init__(self, points: CanReadPoints, index: str) -> None:
        self._points = points
        self._index = index

    async def features(self, scope: Scope, passage_ids: Sequence[str]) -> Mapping[str, PassageFeatures]:
        """Features of those passages that the index holds."""
        stored = await self._points.read(self._index, scope.tenant, passage_ids)
        return {key: PassageFeatures(point.vector, point.terms) for key, point in stored.items()}
