"""Feeding a session: read the files → tell the columns → embed distinct texts → publish, in one visible step.

The next generation is built beside the one that readers see. Killed anywhere, the session is as it was, and the job is
run again. What fails of the model or of the index never costs the rows.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from kedge.core.errors import DiskFullError, ExpiredError, KedgeError, SourceFault, StoreError
from kedge.core.ids import sha256, stable_json
from kedge.core.settings import Settings
from kedge.core.values import IngestMode, IngestRequest, Job, JobStatus, SourceError
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.batch import OnStep, no_step
from kedge.ingest.sources.source import Source
from kedge.ingest.tracker import JobTracker
from kedge.kinds.tables.feeding.build import compose, take_in
from kedge.kinds.tables.feeding.files import TableFile, find, refused
from kedge.kinds.tables.finding.build import build_index, known_texts
from kedge.kinds.tables.finding.languages import SAMPLED, offer_for_texts
from kedge.kinds.tables.schema import Table
from kedge.kinds.tables.sessions import Sessions
from kedge.kinds.tables.state import DATABASE, INDEX, RELATION, RowIndexState, SessionState
from kedge.kinds.tables.values import TablePart
from kedge.models.ports import Embedder
from kedge.stores.queries import load_queries

log = logging.getLogger(__name__)
QUERIES = load_queries(__package__, "queries.sql")
TICK = 0.25
READING, EMBEDDING = 400, 550
"""Of a thousand units of progress."""
FORMAT = 1
"""Raised when what is kept of a file changes, so that unchanged files are read again."""
SHOWN_BAD = 5


@dataclass(slots=True)
class _Progress:
    """Counted in threads, shown by the event loop."""

    total: int = 1
    done: int = 0

    def add(self, count: int) -> None:
        self.done += count


class Feed:
    """One run of one request into one session."""

    def __init__(
        self,
        settings: Settings,
        sessions: Sessions,
        embedder: Embedder,
        *,
        request: IngestRequest,
        tracker: JobTracker,
        on_step: OnStep = no_step,
    ) -> None:
        self._settings = settings
        self._sessions = sessions
        self._embedder = embedder
        self._request = request
        self._tracker = tracker
        self._step = on_step
        self._refused: list[tuple[TablePart, SourceFault]] = []
        self._units = 0

    async def run(self) -> Job:
        """Take the files in and publish them. Raises what the job failed of; faulty files are in the job."""
        resumed = self._tracker.job.started_at is not None
        await self._tracker.start()
        state = self._sessions.make(self._request.scope)
        if resumed and self._superseded(state):
            await self._tracker.warn("A newer feed has taken its place: nothing was done.")
            return await self._tracker.complete()
        self._tracker.expect(1000)
        try:
            await self._feed(state)
            return await self._tracker.complete()
        except KedgeError as error:
            await self._fail(state, error)
            raise

    def _superseded(self, state: SessionState) -> bool:
        asked = self._tracker.job.created_at
        return state.fed_at is not None and asked is not None and state.fed_at > asked

    async def _fail(self, state: SessionState, error: KedgeError) -> None:
        kept = self._sessions.folders.read(state.scope) or state
        await self._sessions.publish(replace(kept, status="failed", error=str(error)))
        await self._tracker.fail(error)

    async def _feed(self, state: SessionState) -> None:
        files = [file async for file in self._files()]
        state = await self._checked(state)
        hashes = {file.url: await asyncio.to_thread(self._hash, file) for file in files}
        kept = () if self._request.mode is IngestMode.RECREATE else state.parts
        if self._request.mode is IngestMode.INCREMENTAL and self._complete(state):
            same = {part.url for part in kept if hashes.get(part.url) == part.hash}
            await self._tracker.add(files_skipped=len(same & set(hashes)))
            files = [file for file in files if file.url not in same]
        if not files:
            if not state.generation and not self._tracker.job.files_skipped:
                await self._sessions.publish(replace(state, status="failed", error=self._first_error()))
            return
        number = state.next_generation
        folder = self._sessions.folders.generation(state.scope, number)
        async with self._building(state, folder) as connection:
            table, parts, fed = await self._read(connection, files, kept, hashes)
            if table is None:
                if not state.generation:
                    await self._sessions.publish(replace(state, status="failed", error=self._first_error()))
                shutil.rmtree(folder, ignore_errors=True)
                return
            self._step("table built")
            fresh = self._described(state, number, table, parts)
            index, error, failure = None, "", None
            try:
                index, error = await self._index(connection, table, fresh, state, folder)
                fresh = await self._told_of_languages(connection, fresh)
            except KedgeError as caught:  # the model failed: the rows are kept, but an older table is not replaced
                if state.generation:
                    raise
                failure = caught
            await asyncio.to_thread(connection.execute, "CHECKPOINT")
        self._step("table written")
        await self._sessions.publish(replace(fresh, index=index, error=error))
        self._step("table published")
        if failure is not None:
            raise failure
        await self._tracker.add(files_processed=sum(part.url in fed for part in parts), passages_created=table.rows)

    # ------------------------------------------------------------ files

    async def _files(self) -> AsyncIterator[TableFile]:
        found = await asyncio.to_thread(lambda: list(find(self._request, self._settings)))
        await self._tracker.add(files_discovered=len(found))
        for item in found:
            if isinstance(item, SourceError):
                await self._tracker.report(item)
            else:
                yield item

    def _hash(self, file: TableFile) -> str:
        content = Source(file.url, file.url, file.name, file.path, file.size).content_hash()
        return sha256(stable_json({"bytes": content, "options": dict(self._request.options), "format": FORMAT}))

    async def _checked(self, state: SessionState) -> SessionState:
        """The state without what cannot be read any more of it, so that feeding again mends it."""
        if not state.generation:
            return state
        try:
            async with self._sessions.reading(state.scope) as generation:
                if state.index is not None:
                    try:
                        await asyncio.to_thread(generation.index)
                    except StoreError:
                        return replace(state, index=None)
        except ExpiredError:
            return replace(state, parts=(), index=None)
        except StoreError:
            lost = ", ".join(part.name for part in state.parts)
            await self._tracker.warn(f"The rows of the last feed cannot be read any more ({lost}): feed all again.")
            return replace(state, parts=(), index=None, status="failed")
        return state

    def _complete(self, state: SessionState) -> bool:
        """Whether nothing is missing of the last feed, so that unchanged files may be passed over."""
        if state.status != "ready":
            return False
        embedder = state.index.embedder if state.index else None
        return embedder == (self._embedder.name if state.use_rag else "")

    def _first_error(self) -> str:
        errors = self._tracker.job.errors
        return f"{errors[0].message} {errors[0].hint}".strip() if errors else "Nothing was fed."

    # ------------------------------------------------------------ rows

    @asynccontextmanager
    async def _building(self, state: SessionState, folder: Path) -> AsyncIterator[duckdb.DuckDBPyConnection]:
        """The database of the next generation; a copy of the last one where parts of it stay."""
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        keeps = bool(state.parts) and self._request.mode is not IngestMode.RECREATE
        try:
            folder.mkdir(parents=True)
            if keeps:
                old = self._sessions.folders.generation(state.scope, state.generation)
                await asyncio.to_thread(shutil.copyfile, old / DATABASE, folder / DATABASE)
            connection = await asyncio.to_thread(duckdb.connect, str(folder / DATABASE))
        except OSError as error:
            raise _disk(error) from error
        try:
            yield connection
        except duckdb.Error as error:
            raise _engine(error) from error
        except OSError as error:
            raise _disk(error) from error
        finally:
            await asyncio.to_thread(connection.close)

    async def _read(
        self,
        connection: duckdb.DuckDBPyConnection,
        files: list[TableFile],
        kept: tuple[TablePart, ...],
        hashes: dict[str, str],
    ) -> tuple[Table | None, list[TablePart], set[str]]:
        """The table of all parts, the parts, and which files are new. An old part stays where its new file fails."""
        fed: set[str] = set()
        progress = _Progress(sum(file.size for file in files) or 1)
        async with self._shown(progress, READING):
            parts = await asyncio.to_thread(_own_relations, connection, kept)
            for file in files:
                place = 1 + max((part.place for part in parts), default=-1)
                try:
                    part = await asyncio.to_thread(
                        take_in,
                        connection,
                        file,
                        place,
                        file_hash=hashes[file.url],
                        options=self._request.options,
                        on_bytes=progress.add,
                        limits=ParseLimits.of(self._settings),
                    )
                except SourceFault as fault:
                    await self._tracker.report(refused(file, fault))
                    continue
                parts = await asyncio.to_thread(_replaced, connection, parts, part)
                fed.add(file.url)
                await self._tracker.add(processed_passages=part.rows)
                await self._tell(connection, part, place)
        if not fed:
            return None, [], fed
        table, placed = await asyncio.to_thread(compose, connection, parts, _title(parts[0]), self._not_fitting)
        for part, error in self._refused:
            await self._tracker.report(SourceError(part.url, error.code, error.message, error.hint))
        return table, placed, fed

    def _not_fitting(self, part: TablePart, fault: SourceFault) -> None:
        self._refused.append((part, fault))

    async def _tell(self, connection: duckdb.DuckDBPyConnection, part: TablePart, place: int) -> None:
        """What was odd about a file, for the job's report."""
        if part.bad:
            first = await asyncio.to_thread(
                lambda: connection.execute(QUERIES["first_bad_rows"], [place, SHOWN_BAD]).fetchall()
            )
            lines = "; ".join(f"line {line}: {reason}" for line, reason in first)
            more = "; …" if part.bad > SHOWN_BAD else ""
            noun = "row was" if part.bad == 1 else "rows were"
            await self._tracker.warn(f"{part.name}: {part.bad:,} {noun} put aside: {lines}{more}")
        for note in part.notes:
            await self._tracker.warn(f"{part.name}: {note}")

    def _described(self, state: SessionState, number: int, table: Table, parts: list[TablePart]) -> SessionState:
        return replace(
            state,
            status="ready",
            generation=number,
            fed_at=datetime.now(UTC),
            name=table.name,
            parts=tuple(parts),
            columns=tuple(replace(column, lowest=None, highest=None) for column in table.columns),
            rows=table.rows,
            bad_rows=sum(part.bad for part in parts),
            notes=tuple(f"{part.name}: {note}" for part in parts for note in part.notes),
        )

    # ------------------------------------------------------------ index

    async def _index(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: Table,
        fresh: SessionState,
        before: SessionState,
        folder: Path,
    ) -> tuple[RowIndexState | None, str]:
        """Build the index. A failure of the model is raised; one of the index leaves a session without."""
        await self._tracker.move(JobStatus.EMBEDDING)
        try:
            return await build_index(
                connection,
                table,
                folder / INDEX,
                self._embedder if fresh.use_rag else None,
                most_whole=self._settings.table_texts,
                known=lambda: known_texts(self._sessions, before, self._embedder.name),
                on_done=self._embedded,
            ), ""
        except (OSError, ValueError, MemoryError, duckdb.Error) as error:
            log.warning("session %s has no index: %s", fresh.scope.collection, error)
            note = f"The search index could not be built ({error}); questions are answered by exact plans only."
            await self._tracker.warn(note)
            return None, note

    async def _told_of_languages(self, connection: duckdb.DuckDBPyConnection, fresh: SessionState) -> SessionState:
        """With a note, in the job's report too, where the model does not know the language of the texts (T-14)."""
        if not fresh.use_rag:
            return fresh
        found = await asyncio.to_thread(lambda: connection.execute(QUERIES["sample_of_texts"], [SAMPLED]).fetchall())
        offer = offer_for_texts([text for (text,) in found], fresh.scope.collection, self._embedder.name)
        if not offer:
            return fresh
        await self._tracker.warn(offer)
        return replace(fresh, notes=(*fresh.notes, offer))

    async def _embedded(self, share: float) -> None:
        wanted = READING + int(EMBEDDING * share)
        if wanted > self._units:
            await self._tracker.add(source_bytes=wanted - self._units)
            self._units = wanted

    @asynccontextmanager
    async def _shown(self, progress: _Progress, units: int) -> AsyncIterator[None]:
        async def tick() -> None:
            while True:
                await asyncio.sleep(TICK)
                await self._show(progress, units)

        ticking = asyncio.create_task(tick())
        try:
            yield
        finally:
            ticking.cancel()
        await self._show(replace(progress, done=progress.total), units)

    async def _show(self, progress: _Progress, units: int) -> None:
        wanted = int(units * min(1.0, progress.done / progress.total))
        if wanted > self._units:
            await self._tracker.add(source_bytes=wanted - self._units)
            self._units = wanted


def _own_relations(connection: duckdb.DuckDBPyConnection, kept: tuple[TablePart, ...]) -> list[TablePart]:
    """Parts that stay, each under a relation of its own; the rest of the copied database goes."""
    parts = [replace(part, role="rows", offset=0, relation=f"part_{part.place}") for part in kept]
    for before, part in zip(kept, parts, strict=True):
        if before.relation == RELATION:
            connection.execute(f"ALTER TABLE {RELATION} RENAME TO {part.relation}")
    wanted = {part.relation for part in parts} | {"bad_rows"}
    names = [name for (name,) in connection.execute(QUERIES["tables"]).fetchall()]
    for name in names:
        if name not in wanted:
            connection.execute(f"DROP TABLE {name}")
    if "bad_rows" in names:
        places = ", ".join(str(part.place) for part in parts) or "-1"
        connection.execute(f"DELETE FROM bad_rows WHERE source NOT IN ({places})")  # noqa: S608
    return parts


def _replaced(connection: duckdb.DuckDBPyConnection, parts: list[TablePart], fresh: TablePart) -> list[TablePart]:
    """The parts with a new one in the place of the old one of the same file, or at the end."""
    for place, part in enumerate(parts):
        if part.url == fresh.url:
            connection.execute(f"DROP TABLE {part.relation}")
            connection.execute(QUERIES["forget_bad_rows"], [part.place])
            return [*parts[:place], fresh, *parts[place + 1 :]]
    return [*parts, fresh]


def _title(part: TablePart) -> str:
    return Path(part.name).stem or part.name


def _disk(error: OSError) -> StoreError:
    if error.errno == 28:
        return DiskFullError("No space left for the table.", hint="Free some space and feed the file again.")
    return StoreError(f"The table could not be kept: {error.strerror or error}.", hint="Look at the home folder.")


def _engine(error: duckdb.Error) -> StoreError:
    if "space" in str(error).lower() and "no " in str(error).lower():
        return DiskFullError("No space left for the table.", hint="Free some space and feed the file again.")
    return StoreError(f"The table could not be built: {error}", hint="Feed the file again; report it if it stays.")
