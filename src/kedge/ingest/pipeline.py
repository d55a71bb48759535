"""The way in: discover → read → stage → embed → index → extract → switch, then link, delete, sweep.

Three tasks run at once, joined by short queues: while one batch is embedded, the next is read and staged and the
last one is published, so that the embedding model never waits. Every step is idempotent and none of its effects can
be seen before the switch; killed anywhere, the job is run again and finds its own traces.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from kedge.core.errors import HeldError, KedgeError, SourceFault, in_collection
from kedge.core.ids import document_id, version_id
from kedge.core.stages import stage
from kedge.core.values import (
    Document,
    DocumentStatus,
    Hold,
    IngestMode,
    IngestRequest,
    Job,
    JobStatus,
    Passage,
    SourceError,
)
from kedge.ingest.batch import Batch, Target, as_points
from kedge.ingest.changes import Changes
from kedge.ingest.extract.concepts import EarlierRuns, extract
from kedge.ingest.extract.judge import reader_judge
from kedge.ingest.extract.titles import TitleIndex
from kedge.ingest.fitness import check_passages, check_vectors
from kedge.ingest.ports import KeepsIds, KnowsOrigins, Opened, PassageMaker, Relates
from kedge.ingest.sources.source import Source
from kedge.ingest.telling import OnPart, listening
from kedge.ingest.tracker import JobTracker
from kedge.ingest.write.moving import Moving
from kedge.ingest.write.past import kept_since, release
from kedge.ingest.write.remove import delete_documents, sweep
from kedge.ingest.write.settling import settle_readers
from kedge.ingest.write.twins import Twins
from kedge.models.languages import offer_for_passages
from kedge.models.ports import Vectors
from kedge.stores.graph.reads import CanMarkDocuments

BATCH_PASSAGES = 256
FIRST_TOLD, TOLD_PASSAGES = 16, 128
"""Passages that are embedded between two looks at the progress: few at first, so that it moves for a single document
too, then twice as many each time, as many at once are quicker."""
QUEUED_BATCHES = 2
SOURCES_AT_ONCE = 64
BYTES_AT_ONCE = 1 << 19
"""Sources are prepared together up to this size; a larger one is read piece by piece, so that memory stays bounded."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A source that could be opened."""

    source: Source
    opened: Opened
    pieces: Iterator[list[Passage]]
    new: bool
    """Whether nothing of it was visible before."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A source that cannot be taken in."""

    source: Source
    fault: SourceFault


class Pipeline:
    """One run of one ingestion request."""

    def __init__(self, target: Target, kind: PassageMaker, request: IngestRequest, tracker: JobTracker) -> None:
        self._target = target
        self._stores = target.stores
        self._scope = request.scope
        self._kind = kind
        self._request = request
        self._tracker = tracker
        self._step = target.on_step
        self._moving = Moving(target, kind)
        self._held: dict[str, Hold] = {}
        """Documents that must stay as they are."""
        self._not_theirs: set[str] = set()
        """Those of them that whoever submitted this may not read."""
        self._building: set[str] = set()
        self._cut = 0
        """Passages that were cut so far."""
        self._told = FIRST_TOLD
        self._languages: Counter[str] = Counter()
        """Their languages."""
        self._runs: dict[str, EarlierRuns] = {}
        """Of documents that are not complete yet, what the graph has been told of them."""

    async def take_in(self) -> None:
        """Make everything visible. On failure nothing half-done is, and the job says why."""
        self._again = self._tracker.job.started_at is not None
        await self._tracker.start()
        async with self._or_give_up():
            self._plan = await Changes.make(self._stores.catalog, self._request, self._tracker.job.document_id)
            holds = await self._stores.catalog.rights.holds(self._scope.tenant)
            self._held = {hold.document_id: hold for hold in holds}
            readers = await self._stores.catalog.rights.readers(list(self._held))
            self._not_theirs = {one for one, said in readers.items() if not self._request.for_reader_of(said)}
            self._twins = Twins(self._target, self._plan, self._request)
            self._titles = await TitleIndex.load(self._stores, self._scope, unlinked=await self._interrupted())
            self._sources = self._target.discovered or self._kind.discover(self._request, self._target.settings)
            self._tracker.expect(await asyncio.to_thread(self._sources.volume))
            for title in await asyncio.to_thread(lambda: list(self._sources.titles())):
                self._titles.add(title)
            await self._take_in()
            await self._tracker.move(JobStatus.EXTRACTING)

    async def finish(self, document_id: str | None = None) -> Job:
        """Link titles, take out what vanished, sweep: the collection, or that document where others write to the rest.

        One at a time in a collection: a passage that is being linked must not be swept.
        """
        async with self._or_give_up():
            if self._target.shared:
                await self._titles.refresh(self._stores)
            await self._titles.link_new(self._target)
            self._step("linked")
            since = self._kept_since()
            await release(self._stores, self._scope, since)
            replaced = await sweep(self._stores, self._step, self._scope, document_id, since=since)
            await self._tracker.add(passages_deleted=replaced)
            await self._delete_vanished()
            await self._moving.settle()
            await settle_readers(self._stores, self._scope, self._step)
            return await self._tracker.complete()

    @asynccontextmanager
    async def _or_give_up(self) -> AsyncIterator[None]:
        try:
            yield
        except KedgeError as error:
            await self._give_up(error)
            raise

    async def _interrupted(self) -> bool:
        """Whether the last job here did not come to the step that links titles.

        Among several workers, one that has not ended is running elsewhere, or will run again and links then.
        """
        recent = await self._stores.catalog.jobs.recent(self._scope.tenant)
        earlier = [job for job in recent if job.scope == self._scope and job.id != self._tracker.job.id]
        if self._target.shared:
            earlier = [job for job in earlier if job.status.ended]
        return self._again or (bool(earlier) and earlier[0].status is not JobStatus.COMPLETE)

    async def _take_in(self) -> None:
        staged: asyncio.Queue[Batch | None] = asyncio.Queue(QUEUED_BATCHES)
        embedded: asyncio.Queue[Batch | None] = asyncio.Queue(QUEUED_BATCHES)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._stage_all(staged))
                group.create_task(self._embed_all(staged, embedded))
                group.create_task(self._publish_all(embedded))
        except ExceptionGroup as failures:
            raise _first(failures) from failures

    # ------------------------------------------------------------ task 1: read and stage

    async def _stage_all(self, staged: asyncio.Queue[Batch | None]) -> None:
        batch = Batch()
        found = iter(self._sources)
        self._loop = asyncio.get_running_loop()
        while items := await asyncio.to_thread(self._prepare_some, found):
            await self._tracker.add(files_discovered=len(items))
            ready = [item for item in items if isinstance(item, Prepared)]
            await self._begin(ready)
            for item in items:
                if isinstance(item, SourceError):
                    await self._tracker.report(item)
                elif isinstance(item, Refused):
                    await self._refuse(item.source, item.fault)
                elif isinstance(item, Source):
                    await self._tracker.add(files_skipped=1, source_bytes=item.size)
                else:
                    batch = await self._fill(item, batch, staged)
        await self._stage(batch, staged)
        await self._tracker.all_cut(self._cut)
        collection = self._target.collection
        offer = offer_for_passages(self._languages, collection.scope.collection, collection.embedder)
        for note in (*self._sources.notes(), *filter(None, (offer,))):
            await self._tracker.warn(note)
        await staged.put(None)

    def _prepare_some(self, found: Iterator[Source | SourceError]) -> list[Prepared | Refused | Source | SourceError]:
        """The next few sources: opened, or unchanged (as themselves), or what is wrong with them. Runs in a thread."""
        items: list[Prepared | Refused | Source | SourceError] = []
        size = 0
        for source in found:
            items.append(source if isinstance(source, SourceError) else self._prepare(source))
            size += 0 if isinstance(source, SourceError) else source.size
            if len(items) >= SOURCES_AT_ONCE or size >= BYTES_AT_ONCE:
                break
        return items

    def _prepare(self, source: Source) -> Prepared | Refused | Source | SourceError:
        embedder, settings = self._target.embedder, self._target.settings
        try:
            file_hash = self._kind.fingerprint(source, self._request, embedder, settings)
            if self._plan.unchanged(source.url, file_hash):
                return source
            hold = self._held.get(source.document_id or document_id(self._scope, source.url))
            if hold is not None:
                return SourceError(source.label, HeldError.code, *self._why_held(hold))
            with stage("ingest.parse", bytes=source.size), listening(self._reading(source)):
                opened = self._fresh(self._kind.open(source, self._request, file_hash, embedder, settings))
            new = self._plan.is_new(source.url)
            if source.size > BYTES_AT_ONCE:
                return Prepared(source, opened, opened.pieces, new)
            with stage("ingest.chunk"):
                return Prepared(source, opened, iter(list(opened.pieces)), new)
        except SourceFault as fault:
            return Refused(source, fault)

    def _why_held(self, hold: Hold) -> tuple[str, str]:
        """Message and hint; without the reason for who may not read the document."""
        if hold.document_id in self._not_theirs:
            error = HeldError.unnamed(self._scope.collection)
        else:
            error = HeldError(hold.document_id, hold.reason)
        return error.message, error.hint

    async def _their_readers(self, document: Document) -> Document:
        """The document as whoever submitted this may say it: the readers of one that they may not read stay.

        Else who may write could make the earlier versions of it their own.
        """
        if document.readers is None or not self._request.submitted_by:
            return document
        readers = (await self._stores.catalog.rights.readers([document.id])).get(document.id)
        return document if self._request.for_reader_of(readers) else replace(document, readers=None)

    def _reading(self, source: Source) -> OnPart:
        """Tells the tracker how far the source is read, from the thread that reads it."""

        def on_part(done: int, parts: int, _picture: bool) -> None:
            read = source.size * done // max(parts, 1)
            asyncio.run_coroutine_threadsafe(self._tracker.reading(read), self._loop)

        return on_part

    def _fresh(self, opened: Opened) -> Opened:
        """In full mode a version is built anew although its content is the one that is live."""
        if self._request.mode is IngestMode.INCREMENTAL:
            return opened
        fresh = version_id(opened.document.id, f"{opened.document.file_hash}:{self._tracker.job.id}")
        pieces = ([replace(passage, version_id=fresh) for passage in piece] for piece in opened.pieces)
        return replace(opened, version_id=fresh, pieces=pieces)

    async def _begin(self, ready: Sequence[Prepared]) -> None:
        if ready:
            documents = [await self._their_readers(item.opened.document) for item in ready]
            versions = [item.opened.version_id for item in ready]
            await self._stores.catalog.documents.begin(list(zip(documents, versions, strict=True)))
            self._building.update(item.opened.version_id for item in ready)
            for item in ready:
                self._titles.add(item.opened.document.title)
            self._step("begun")

    async def _fill(self, item: Prepared, batch: Batch, staged: asyncio.Queue[Batch | None]) -> Batch:
        """Add the source's passages to the batch; hand full batches on; return the one being filled."""
        document, version = item.opened.document, item.opened.version_id
        uncounted = item.source.size
        while True:
            try:
                piece = await self._next(item)
            except SourceFault as fault:
                await self._refuse(item.source, fault, version)
                return _without(batch, document.id)
            if piece is None:
                break
            for passage in piece:
                batch.documents[document.id] = document
                batch.versions[document.id] = version
                batch.passages.append(passage)
                share = min(uncounted, len(passage.text))
                batch.source_bytes += share
                uncounted -= share
                if len(batch.passages) >= BATCH_PASSAGES:
                    await self._stage(batch, staged)
                    batch = Batch()
        batch.documents[document.id] = document
        batch.versions[document.id] = version
        batch.complete.append(version)
        batch.source_bytes += uncounted
        batch.files += 1
        batch.new += item.new
        for warning in item.opened.warnings:
            await self._tracker.warn(f"{item.source.label}: {warning}")
        return batch

    async def _next(self, item: Prepared) -> list[Passage] | None:
        """The next piece; what still has to be read is read in a thread."""
        if item.source.size > BYTES_AT_ONCE:
            with stage("ingest.chunk"):
                return await asyncio.to_thread(next, item.pieces, None)
        return next(item.pieces, None)

    async def _stage(self, batch: Batch, staged: asyncio.Queue[Batch | None]) -> None:
        if not batch.versions:
            return
        check_passages(batch.passages, batch.documents)
        self._cut += len(batch.passages)
        self._languages.update(passage.language for passage in batch.passages)
        index = self._target.collection.index_name
        versions = list(batch.versions.values())
        with stage("ingest.store", passages=len(batch.passages)):
            await self._moving.begin(batch)
            await self._stores.catalog.documents.set_status(versions, DocumentStatus.CHUNKING)
            missing = set(await self._stores.catalog.passages.stage(batch.passages, index))
        self._step("staged")
        force = self._request.mode is not IngestMode.INCREMENTAL
        self._moving.divide(batch, {passage.id for passage in batch.passages} if force else missing)
        await staged.put(batch)

    # ------------------------------------------------------------ task 2: embed

    async def _embed_all(self, staged: asyncio.Queue[Batch | None], embedded: asyncio.Queue[Batch | None]) -> None:
        first = True
        while (batch := await staged.get()) is not None:
            if first:
                await self._tracker.move(JobStatus.EMBEDDING)
                first = False
            await self._stores.catalog.documents.set_status(list(batch.versions.values()), DocumentStatus.EMBEDDING)
            if batch.pending:
                with stage("ingest.embed", passages=len(batch.pending)):
                    batch.vectors = await self._embedded(batch)
                check_vectors(batch.vectors, self._target.collection.dimension)
            self._step("embedded")
            await embedded.put(batch)
        await embedded.put(None)

    async def _embedded(self, batch: Batch) -> Vectors:
        """One vector for each pending passage; told part by part, as a batch takes seconds on a small machine."""
        held = await self._twins.vectors(batch)
        texts = [one.embed_text for one in batch.pending if one.id not in held]
        parts: list[Vectors] = []
        at = 0
        while at < len(texts):
            parts.append(await self._target.embedder.embed(texts[at : at + self._told]))
            await self._tracker.embedded(len(parts[-1]))
            at += len(parts[-1])
            self._told = min(TOLD_PASSAGES, 2 * self._told)
        batch.embedded = len(texts)
        if not held:
            return np.concatenate(parts)
        made = iter(np.concatenate(parts) if parts else ())
        return np.stack([held[one.id] if one.id in held else next(made) for one in batch.pending])

    # ------------------------------------------------------------ task 3: index, extract, switch

    async def _publish_all(self, embedded: asyncio.Queue[Batch | None]) -> None:
        while (batch := await embedded.get()) is not None:
            with stage("ingest.store", passages=len(batch.passages)):
                await self._index(batch)
                await self._extract(batch)
                await self._switch(batch)

    async def _index(self, batch: Batch) -> None:
        index = self._target.collection.index_name
        if not batch.pending and not batch.refreshed:
            return
        readers = await self._stores.catalog.rights.expected(list(batch.versions.values()))
        points = self._moving.marked(batch, as_points(batch.pending, batch.vectors, readers))
        points += self._moving.marked(batch, await self._moving.kept(batch.refreshed, readers))
        with in_collection(self._scope.collection, self._target.collection.embedder):
            await self._stores.vectors.upsert(index, self._scope.tenant, points)
        self._step("vectors written")
        kept = {one.id for one in batch.refreshed}
        await self._stores.catalog.passages.mark_indexed([point.id for point in points], index, kept=kept)
        self._step("marked")

    async def _extract(self, batch: Batch) -> None:
        await self._stores.catalog.documents.set_status(list(batch.versions.values()), DocumentStatus.EXTRACTING)
        judge = reader_judge(self._target.settings)
        found = await asyncio.to_thread(extract, batch.documents, batch.passages, self._titles.known, self._runs, judge)
        for document, version in batch.versions.items():
            if version in batch.complete:
                del self._runs[document]
        await self._stores.graph.write(self._scope, found)
        if isinstance(self._kind, Relates):
            await self._stores.graph.write(self._scope, self._kind.relations(batch.documents, batch.versions))
        self._step("graph written")

    async def _switch(self, batch: Batch) -> None:
        if batch.complete:
            await self._mark_active(batch)
            await self._stores.catalog.documents.switch(batch.complete)
            self._building.difference_update(batch.complete)
            self._step("switched")
        await self._tracker.add(
            source_bytes=batch.source_bytes,
            files_processed=batch.files,
            files_new=batch.new,
            processed_passages=len(batch.passages),
            passages_created=batch.embedded,
        )

    async def _mark_active(self, batch: Batch) -> None:
        """In the graph, before the switch: killed in between, the job is run again and ends the same (D-26)."""
        done = [document for document, version in batch.versions.items() if version in batch.complete]
        if isinstance(self._stores.graph, CanMarkDocuments):
            await self._stores.graph.mark_documents(self._scope, done, DocumentStatus.ACTIVE.value)

    # ------------------------------------------------------------ after the batches

    async def _delete_vanished(self) -> None:
        sources = self._sources
        gone = sources.gone_from if isinstance(sources, KnowsOrigins) else lambda url, _origin: sources.gone(url)
        missed = self._plan.vanished(gone)
        for one in (one for one in missed if one.id in self._held):
            await self._tracker.warn(f"{one.id} is gone from its source and stays: it is on legal hold.")
        vanished = [one for one in missed if one.id not in self._held]
        if vanished:
            before = sum(document.chunk_count for document in vanished)
            gone_ids = [item.id for item in vanished]
            await delete_documents(self._stores, self._scope, gone_ids, self._step, since=self._kept_since())
            await self._tracker.add(files_deleted=len(vanished), passages_deleted=before)

    def _kept_since(self) -> datetime | None:
        """Superseded versions are kept from then on; none of a kind whose passages change under their ids."""
        keeps = not isinstance(self._kind, KeepsIds)
        return kept_since(self._stores, self._target.settings.version_days) if keeps else None

    async def _refuse(self, source: Source, fault: SourceFault, version: str | None = None) -> None:
        """Report a source that cannot be taken in; what was visible of it stays visible."""
        await self._tracker.report(SourceError(source.label, fault.code, fault.message, fault.hint))
        await self._tracker.add(source_bytes=source.size)
        if version is None:
            document = await self._their_readers(self._unreadable(source))
            version = version_id(document.id, f"failed:{self._tracker.job.id}")
            await self._stores.catalog.documents.begin([(document, version)])
        await self._stores.catalog.documents.fail(version, str(fault))
        self._building.discard(version)

    def _unreadable(self, source: Source) -> Document:
        return Document(
            id=source.document_id or document_id(self._scope, source.url),
            scope=self._scope,
            url=source.url,
            external_id=source.external_id,
            title=source.name,
            format=source.format or "unknown",
            status=DocumentStatus.PENDING,
            topic_tag=self._request.topic,
            file_size=source.size,
            readers=source.readers if self._request.readers is None else self._request.readers,
        )

    async def _give_up(self, error: KedgeError) -> None:
        """Nothing of the versions in building may become visible. A catalog that fails too must not hide the cause."""
        try:
            for version in self._building:
                await self._stores.catalog.documents.fail(version, str(error))
            await self._tracker.fail(error)
        except KedgeError as second:
            error.add_note(f"The failure could not be recorded: {second}")


def _without(batch: Batch, document: str) -> Batch:
    """Drop a document whose source broke off while it was read."""
    batch.documents.pop(document, None)
    batch.versions.pop(document, None)
    batch.passages = [passage for passage in batch.passages if passage.document_id != document]
    return batch


def _first(failures: ExceptionGroup[Exception]) -> Exception:
    """The error to report of several that came together."""
    flat: list[Exception] = []
    for failure in failures.exceptions:
        flat.append(_first(failure) if isinstance(failure, ExceptionGroup) else failure)
    return next((failure for failure in flat if isinstance(failure, KedgeError)), flat[0])
