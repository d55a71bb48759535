"""Taking things out: documents by the order of D-18, and what dead versions left in the indexes."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.ingest.parts import OnStep, no_step
from kedge.stores.opened import Stores
from kedge.types import Scope

SWEEP_BATCH = 200


async def delete_documents(
    stores: Stores, scope: Scope, document_ids: Sequence[str], on_step: OnStep = no_step
) -> list[str]:
    """Hide the documents in one transaction, clear vectors, then graph, then mark them archived.

    Returns the ids that were visible. Killed at any point, the next sweep finishes the work.
    """
    hidden = await stores.catalog.documents.retire(scope, document_ids)
    on_step("retired")
    await sweep(stores, on_step)
    return hidden


async def sweep(stores: Stores, on_step: OnStep = no_step) -> int:
    """Remove from the indexes what no reader can see any more; finish begun deletes. Returns the passages removed."""
    removed = 0
    while dead := await stores.catalog.passages.dead(SWEEP_BATCH):
        for part in dead:
            collection = await stores.catalog.collections.get(part.scope)
            if part.passage_ids and collection is not None:
                await stores.vectors.delete(collection.index_name, part.scope.tenant, part.passage_ids)
            on_step("vectors deleted")
            gone = [part.document_id] if part.document_gone else []
            await stores.graph.remove(part.scope, part.passage_ids, gone)
            on_step("graph deleted")
            if part.document_gone:
                await _archive_if_retired(stores, part.scope, part.document_id)
                on_step("archived")
            removed += len(part.passage_ids)
        await stores.catalog.passages.forget([part.version_id for part in dead])
        on_step("forgotten")
    return removed


async def _archive_if_retired(stores: Stores, scope: Scope, document_id: str) -> None:
    if document_id in await stores.catalog.documents.retired(scope):
        await stores.catalog.documents.archive(scope, [document_id])
