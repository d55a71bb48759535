"""`Kedge`: the Engine for code that does not use asyncio. One background thread runs the event loop; nothing else here.

with Kedge("./.kedge") as kedge:
    kedge.ingest("docs/")
    print(kedge.ask("What is a kedge?").answer)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from kedge import registry
from kedge.backup.manifest import Manifest
from kedge.backup.taking import take_backup
from kedge.config import load_settings
from kedge.engine import Engine
from kedge.errors import UsageError
from kedge.nodekeeper import Reconciled
from kedge.sessions import Session
from kedge.stores.filters import from_mapping
from kedge.stores.nodes.base import Edge, Node
from kedge.sync_courses import CoursesFacade
from kedge.tables.feeding.update import Changed
from kedge.types import (
    DEFAULT_TENANT,
    Answer,
    Collection,
    Document,
    DocumentStatus,
    Format,
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

T = TypeVar("T")


class Kedge:
    """Takes documents in, searches them and answers from them, blocking. Use it as a context manager or close it.

    `home` is the folder that holds everything; further keyword arguments are settings (`kedge.config.Settings`).
    """

    def __init__(self, home: str | Path | None = None, *, config: str | Path | None = None, **settings: object) -> None:
        place = Path(home) if home is not None else None
        self.settings = load_settings(Path(config) if config else None, None, registry.faults, home=place, **settings)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kedge", daemon=True)
        self._thread.start()
        self._closed = False
        self._opened: AbstractAsyncContextManager[Engine] = Engine.open(self.settings)
        try:
            self._engine = self._run(self._opened.__aenter__())
            self.courses = CoursesFacade(self._engine, self._run)
        except BaseException:
            self._stop()
            raise

    # ------------------------------------------------------------ way in

    def ingest(
        self,
        *sources: str | Path,
        collection: str | None = None,
        kind: str = "documents",
        mode: str = "incremental",
        topic: str | None = None,
        title: str | None = None,
        format: str | None = None,
        metadata: Mapping[str, Json] | None = None,
        options: Mapping[str, Json] | None = None,
        on_progress: Callable[[Job], None] | None = None,
    ) -> Job:
        """Take in files, folders, globs or URLs and return the ended job; `job.errors` names what could not be read."""
        for source in sources:
            if not isinstance(source, str | Path):
                raise UsageError(f"A source is a path or an address, not {source!r}.", hint="Unpack lists with *.")
        request = IngestRequest(
            scope=self._scope(collection),
            sources=tuple(str(source) for source in sources),
            kind=kind,
            mode=IngestMode(mode),
            topic=topic,
            title=title,
            format=Format(format) if format else None,
            metadata=dict(metadata or {}),
            options=dict(options or {}),
        )
        return self._run(self._engine.ingest(request, on_progress))

    def settle(self) -> None:
        """Wait for the search index that is built behind large ingests; without it search is exact and slower."""
        self._run(self._engine.settle())

    # ------------------------------------------------------------ way out

    def search(self, text: str, *, collection: str | None = None, top_k: int = 5, **options: Any) -> SearchResult:
        """Find passages, best first. Options: include_graph, topic, where (`{"page": {"gte": 3}}`)."""
        return self._run(self._engine.search(self._query(text, collection, top_k, **options)))

    def ask(self, text: str, *, collection: str | None = None, top_k: int = 5, **options: Any) -> Answer:
        """Answer from the documents with citations, or refuse. Options as for `search`, and session_id."""
        return self._run(self._engine.ask(self._query(text, collection, top_k, **options)))

    def stream(
        self, text: str, *, collection: str | None = None, top_k: int = 5, **options: Any
    ) -> Iterator[StreamEvent]:
        """Like `ask`, event by event. Leaving the loop early stops the work."""
        events = self._engine.stream(self._query(text, collection, top_k, **options))
        try:
            while (event := self._run(_next(events))) is not None:
                yield event
        finally:
            if not self._closed:
                self._run(_finish(events))

    def feedback(self, query_id: str, rating: int, comment: str | None = None) -> str:
        """Rate an answer 1–5."""
        return self._run(self._engine.feedback(DEFAULT_TENANT, query_id, rating, comment))

    # ------------------------------------------------------------ what is there

    def collections(self) -> list[Collection]:
        """All collections."""
        return self._run(self._engine.collections(DEFAULT_TENANT))

    def delete_collection(self, collection: str) -> None:
        """Delete a collection with everything in it."""
        self._run(self._engine.delete_collection(self._scope(collection)))

    def documents(
        self, collection: str | None = None, *, status: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[Document]:
        """Documents by url."""
        wanted = DocumentStatus(status) if status else None
        return self._run(self._engine.documents(self._scope(collection), status=wanted, limit=limit, offset=offset))

    def document(self, document_id: str) -> tuple[Document, Sequence[Passage]]:
        """One document and its passages."""
        return self._run(self._engine.document(DEFAULT_TENANT, document_id))

    def delete(self, document_id: str) -> Document:
        """Delete a document: it is archived, and nothing of it is found any more."""
        return self._run(self._engine.delete_document(DEFAULT_TENANT, document_id))

    # ------------------------------------------------------------ table sessions

    def session(self, name: str) -> Session:
        """One table session: status, rows, columns. Feed it with `ingest(FILE, collection=name, kind="table")`."""
        return self._run(self._engine.sessions.get(self._scope(name)))

    def sessions(self) -> list[Session]:
        """All table sessions, by name."""
        return self._run(self._engine.sessions.all(DEFAULT_TENANT))

    def make_session(
        self, name: str | None = None, *, use_rag: bool = True, persist: bool = True, expires_after: float | None = None
    ) -> Session:
        """A table session with other options than the default ones."""
        making = self._engine.sessions.make(
            DEFAULT_TENANT, name, use_rag=use_rag, persist=persist, expires_after=expires_after
        )
        return self._run(making)

    def bad_rows(self, name: str, limit: int = 100, offset: int = 0) -> list[Mapping[str, Any]]:
        """Records that could not be used: file, line, reason, text."""
        return self._run(self._engine.sessions.bad_rows(self._scope(name), limit, offset))

    def update_rows(
        self, name: str, key: str, upsert: Sequence[Mapping[str, Json]] = (), delete: Sequence[Json] = ()
    ) -> Changed:
        """Change, add or delete single rows of a session by the value of their key column."""
        return self._run(self._engine.sessions.update(self._scope(name), key, upsert, delete))

    def run_plan(self, name: str, plan: Json) -> Answer:
        """Run a plan given as JSON over a session; it is checked against the table first."""
        return self._run(self._engine.sessions.run_plan(self._scope(name), plan))

    # ------------------------------------------------------------ graphs

    def create_node(self, node: Node, *, collection: str | None = None) -> Node:
        """Add a node to a graph, which is made if need be; an empty id is made up."""
        return self._run(self._engine.graph.create(self._scope(collection), node))

    def update_node(self, node_id: str, *, collection: str | None = None, **changes: Any) -> Node:
        """Change type, title, description, aliases or properties (as a whole) of a node."""
        return self._run(self._engine.graph.update(self._scope(collection), node_id, changes))

    def delete_node(self, node_id: str, *, collection: str | None = None) -> list[str]:
        """Take a node out with its edges; returns their ids."""
        return self._run(self._engine.graph.delete(self._scope(collection), node_id))

    def node(self, node_id: str, *, collection: str | None = None) -> Node:
        """One node."""
        return self._run(self._engine.graph.node(self._scope(collection), node_id))

    def nodes(
        self, collection: str | None = None, *, type: str | None = None, after: str = "", limit: int = 100
    ) -> list[Node]:
        """Nodes by id."""
        return self._run(self._engine.graph.nodes(self._scope(collection), type=type, after=after, limit=limit))

    def create_edge(self, edge: Edge, *, collection: str | None = None) -> Edge:
        """Add an edge between two nodes; an empty id is made of its ends and type."""
        return self._run(self._engine.graph.create_edge(self._scope(collection), edge))

    def update_edge(self, edge_id: str, *, collection: str | None = None, **changes: Any) -> Edge:
        """Change source, target, type or properties (as a whole) of an edge."""
        return self._run(self._engine.graph.update_edge(self._scope(collection), edge_id, changes))

    def delete_edge(self, edge_id: str, *, collection: str | None = None) -> None:
        """Take an edge out."""
        self._run(self._engine.graph.delete_edge(self._scope(collection), edge_id))

    def edges(self, collection: str | None = None, *, node: str | None = None, limit: int = 100) -> list[Edge]:
        """Edges by id; those of one node, if named."""
        return self._run(self._engine.graph.edges(self._scope(collection), node=node, limit=limit))

    def reconcile(self, collection: str | None = None, *, repair: bool = False) -> Reconciled:
        """Compare a graph with its index, and with `repair` make the index like the graph."""
        return self._run(self._engine.graph.reconcile(self._scope(collection), repair=repair))

    def backup(self, path: str | Path) -> Manifest:
        """Write everything into one file, which `kedge restore` puts back. It is there when it is whole."""
        stores = self._engine.stores
        return self._run(take_backup(self.settings, Path(path), vectors=stores.vectors, nodes=stores.nodes))

    # ------------------------------------------------------------ life

    def close(self) -> None:
        """Close the engine and stop the thread. Closing twice is fine."""
        if self._closed:
            return
        try:
            self._run(self._opened.__aexit__(None, None, None))
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

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            work.close()
            raise UsageError("This Kedge is closed.", hint="Open a new one: Kedge(home).")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _scope(self, collection: str | None) -> Scope:
        return Scope(DEFAULT_TENANT, collection or self.settings.collection)

    def _query(
        self,
        text: str,
        collection: str | None,
        top_k: int,
        *,
        include_graph: bool = True,
        topic: str | None = None,
        where: Mapping[str, Json] | None = None,
        session_id: str | None = None,
        threshold: float | None = None,
        rows: int | None = None,
    ) -> Query:
        return Query(
            text=text,
            scope=self._scope(collection),
            top_k=top_k,
            include_graph=include_graph,
            topic_filter=topic,
            where=from_mapping(where or {}),
            session_id=session_id,
            threshold=threshold,
            rows=rows,
        )


async def _next(events: AsyncIterator[StreamEvent]) -> StreamEvent | None:
    return await anext(events, None)


async def _finish(events: AsyncIterator[StreamEvent]) -> None:
    close = getattr(events, "aclose", None)
    if close is not None:
        await close()
