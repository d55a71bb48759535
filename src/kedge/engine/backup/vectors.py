"""Vectors in an archive. A passage's id follows its content, so a vector that is there under an id is always the right
one: vectors are read behind the catalog's moment without a lock, and those that are gone by then are embedded again.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from kedge.core.errors import BackupError, NotFoundError
from kedge.core.values import Collection, Passage
from kedge.engine.backup.archive import OnPhase
from kedge.engine.backup.manifest import VECTORS, VectorFile
from kedge.engine.collections import spec_of
from kedge.ingest.batch import as_points
from kedge.kinds import kind_named
from kedge.stores.bundle import Stores
from kedge.stores.catalog.ports import CanKeepPast, Catalog
from kedge.stores.past import past_index, past_points, past_spec
from kedge.stores.ports import CanReadPoints, VectorStore

BATCH = 500


async def dump_vectors(store: VectorStore, catalog: Catalog, folder: Path, on_phase: OnPhase) -> list[VectorFile]:
    """Write the vectors of every live passage of the catalog, a file for each collection."""
    if not isinstance(store, CanReadPoints):
        return []
    (folder / VECTORS).mkdir(exist_ok=True)
    found: list[VectorFile] = []
    collections = [one for one in await catalog.collections.everywhere() if one.passages]
    total, done = sum(one.passages for one in collections), 0
    for collection in collections:
        name = f"{VECTORS}/{len(found) + 1}.bin"
        count = 0
        with (folder / name).open("wb") as file:
            async for batch in catalog.passages.scan(collection.scope, BATCH):
                try:
                    count += await _dump(store, collection, [passage.id for passage in batch], file)
                except NotFoundError:  # the index was replaced or deleted since
                    break
                done += len(batch)
                on_phase("vectors", done, total)
            count += await _dump_past(store, catalog, collection, file)
        scope = collection.scope
        found.append(VectorFile(name, scope.tenant, scope.collection, collection.embedder, collection.dimension, count))
    return found


async def _dump_past(store: CanReadPoints, catalog: Catalog, collection: Collection, file: IO[bytes]) -> int:
    """What is kept of superseded versions; a passage that is live as well has its vector twice, and it is the same."""
    count = 0
    if isinstance(catalog, CanKeepPast):
        with suppress(NotFoundError):  # nothing was ever kept
            async for batch in catalog.past.scan(collection.scope, BATCH):
                ids = [one.passage.id for one in batch]
                count += await _dump(store, collection, ids, file, past_index(collection.index_name))
    return count


async def _dump(
    store: CanReadPoints, collection: Collection, ids: Sequence[str], file: IO[bytes], index: str = ""
) -> int:
    held = await store.read(index or collection.index_name, collection.scope.tenant, ids)
    records = np.empty(len(held), dtype=_record(collection.dimension))
    for place, (key, point) in enumerate(held.items()):
        records[place] = (uuid.UUID(key).bytes, point.vector)
    file.write(records.tobytes())
    return len(held)


async def load_vectors(stores: Stores, folder: Path, files: Sequence[VectorFile], on_phase: OnPhase) -> int:
    """Put the vectors of live passages into the indexes that the catalog names; returns how many."""
    known = {(one.tenant, one.collection, one.embedder, one.dimension): one for one in files}
    total, done = sum(one.count for one in files), 0
    for collection in await stores.catalog.collections.everywhere():
        scope = collection.scope
        held = known.get((scope.tenant, scope.collection, collection.embedder, collection.dimension))
        for index in (collection.index_name, past_index(collection.index_name)):
            await stores.vectors.drop(index)  # on a server there may be another one of that name
        if held is None or not held.count:
            continue
        await stores.vectors.create(spec_of(collection, kind_named(collection.kind)))
        records = _read(folder / held.name, held)
        places = {key.tobytes(): place for place, key in enumerate(records["id"])}
        async for batch in stores.catalog.passages.scan(scope, BATCH):
            there = [passage for passage in batch if uuid.UUID(passage.id).bytes in places]
            await _load(stores, collection, there, records, places)
            done += len(there)
            on_phase("vectors", done, total)
        done += await _load_past(stores, collection, records, places)
    return done


async def _load_past(
    stores: Stores, collection: Collection, records: NDArray[np.void], places: dict[bytes, int]
) -> int:
    count = 0
    if not isinstance(stores.catalog, CanKeepPast):
        return count
    async for batch in stores.catalog.past.scan(collection.scope, BATCH):
        there = [one for one in batch if uuid.UUID(one.passage.id).bytes in places]
        if there:
            vectors = _vectors(records, [places[uuid.UUID(one.passage.id).bytes] for one in there])
            await stores.vectors.create(past_spec(collection))
            index = past_index(collection.index_name)
            await stores.vectors.upsert(index, collection.scope.tenant, past_points(there, list(vectors)))
        count += len(there)
    return count


async def _load(
    stores: Stores,
    collection: Collection,
    passages: Sequence[Passage],
    records: NDArray[np.void],
    places: dict[bytes, int],
) -> None:
    if not passages:
        return
    vectors = _vectors(records, [places[uuid.UUID(passage.id).bytes] for passage in passages])
    readers = await stores.catalog.rights.readers([passage.document_id for passage in passages])
    points = as_points(passages, vectors, readers)
    await stores.vectors.upsert(collection.index_name, collection.scope.tenant, points)
    await stores.catalog.passages.mark_indexed([point.id for point in points], collection.index_name)


def _vectors(records: NDArray[np.void], rows: Sequence[int]) -> NDArray[np.float32]:
    vectors = np.ascontiguousarray(records["vector"][rows], dtype=np.float32)
    if not np.isfinite(vectors).all():
        raise BackupError("The backup holds vectors that are no numbers.", hint="Use another backup.")
    return vectors


def _read(path: Path, held: VectorFile) -> NDArray[np.void]:
    kind = _record(held.dimension)
    if path.stat().st_size != held.count * kind.itemsize:
        raise BackupError(f"The backup's {held.name} has another length than its manifest says.")
    return np.memmap(path, dtype=kind, mode="r")


def _record(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("id", "V16"), ("vector", "<f4", (dimension,))])
