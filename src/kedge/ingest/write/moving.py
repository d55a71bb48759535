"""Passages that keep their id while what filters see of them changes (C-02, C-09).

A vector store holds one payload for an id, so there is a moment in which it holds that of a version that no reader sees
yet, or that none sees any more. In that moment the point is marked as moving: readers' filters let it through
(`stores.filters.or_moving`), and the catalog, which changes in one transaction, decides. No reader misses it, none sees
it under a filter that its live version does not pass. `settle` writes the payload without the mark; what a killed
process left marked is found by the mark.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kedge.core.moving import MOVING
from kedge.core.values import Passage, Readers
from kedge.core.values.filters import Eq
from kedge.ingest.batch import Batch, Target, as_points
from kedge.ingest.ports import KeepsIds, PassageMaker
from kedge.stores.ports import CanReadPoints, Point

PAGE = 500


class Moving:
    """The passages of one ingestion that are live already; nothing to do for kinds whose ids cover the payload."""

    def __init__(self, target: Target, kind: PassageMaker) -> None:
        self._target = target
        self._stores = target.stores
        self._kind = kind if isinstance(kind, KeepsIds) else None
        self._live: dict[str, Passage] = {}

    async def begin(self, batch: Batch) -> None:
        """Look up which of the batch are live, and carry over what stays: what the kind says, else the times.

        Under a content id the point is not written again, so that the times beside its vector stay the right ones.
        """
        ids = [passage.id for passage in batch.passages]
        live = await self._stores.catalog.passages.live(self._target.collection.scope, ids)
        carried = with_times_of if self._kind is None else self._kind.carried
        batch.passages = [carried(passage, live.get(passage.id)) for passage in batch.passages]
        self._live = {} if self._kind is None else live

    def divide(self, batch: Batch, missing: Collection[str]) -> None:
        """What is to be embedded: what has no vector, or one of another text. What else changed is refreshed."""
        for passage in batch.passages:
            old = self._live.get(passage.id)
            changed = old is not None and old.payload() != passage.payload()
            if changed:
                batch.moving.add(passage.id)
            if passage.id in missing or (old is not None and old.embed_text != passage.embed_text):
                batch.pending.append(passage)
            elif changed:
                batch.refreshed.append(passage)
        self._live = {}

    def marked(self, batch: Batch, points: Sequence[Point]) -> list[Point]:
        """The points, those that move with their mark."""
        return [
            replace(point, payload={**point.payload, MOVING: True}) if point.id in batch.moving else point
            for point in points
        ]

    async def kept(self, passages: Sequence[Passage], readers: Mapping[str, Readers]) -> list[Point]:
        """Points of these with the vectors that they have; what the index has lost is embedded again."""
        index, tenant = self._target.collection.index_name, self._target.collection.scope.tenant
        vectors = {}
        if passages and isinstance(self._stores.vectors, CanReadPoints):
            stored = await self._stores.vectors.read(index, tenant, [passage.id for passage in passages])
            vectors = {key: point.vector for key, point in stored.items()}
        lost = [passage for passage in passages if passage.id not in vectors]
        if lost:
            made = await self._target.embedder.embed([passage.embed_text for passage in lost])
            vectors |= {passage.id: vector for passage, vector in zip(lost, made, strict=True)}
        return as_points(passages, [vectors[one.id] for one in passages], readers)

    async def settle(self) -> None:
        """Take the mark from every point: payloads are those of live passages now, and points of others are gone."""
        if self._kind is None:
            return
        collection = self._target.collection
        index, scope = collection.index_name, collection.scope
        vectors = self._stores.vectors
        anywhere = np.eye(1, collection.dimension, dtype=np.float32)[0]
        while count := await vectors.count(index, scope.tenant, Eq(MOVING, True)):
            found = await vectors.search(index, scope.tenant, anywhere, min(count, PAGE), Eq(MOVING, True))
            ids = [hit.id for hit in found]
            if not ids:
                return
            live = await self._stores.catalog.passages.live(scope, ids)
            await vectors.delete(index, scope.tenant, [key for key in ids if key not in live])
            readers = await self._stores.catalog.rights.readers([one.document_id for one in live.values()])
            await vectors.upsert(index, scope.tenant, await self.kept(list(live.values()), readers))
            self._target.on_step("settled")


def with_times_of(new: Passage, old: Passage | None) -> Passage:
    """The passage with the times at which it was taken in as it is."""
    if old is None:
        return new
    return replace(new, ingested_at=old.ingested_at, document_updated_at=old.document_updated_at)
