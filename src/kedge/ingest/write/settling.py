"""Points learn who may read them now: after a change of rights, until which the catalog alone decides on them."""

from __future__ import annotations

from kedge.core.acting import acting_as
from kedge.core.values import Scope
from kedge.ingest.batch import OnStep, as_points, no_step
from kedge.stores.bundle import Stores
from kedge.stores.ports import CanReadPoints

PAGE = 500


async def settle_readers(stores: Stores, scope: Scope, on_step: OnStep = no_step) -> int:
    """Rewrite the payloads of every unsettled document of the collection; returns how many documents.

    The caller holds the collection's lock. A store that gives no vectors back keeps its points as they are, and the
    documents stay unsettled: they are found, and the catalog decides.
    """
    with acting_as(None):
        waiting = await stores.catalog.rights.unsettled(scope)
        collection = await stores.catalog.collections.get(scope) if waiting else None
        vectors = stores.vectors
        if collection is None or not isinstance(vectors, CanReadPoints):
            return 0
        readers = await stores.catalog.rights.readers(waiting)
        spare = [one.index_name for one in await stores.catalog.indexes.spare(scope)]
        for document in waiting:
            passages = await stores.catalog.passages.of_document(scope.tenant, document)
            for start in range(0, len(passages), PAGE):
                part = passages[start : start + PAGE]
                for index in (collection.index_name, *spare):
                    stored = await vectors.read(index, scope.tenant, [passage.id for passage in part])
                    there = [passage for passage in part if passage.id in stored]
                    points = as_points(there, [stored[one.id].vector for one in there], readers)
                    if points:
                        await vectors.upsert(index, scope.tenant, points)
        on_step("points rewritten")
        now = await stores.catalog.rights.readers(waiting)
        await stores.catalog.rights.settled([one for one in waiting if now.get(one) == readers.get(one)])
        return len(waiting)
