"""Feeding a session: read the files → tell the columns → embed distinct texts → publish, in one visible step.

The next generation is built beside the one that readers see. Killed anywhere, the session is as it was, and the job is
run again. What fails of the model or of the index never costs the rows.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from kedge.config import Settings
from kedge.errors import DiskFullError, ExpiredError, KedgeError, SourceFault, StoreError
from kedge.ids import sha256, stable_json
from kedge.ingest.jobs import JobTracker
from kedge.ingest.parts import OnStep, no_step
from kedge.ingest.source import Source
from kedge.models.base import Embedder
from kedge.tables.build import RELATION, Part, compose, take_in
from kedge.tables.files import TableFile, find, refused
from kedge.tables.index import Floats, TableIndex
from kedge.tables.indexing import embedded, gather, readable
from kedge.tables.schema import Table
from kedge.tables.sessions import Sessions
from kedge.tables.state import DATABASE, INDEX, IndexState, SessionState
from kedge.types import IngestMode, IngestRequest, Job, JobStatus, SourceError

log = logging.getLogger(__name__)
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
        self._refused: list[tuple[Part, SourceFault]] = []
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
        fed = {file.url for file in files}
        kept = tuple(part for part in kept if part.url not in fed)
        number = state.next_generation
        folder = self._sessions.folders.generation(state.scope, number)
        async with self._building(state, folder) as connection:
            table, parts = await self._read(connection, files, kept, hashes)
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
        kept: tuple[Part, ...],
        hashes: dict[str, str],
    ) -> tuple[Table | None, list[Part]]:
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
                    )
                except SourceFault as fault:
                    await self._tracker.report(refused(file, fault))
                    continue
                parts.append(part)
                await self._tracker.add(processed_passages=part.rows)
                await self._tell(connection, part, place)
        if not any(part.url in hashes for part in parts):
            return None, []
        table, placed = await asyncio.to_thread(compose, connection, parts, _title(parts[0]), self._not_fitting)
        for part, error in self._refused:
            await self._tracker.report(SourceError(part.url, error.code, error.message, error.hint))
        return table, placed

    def _not_fitting(self, part: Part, fault: SourceFault) -> None:
        self._refused.append((part, fault))

    async def _tell(self, connection: duckdb.DuckDBPyConnection, part: Part, place: int) -> None:
        """What was odd about a file, for the job's report."""
        if part.bad:
            first = await asyncio.to_thread(
                lambda: connection.execute(
                    "SELECT line, reason FROM bad_rows WHERE source = ? ORDER BY line LIMIT ?", [place, SHOWN_BAD]
                ).fetchall()
            )
            lines = "; ".join(f"line {line}: {reason}" for line, reason in first)
            more = "; …" if part.bad > SHOWN_BAD else ""
            noun = "row was" if part.bad == 1 else "rows were"
            await self._tracker.warn(f"{part.name}: {part.bad:,} {noun} put aside: {lines}{more}")
        for note in part.notes:
            await self._tracker.warn(f"{part.name}: {note}")

    def _described(self, state: SessionState, number: int, table: Table, parts: list[Part]) -> SessionState:
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
    ) -> tuple[IndexState | None, str]:
        """Build the index. A failure of the model is raised; one of the index leaves a session without."""
        await self._tracker.move(JobStatus.EMBEDDING)
        try:
            return await build_index(
                connection,
                table,
                folder / INDEX,
                self._embedder if fresh.use_rag else None,
                most_whole=self._settings.table_texts,
                known=lambda: known_vectors(self._sessions, before, self._embedder.name),
                on_done=self._embedded,
            ), ""
        except (OSError, ValueError, MemoryError, duckdb.Error) as error:
            log.warning("session %s has no index: %s", fresh.scope.collection, error)
            note = f"The search index could not be built ({error}); questions are answered by exact plans only."
            await self._tracker.warn(note)
            return None, note

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


async def build_index(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    folder: Path,
    embedder: Embedder | None,
    *,
    most_whole: int,
    known: Callable[[], dict[str, Floats]],
    on_done: Callable[[float], Any],
) -> IndexState:
    """Gather the texts, embed those that are new, write the arrays. Without an embedder it knows words only."""
    texts = await asyncio.to_thread(gather, connection, table, most_whole if embedder else 0)
    if embedder is None:
        texts = replace(texts, whole=[], vocabulary=[], sample=[])
        vectors: dict[str, Floats] = {}
    else:
        vectors = await asyncio.to_thread(known)
    index = await embedded(texts, embedder or _NoModel(), vectors, on_done)
    await asyncio.to_thread(index.save, folder)
    name = embedder.name if embedder else ""
    return IndexState(name, texts.count, len(texts.whole), len(texts.vocabulary), index.bytes)


class _NoModel:
    """Stands where the model would; it is never asked."""

    name = ""
    dimension = 1
    window = 1

    async def embed(self, texts: Any) -> Floats:
        return np.zeros((len(texts), 1), dtype=np.float32)

    async def embed_query(self, _text: str) -> Floats:
        return np.zeros(1, dtype=np.float32)

    def count_tokens(self, texts: Any) -> list[int]:
        return [0 for _ in texts]

    async def close(self) -> None:
        """Nothing to release."""


def known_vectors(sessions: Sessions, state: SessionState, embedder: str) -> dict[str, Floats]:
    """Vectors of the last generation by text, where the same model made them."""
    if not state.generation or state.index is None or state.index.embedder != embedder:
        return {}
    folder = sessions.folders.generation(state.scope, state.generation)
    try:
        index = TableIndex.load(folder / INDEX)
        with duckdb.connect(str(folder / DATABASE), read_only=True) as connection:
            texts = dict(connection.execute("SELECT id, value FROM texts WHERE whole").fetchall())
            words = dict(connection.execute("SELECT id, word FROM words").fetchall())
    except (OSError, ValueError, duckdb.Error) as error:  # then all are embedded anew
        log.warning("the former index cannot be used: %s", error)
        return {}
    rows = zip(index.word_ids.tolist(), index.word_vectors, strict=True)
    known = {words[word]: row + index.word_mean for word, row in rows}
    known.update(
        (readable(texts[text]), row) for text, row in zip(index.whole_ids.tolist(), index.whole_vectors, strict=True)
    )
    return known


def _own_relations(connection: duckdb.DuckDBPyConnection, kept: tuple[Part, ...]) -> list[Part]:
    """Parts that stay, each under a relation of its own; the rest of the copied database goes."""
    parts = [replace(part, role="rows", offset=0, relation=f"part_{part.place}") for part in kept]
    for before, part in zip(kept, parts, strict=True):
        if before.relation == RELATION:
            connection.execute(f"ALTER TABLE {RELATION} RENAME TO {part.relation}")
    wanted = {part.relation for part in parts} | {"bad_rows"}
    names = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
    for name in names:
        if name not in wanted:
            connection.execute(f"DROP TABLE {name}")
    if "bad_rows" in names:
        places = ", ".join(str(part.place) for part in parts) or "-1"
        connection.execute(f"DELETE FROM bad_rows WHERE source NOT IN ({places})")  # noqa: S608
    return parts


def _title(part: Part) -> str:
    return Path(part.name).stem or part.name


def _disk(error: OSError) -> StoreError:
    if error.errno == 28:
        return DiskFullError("No space left for the table.", hint="Free some space and feed the file again.")
    return StoreError(f"The table could not be kept: {error.strerror or error}.", hint="Look at the home folder.")


def _engine(error: duckdb.Error) -> StoreError:
    if "space" in str(error).lower() and "no " in str(error).lower():
        return DiskFullError("No space left for the table.", hint="Free some space and feed the file again.")
    return StoreError(f"The table could not be built: {error}", hint="Feed the file again; report it if it stays.")
