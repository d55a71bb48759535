"""Vectors that a document takes over from one with the very same bytes: one that was renamed, moved or copied.

Its passages have other ids, because ids are made of the document's, but the same texts at the same places.
"""

from __future__ import annotations

from kedge.core.values import Document, IngestMode, IngestRequest, Passage
from kedge.ingest.batch import Batch, Target
from kedge.ingest.changes import Changes
from kedge.models.ports import Vectors
from kedge.stores.ports import CanReadPoints


class Twins:
    """Finds them for one run of one ingestion."""

    def __init__(self, target: Target, plan: Changes, request: IngestRequest) -> None:
        """In another mode than incremental everything is to be embedded anew, so nothing is taken over."""
        self._target = target
        self._plan = plan
        self._request = request

    async def vectors(self, batch: Batch) -> dict[str, Vectors]:
        """By id, for those pending passages whose vector is in the index under the id of the twin's."""
        stored = self._target.stores.vectors
        if self._request.mode is not IngestMode.INCREMENTAL or not isinstance(stored, CanReadPoints):
            return {}
        wanted: dict[str, str] = {}
        for document in batch.documents.values():
            twin = self._plan.twin(document.id, document.content_hash)
            if twin is not None and await self._may_tell(twin):
                wanted |= await self._same(batch, document, twin)
        if not wanted:
            return {}
        scope, index = self._target.collection.scope, self._target.collection.index_name
        found = await stored.read(index, scope.tenant, list(dict.fromkeys(wanted.values())))
        return {passage: found[held].vector for passage, held in wanted.items() if held in found}

    async def _may_tell(self, twin: str) -> bool:
        """Whether whoever asked may read the twin: how many passages are embedded tells that it is there."""
        readers = await self._target.stores.catalog.rights.readers([twin])
        return self._request.for_reader_of(readers.get(twin))

    async def _same(self, batch: Batch, document: Document, twin: str) -> dict[str, str]:
        """Id of a pending passage → id of the passage of the twin with the same text at the same place."""
        pending = {one.index: one for one in batch.pending if one.document_id == document.id}
        if not pending:
            return {}
        tenant, first, last = self._target.collection.scope.tenant, min(pending), max(pending)
        live = await self._target.stores.catalog.passages.of_document(tenant, twin, first=first, last=last)
        return {pending[old.index].id: old.id for old in live if _equal(pending.get(old.index), old)}


def _equal(new: Passage | None, old: Passage) -> bool:
    return new is not None and (new.text, new.section_path) == (old.text, old.section_path)
