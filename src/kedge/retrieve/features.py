"""Reads what the vector store holds of passages, for the graph's walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kedge.core.values import Scope
from kedge.retrieve.channels.pool import PassageFeatures
from kedge.stores.ports import CanReadPoints, StoredPoint


class StoredFeatures:
    """Vectors and term weights by passage id. The index name decides the collection; the scope brings the tenant.

    What was read is remembered: the walk and the reranker look at many of the same passages of one question.
    """

    def __init__(self, points: CanReadPoints, index: str) -> None:
        self._points = points
        self._index = index
        self._known: dict[str, StoredPoint] = {}

    async def features(self, scope: Scope, passage_ids: Sequence[str]) -> Mapping[str, PassageFeatures]:
        """Features of those passages that the index holds."""
        stored = await self.stored(scope, passage_ids)
        return {key: PassageFeatures(point.vector, point.terms) for key, point in stored.items()}

    async def stored(self, scope: Scope, passage_ids: Sequence[str]) -> dict[str, StoredPoint]:
        """Points of those passages that the index holds."""
        wanted = [key for key in passage_ids if key not in self._known]
        if wanted:
            self._known |= await self._points.read(self._index, scope.tenant, wanted)
        return {key: self._known[key] for key in passage_ids if key in self._known}
