"""What becomes of versions that are superseded: for a time they are kept, beside the index in use.

The catalog keeps their rows, the index of the past their vectors (`kedge.stores.past`). Only kinds whose passages never
change under their id can be kept: what such a passage said before is gone once it is written again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import numpy as np

from kedge.core.errors import NotFoundError
from kedge.core.values import Collection, Passage, Scope
from kedge.models.ports import Embedder
from kedge.stores.bundle import Stores
from kedge.stores.catalog.ports import CanKeepPast, DeadPassages, PastPassage
from kedge.stores.past import past_index, past_points, past_spec
from kedge.stores.ports import CanReadPoints

BATCH = 500


def kept_since(stores: Stores, days: float) -> datetime | None:
    """Versions that were live later than this are kept; None: none are, by the setting or because a store cannot."""
    if not days or not isinstance(stores.catalog, CanKeepPast) or not isinstance(stores.vectors, CanReadPoints):
        return None
    return datetime.now(UTC) - timedelta(days=days)


async def release(stores: Stores, scope: Scope, since: datetime | None) -> int:
    """What was superseded before then is swept with the next sweep; all that is kept, for None. Returns how much."""
    if not isinstance(stores.catalog, CanKeepPast):
        return 0
    return await stores.catalog.past.release(scope, since or datetime.now(UTC))


def to_keep(parts: Sequence[DeadPassages], since: datetime | None) -> list[DeadPassages]:
    """Those that were live later than that."""
    return [part for part in parts if since is not None and part.was_live is not None and part.was_live[1] > since]


async def put_away(stores: Stores, collection: Collection, parts: Sequence[DeadPassages]) -> None:
    """Write the passages of these versions into the index of the past, with the vectors they have.

    What a live version holds since then anyway is found in the index in use.
    """
    if not isinstance(stores.catalog, CanKeepPast) or not isinstance(stores.vectors, CanReadPoints):
        return
    found = await stores.catalog.past.of_versions([part.version_id for part in parts])
    every = {one.passage.id: one for version in found.values() for one in version}
    live = await stores.catalog.passages.live(collection.scope, list(every))
    gone = [one for key, one in every.items() if not _stands_for(live.get(key), one)]
    for start in range(0, len(gone), BATCH):
        part = gone[start : start + BATCH]
        with suppress(NotFoundError):  # the index was exchanged just now: a check makes what is missing
            ids = [one.passage.id for one in part]
            stored = await stores.vectors.read(collection.index_name, collection.scope.tenant, ids)
            there = [one for one in part if one.passage.id in stored]
            points = past_points(there, [stored[one.passage.id].vector for one in there])
            if points:
                await stores.vectors.create(past_spec(collection))
                await stores.vectors.upsert(past_index(collection.index_name), collection.scope.tenant, points)


async def take_out(stores: Stores, indexes: Sequence[str], scope: Scope, passage_ids: Sequence[str]) -> None:
    """Remove from the indexes of the past what no kept version holds."""
    if not isinstance(stores.catalog, CanKeepPast) or not passage_ids:
        return
    held = await stores.catalog.past.held(passage_ids)
    gone = [key for key in passage_ids if key not in held]
    for index in indexes if gone else ():
        with suppress(NotFoundError):  # nothing was ever kept beside it
            await stores.vectors.delete(past_index(index), scope.tenant, gone)


async def drop_past(stores: Stores, index: str) -> None:
    """The index goes, and with it the one beside it."""
    await stores.vectors.drop(past_index(index))


async def missing_past(stores: Stores, collection: Collection) -> list[PastPassage]:
    """Kept passages that neither the index of the past nor a live passage stands for."""
    if not isinstance(stores.catalog, CanKeepPast):
        return []
    there: set[str] = set()
    with suppress(NotFoundError):
        async for ids in stores.vectors.ids(past_index(collection.index_name), collection.scope.tenant):
            there.update(ids)
    found: list[PastPassage] = []
    async for batch in stores.catalog.past.scan(collection.scope, BATCH):
        lacking = [one for one in batch if one.passage.id not in there]
        live = await stores.catalog.passages.live(collection.scope, [one.passage.id for one in lacking])
        found += [one for one in lacking if not _stands_for(live.get(one.passage.id), one)]
    return found


async def fill_past(stores: Stores, collection: Collection, embedder: Embedder, missing: Sequence[PastPassage]) -> None:
    """Embed these for the index of the past."""
    for start in range(0, len(missing), BATCH):
        part = missing[start : start + BATCH]
        vectors = np.asarray(await embedder.embed([one.passage.embed_text for one in part]), dtype=np.float32)
        await stores.vectors.create(past_spec(collection))
        index = past_index(collection.index_name)
        await stores.vectors.upsert(index, collection.scope.tenant, past_points(part, list(vectors)))


def _stands_for(live: Passage | None, past: PastPassage) -> bool:
    """Whether a live passage was there all the while that the past one was, so that the index in use finds it."""
    before = past.passage.ingested_at
    return live is not None and live.ingested_at is not None and before is not None and live.ingested_at <= before
