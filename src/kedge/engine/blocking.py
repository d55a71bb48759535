"""`Kedge`: the Engine for code that does not use asyncio. One background thread runs the event loop; nothing else here.

with Kedge("./.kedge") as kedge:
    kedge.ingest("docs/")
    print(kedge.ask("What is a kedge?").answer)
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from kedge.core.errors import KedgeError, UsageError
from kedge.core.instants import instant
from kedge.core.plugins import resolved
from kedge.core.settings import load_settings
from kedge.core.values import (
    ANSWER_TOP_K,
    DEFAULT_KIND,
    DEFAULT_TENANT,
    Answer,
    Collection,
    Document,
    DocumentStatus,
    IngestMode,
    IngestRequest,
    Job,
    Json,
    Passage,
    Query,
    Scope,
    SearchResult,
    StreamEvent,
)
from kedge.core.values.filters import from_mapping
from kedge.engine.backup.manifest import Manifest
from kedge.engine.backup.taking import take_backup
from kedge.engine.engine import Engine
from kedge.kinds import installed
from kedge.stores import registry

log = logging.getLogger(__name__)
T = TypeVar("T")


class Kedge:
    """Takes documents in, searches them and answers from them, blocking. Use it as a context manager or close it.

    `home` is the folder that holds everything; further keyword arguments are settings (`kedge.core.settings.Settings`).
    """

    def __init__(self, home: str | Path | None = None, *, config: str | Path | None = None, **settings: object) -> None:
        place = Path(home) if home is not None else None
        self.settings = load_settings(Path(config) if config else None, None, registry.faults, home=place, **settings)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kedge", daemon=True)
        self._thread.start()
        self._closed = False
        self._added: dict[str, Any] | None = None
        self._opened: AbstractAsyncContextManager[Engine] = Engine.open(self.settings)
        try:
            self._engine = self.run(self._opened.__aenter__())
        except BaseException:
            self._stop()
            raise

    @property
    def engine(self) -> Engine:
        """What this waits for."""
        return self._engine

    def __getattr__(self, name: str) -> Any:
        """What kinds add, by their own name (`kedge.tables.sessions()`) or directly (`kedge.sessions()`)."""
        if not name.startswith("_"):
            facades = self._facades()
            if name in facades:
                return facades[name]
            for facade in facades.values():
                if hasattr(facade, name):
                    return getattr(facade, name)
        raise AttributeError(f"{type(self).__name__!r} has no {name!r}, and no installed kind adds it")

    def __dir__(self) -> list[str]:
        added = self._facades()
        return sorted({*super().__dir__(), *added, *(name for one in added.values() for name in _public(one))})

    def _facades(self) -> dict[str, Any]:
        """By name: what each kind adds."""
        if self._added is None:
            surfaces = [kind.surfaces for kind in installed().values() if kind.surfaces.blocking]
            made = ((one.blocking_name, self._facade(one.blocking)) for one in surfaces)
            self._added = {name: facade for name, facade in made if facade is not None}
        return self._added

    def _facade(self, target: str) -> Any | None:
        """What a kind adds, or None, told in the log, where it cannot be made."""
        make = resolved(target)
        try:
            return make(self) if make is not None else None
        except KedgeError:
            raise
        except Exception:
            log.exception("%s is left out", target)
            return None

    # ------------------------------------------------------------ way in

    def ingest(
        self,
        *sources: str | Path,
        collection: str | None = None,
        kind: str = DEFAULT_KIND,
        mode: Literal["incremental", "full", "recreate"] = "incremental",
        topic: str | None = None,
        title: str | None = None,
        format: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        options: Mapping[str, Json] | None = None,
        on_progress: Callable[[Job], None] | None = None,
    ) -> Job:
        """Take in files, folders, globs or URLs and return the ended job; `job.errors` names what could not be read.

        - `collection`: where to put it, made if need be; the setting's default one if not given.
        - `kind`: kind of knowledge, as in `kedge ingest --kind`.
        - `mode`: `incremental` skips the unchanged, `full` takes all, `recreate` empties the collection first.
        - `topic`: topic tag of every passage.
        - `title`, `format`: instead of the detected ones; the title for a single source.
        - `metadata`: kept with every document; filters see it.
        - `options`: what only the kind knows; tables: `delimiter`, `encoding`, `header`.
        - `on_progress`: called with the job as it goes on.
        """
        for source in sources:
            if not isinstance(source, str | Path):
                raise UsageError(f"A source is a path or an address, not {source!r}.", hint="Unpack lists with *.")
        request = IngestRequest(
            scope=self.scope(collection),
            sources=tuple(str(source) for source in sources),
            kind=kind,
            mode=IngestMode(mode),
            topic=topic,
            title=title,
            format=format,
            metadata=dict(metadata or {}),
            options=dict(options or {}),
        )
        return self.run(self._engine.ingest(request, on_progress))

    def settle(self) -> None:
        """Wait for the search index that is built behind large ingests; without it search is exact and slower."""
        self.run(self._engine.settle())

    # ------------------------------------------------------------ way out

    def search(
        self,
        text: str,
        *,
        collection: str | None = None,
        top_k: int | None = None,
        include_graph: bool = True,
        topic: str | None = None,
        where: Mapping[str, Json] | None = None,
        threshold: float | None = None,
        as_of: str | date | None = None,
    ) -> SearchResult:
        """Find passages by meaning, by words and through the graph, best first. QueryError, FilterError.

        - `collection`: where to look; the setting's default one if not given.
        - `top_k`: how many passages, up to the setting `max_top_k`; rows of a table, 1–500; the setting's if not given.
        - `include_graph`: walk the concept graph too.
        - `topic`: only passages with this topic tag.
        - `where`: conditions on passages, all of which hold: `{"language": ["en", "de"], "page": {"gte": 3}}`.
        - `threshold`: least score of a row (tables), 0–1; the setting's if not given.
        - `as_of`: ask what was live then: a date (its end), or a time, UTC unless it says a zone.
        """
        wanted = self.settings.top_k if top_k is None else top_k
        query = self._query(
            text,
            collection,
            wanted,
            include_graph=include_graph,
            topic=topic,
            where=where,
            threshold=threshold,
            as_of=as_of,
        )
        return self.run(self._engine.search(replace(query, top_k_given=top_k is not None)))

    def ask(
        self,
        text: str,
        *,
        collection: str | None = None,
        top_k: int | None = None,
        include_graph: bool = True,
        topic: str | None = None,
        where: Mapping[str, Json] | None = None,
        session_id: str | None = None,
        threshold: float | None = None,
        rows: int | None = None,
        reading: int | None = None,
        as_of: str | date | None = None,
    ) -> Answer:
        """Answer with citations, or refuse (`answer.refused`). QueryError, FilterError.

        - `collection`: what to ask; the setting's default one if not given.
        - `top_k`: how many passages are read, up to the setting `max_top_k`; 5 if not given.
        - `include_graph`: walk the concept graph too.
        - `topic`: only passages with this topic tag.
        - `where`: conditions on passages, all of which hold: `{"language": ["en", "de"], "page": {"gte": 3}}`.
        - `session_id`: any name: questions under it are understood from the ones before.
        - `threshold`: least score of a row (tables), 0–1; the setting's if not given.
        - `rows`: most rows that an answer over a table is made from; by the question if not given.
        - `reading`: which of the readings of a question over a table is meant, from 1; the likeliest if not given.
        - `as_of`: ask what was live then: a date (its end), or a time, UTC unless it says a zone.
        """
        query = self._query(
            text,
            collection,
            top_k,
            include_graph=include_graph,
            topic=topic,
            where=where,
            session_id=session_id,
            threshold=threshold,
            rows=rows,
            reading=reading,
            as_of=as_of,
        )
        return self.run(self._engine.ask(query))

    def stream(
        self,
        text: str,
        *,
        collection: str | None = None,
        top_k: int | None = None,
        include_graph: bool = True,
        topic: str | None = None,
        where: Mapping[str, Json] | None = None,
        session_id: str | None = None,
        threshold: float | None = None,
        rows: int | None = None,
        reading: int | None = None,
        as_of: str | date | None = None,
    ) -> Iterator[StreamEvent]:
        """Like `ask`, with the same options, event by event: tokens, citations, metadata, done.

        Leaving the loop early stops the work.
        """
        query = self._query(
            text,
            collection,
            top_k,
            include_graph=include_graph,
            topic=topic,
            where=where,
            session_id=session_id,
            threshold=threshold,
            rows=rows,
            reading=reading,
            as_of=as_of,
        )
        events = self._engine.stream(query)
        try:
            while (event := self.run(_next(events))) is not None:
                yield event
        finally:
            if not self._closed:
                self.run(_finish(events))

    def feedback(self, query_id: str, rating: int, comment: str | None = None, *, binary: bool = False) -> str:
        """Rate an answer 1–5."""
        return self.run(self._engine.feedback(DEFAULT_TENANT, query_id, rating, comment, binary=binary))

    # ------------------------------------------------------------ what is there

    def collections(self) -> list[Collection]:
        """All collections."""
        return self.run(self._engine.collections(DEFAULT_TENANT))

    def delete_collection(self, collection: str) -> None:
        """Delete a collection with everything in it."""
        self.run(self._engine.delete_collection(self.scope(collection)))

    def documents(
        self, collection: str | None = None, *, status: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[Document]:
        """Documents by url."""
        wanted = DocumentStatus(status) if status else None
        return self.run(self._engine.documents(self.scope(collection), status=wanted, limit=limit, offset=offset))

    def document(self, document_id: str) -> tuple[Document, Sequence[Passage]]:
        """One document and its passages."""
        return self.run(self._engine.document(DEFAULT_TENANT, document_id))

    def delete(self, document_id: str) -> Document:
        """Delete a document: it is archived, and nothing of it is found any more."""
        return self.run(self._engine.delete_document(DEFAULT_TENANT, document_id))

    # ------------------------------------------------------------ administration

    def backup(self, path: str | Path) -> Manifest:
        """Write everything into one file, which `kedge restore` puts back. It is there when it is whole."""
        stores = self._engine.stores
        return self.run(take_backup(self.settings, Path(path), vectors=stores.vectors, nodes=stores.nodes))

    # ------------------------------------------------------------ life

    def close(self) -> None:
        """Close the engine and stop the thread. Closing twice is fine."""
        if self._closed:
            return
        try:
            self.run(self._opened.__aexit__(None, None, None))
        finally:
            self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _stop(self) -> None:
        self._closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for work on the engine's event loop; returns or raises what it does. For what kinds add."""
        if self._closed:
            work.close()
            raise UsageError("This Kedge is closed.", hint="Open a new one: Kedge(home).")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def scope(self, collection: str | None) -> Scope:
        """Where a collection of the local user is; the default one for None."""
        return Scope(DEFAULT_TENANT, collection or self.settings.collection)

    def _query(
        self,
        text: str,
        collection: str | None,
        top_k: int | None,
        *,
        include_graph: bool = True,
        topic: str | None = None,
        where: Mapping[str, Json] | None = None,
        session_id: str | None = None,
        threshold: float | None = None,
        rows: int | None = None,
        reading: int | None = None,
        as_of: str | date | None = None,
    ) -> Query:
        return Query(
            text=text,
            scope=self.scope(collection),
            top_k=ANSWER_TOP_K if top_k is None else top_k,
            top_k_given=top_k is not None,
            include_graph=include_graph,
            topic_filter=topic,
            where=from_mapping(where or {}),
            session_id=session_id,
            threshold=threshold,
            rows=rows,
            reading=reading,
            as_of=None if as_of is None else instant(as_of),
        )


def _public(facade: object) -> list[str]:
    return [name for name in dir(facade) if not name.startswith("_")]


async def _next(events: AsyncIterator[StreamEvent]) -> StreamEvent | None:
    return await anext(events, None)


async def _finish(events: AsyncIterator[StreamEvent]) -> None:
    close = getattr(events, "aclose", None)
    if close is not None:
        await close()
