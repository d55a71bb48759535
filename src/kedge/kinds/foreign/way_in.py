"""The way in of foreign tables: where the table is becomes known, and its vectors are measured. No row is copied."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlsplit

from kedge.core.errors import KedgeError, UsageError
from kedge.core.ids import document_id, sha256, version_id
from kedge.core.urls import mask_url
from kedge.core.values import Document, DocumentStatus, IngestRequest, Job
from kedge.ingest.batch import Target
from kedge.ingest.tracker import JobTracker
from kedge.kinds.foreign.measuring import Measured, measure
from kedge.stores.ports import ForeignTable
from kedge.stores.registry import FOREIGN

FORMAT = "foreign"
NOT_KEPT = "The password in the address is not kept: set source_password (KEDGE_SOURCE_PASSWORD) for questions."


class ForeignWayIn:
    """One table for a collection."""

    empties_itself = False

    def sole_document(self, request: IngestRequest) -> str | None:  # noqa: ARG002
        """A table takes the collection for itself."""
        return None

    def run(self, target: Target, request: IngestRequest, tracker: JobTracker) -> ForeignRun:
        return ForeignRun(target, request, tracker)


class ForeignRun:
    """One run: measured anew each time, so that running it again is a check."""

    def __init__(self, target: Target, request: IngestRequest, tracker: JobTracker) -> None:
        self._target = target
        self._request = request
        self._tracker = tracker

    async def take_in(self) -> None:
        """Make the table known. UsageError, ConfigError, StoreError, NotFoundError, DimensionMismatchError."""
        await self._tracker.start()
        try:
            url = self._address()
            await self._tracker.add(files_discovered=1)
            table = FOREIGN.open(url, self._target.settings)
            try:
                await self._only(table.shown)
                found = await measure(table, self._target.collection, self._target.embedder)
                await self._keep(table, found)
            finally:
                await table.close()
            for note in found.notes(mask_url(table.shown), self._target.collection.embedder):
                await self._tracker.warn(note)
            if urlsplit(url).password:
                await self._tracker.warn(NOT_KEPT)
        except KedgeError as error:
            await self._tracker.fail(error)
            raise

    async def finish(self, document_id: str | None = None) -> Job:  # noqa: ARG002
        await self._tracker.add(files_processed=1)
        return await self._tracker.complete()

    def _address(self) -> str:
        request = self._request
        known = FOREIGN.schemes()
        addresses = [source for source in request.sources if source.partition("://")[0] in known]
        if request.uploads or len(request.sources) != 1 or not addresses:
            hint = f"Write one address; known are {', '.join(f'{scheme}://' for scheme in known)}."
            raise UsageError("A collection of the kind foreign is one table in a database.", hint=hint)
        return addresses[0]

    async def _only(self, shown: str) -> None:
        """A collection is one table; another one is refused, and nothing is changed."""
        held = await self._target.stores.catalog.documents.page(self._target.collection.scope, limit=2)
        others = [mask_url(document.url) for document in held if document.url != shown]
        if others:
            raise UsageError(
                f"Collection {self._request.scope.collection!r} is the table {others[0]} already.",
                hint="Name another collection, or give --mode recreate.",
            )

    async def _keep(self, table: ForeignTable, found: Measured) -> None:
        scope, now = self._target.collection.scope, datetime.now(UTC)
        document = Document(
            id=document_id(scope, table.shown),
            scope=scope,
            url=table.shown,
            external_id=table.shown,
            title=mask_url(table.shown),
            format=FORMAT,
            status=DocumentStatus.PENDING,
            file_hash=sha256(table.shown),
            metadata={"rows": found.rows, "rows_with_vectors": found.embedded},
            updated_at=now,
        )
        version = version_id(document.id, now.isoformat())
        documents = self._target.stores.catalog.documents
        await documents.begin([(document, version)])
        await documents.switch([version])
