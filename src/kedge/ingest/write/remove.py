"""Taking things out: documents by the order of D-18, and what dead versions left in the indexes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from kedge.core.errors import NotFoundError
from kedge.core.ids import statement_id
from kedge.core.values import DocumentStatus, Scope
from kedge.ingest.batch import OnStep, no_step
from kedge.ingest.write.past import put_away, take_out, to_keep
from kedge.stores.bundle import Stores
from kedge.stores.catalog.ports import CanKeepPast, IndexState
from kedge.stores.graph.reads import CanMarkDocuments

SWEEP_BATCH = 200


async def delete_documents(
    stores: Stores,
    scope: Scope,
    document_ids: Sequence[str],
    on_step: OnStep = no_step,
    *,
    since: datetime | None = None,
) -> list[str]:
    """Hide the documents in one transaction, clear vectors, then graph, then mark them archived.

    Returns the ids that were visible. Killed at any point, the next sweep finishes the work. Nothing of them is kept,
    unless their sources are merely gone: then `since` says how long (`kept_since`).
    """
    hidden = await stores.catalog.documents.retire(scope, document_ids, erase=since is None)
    on_step("retired")
    if isinstance(stores.graph, CanMarkDocuments):
        await stores.graph.mark_documents(scope, document_ids, DocumentStatus.ARCHIVED.value)
    await sweep(stores, on_step, scope, document_ids[0] if len(document_ids) == 1 else None, since=since)
    return hidden


async def sweep(
    stores: Stores,
    on_step: OnStep = no_step,
    scope: Scope | None = None,
    document_id: str | None = None,
    *,
    since: datetime | None = None,
) -> int:
    """Remove from the indexes what no reader can see any more; finish begun deletes. Returns the passages removed.

    Of everything, of a scope, or of one document: of what the caller alone writes to. Versions that were live later
    than `since` are put away for questions about that time instead of being forgotten.
    """
    removed = 0
    while dead := await stores.catalog.passages.dead(SWEEP_BATCH, scope, document_id):
        indexes = {place: await _indexes(stores, place) for place in {part.scope for part in dead}}
        kept = to_keep(dead, since)
        for place in {part.scope for part in kept}:
            collection = await stores.catalog.collections.get(place)
            if collection is not None:
                await put_away(stores, collection, [part for part in kept if part.scope == place])
        on_step("put away")
        for part in dead:
            for index in indexes[part.scope] if part.passage_ids else ():
                with suppress(NotFoundError):  # a spare index that was dropped just now
                    await stores.vectors.delete(index, part.scope.tenant, part.passage_ids)
            if part not in kept:
                await take_out(stores, indexes[part.scope], part.scope, part.passage_ids)
            on_step("vectors deleted")
            gone = [part.document_id] if part.document_gone else []
            stated = statement_id(part.version_id)
            await stores.graph.remove(part.scope, (*part.passage_ids, stated), gone)
            on_step("graph deleted")
            if part.document_gone:
                await _archive_if_retired(stores, part.scope, part.document_id)
                on_step("archived")
            removed += len(part.passage_ids)
        if kept and isinstance(stores.catalog, CanKeepPast):
            await stores.catalog.past.keep([part.version_id for part in kept])
        await stores.catalog.passages.forget([part.version_id for part in dead if part not in kept])
        on_step("forgotten")
    return removed


async def _indexes(stores: Stores, scope: Scope) -> list[str]:
    """The index in use and those that a re-index fills or that are kept for a rollback."""
    collection = await stores.catalog.collections.get(scope)
    spare = [one.index_name for one in await stores.catalog.indexes.spare(scope) if one.state != IndexState.DROPPING]
    return [*([collection.index_name] if collection else []), *spare]


async def _archive_if_retired(stores: Stores, scope: Scope, document_id: str) -> None:
    if document_id in await stores.catalog.documents.retired(scope):
        await stores.catalog.documents.archive(scope, [document_id])
