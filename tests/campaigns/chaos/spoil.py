"""Somebody writes past Kedge: vectors and chunks vanish, strangers appear, a vector is of another text."""

from __future__ import annotations

import random
import uuid

import numpy as np

from kedge.core.values import GraphBatch, GraphChunk, Passage, Scope
from kedge.engine.engine import Engine
from kedge.stores.ports import Point


async def spoil(engine: Engine, scope: Scope, rng: random.Random) -> int:
    """Spoil the indexes of a collection in every way that `check` knows; returns in how many places."""
    collection = await engine.stores.catalog.collections.get(scope)
    live: list[Passage] = [item async for batch in engine.stores.catalog.passages.scan(scope) for item in batch]
    if collection is None or len(live) < 4:
        return 0
    live.sort(key=lambda passage: passage.id)
    lost, stale, unlinked, neighbour = rng.sample(live, 4)
    vector = np.array([rng.gauss(0, 1) for _ in range(collection.dimension)], dtype=np.float32)
    stranger = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    strange = [Point(key, vector, "nobody wrote these words", {}) for key in (stranger, stale.id)]
    vectors, graph = engine.stores.vectors, engine.stores.graph
    await vectors.delete(collection.index_name, scope.tenant, [lost.id])
    await vectors.upsert(collection.index_name, scope.tenant, strange)
    await graph.remove(scope, [unlinked.id], [])
    chunk = GraphChunk(stranger, neighbour.document_id, stranger, "nobody", 99, 1, False, False, False)
    await graph.write(scope, GraphBatch(chunks=(chunk,)))
    return 5
