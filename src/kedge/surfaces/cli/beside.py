"""A home that another process has: commands use its engine through the socket in the home, or wait for its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kedge.core.acting import AS, actor
from kedge.core.errors import HomeBusyError, StoreError
from kedge.core.values import (
    Answer,
    Collection,
    ConnectedSource,
    Document,
    IngestRequest,
    Job,
    Json,
    Passage,
    Query,
    Scope,
    SearchResult,
    StreamEvent,
)
from kedge.core.values.filters import to_terms
from kedge.engine.home import Lasts

if TYPE_CHECKING:
    from kedge.core.settings import Settings
    from kedge.engine.engine import Engine

AGAIN = 0.1
"""Seconds until a home that was in use is tried again."""
Note = Callable[[str], None]


class Answers(Protocol):
    """What commands that ask need of an engine, in this process or in another."""

    settings: Settings

    async def search(self, query: Query) -> SearchResult:
        """Passages for the query, best first."""

    async def ask(self, query: Query) -> Answer:
        """An answer, or a refusal that says so."""

    def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        """The answer in events."""

    async def ingest(self, request: IngestRequest, on_progress: Callable[[Job], None] | None = None) -> Job:
        """Take everything in and return the ended job."""

    async def sync_source(
        self, tenant: str, name: str, on_progress: Callable[[Job], None] | None = None, *, confirm: bool = False
    ) -> Job:
        """Bring a collection in step with a source and return the ended job."""

    async def source(self, tenant: str, name: str) -> ConnectedSource:
        """A source, as it stands now. NotFoundError."""

    async def remove_source(self, tenant: str, name: str, *, documents: bool = False) -> None:
        """Forget a source, and with `documents` what came from it alone. NotFoundError."""

    async def settle(self) -> None:
        """Wait for what is done behind an ingest."""

    async def delete_document(self, tenant: str, document_id: str) -> Document:
        """Take a document out; returns what is left of it."""

    def start_worker(self) -> None:
        """Run queued jobs until closed, unless another process does."""

    async def collections(self, tenant: str) -> list[Collection]:
        """All collections of the tenant, by name."""

    async def documents(self, scope: Scope, *, limit: int = 100, offset: int = 0) -> list[Document]:
        """Documents of a collection, by url. NotFoundError."""

    async def document(self, tenant: str, document_id: str) -> tuple[Document, list[Passage]]:
        """One document with its passages in order. NotFoundError."""

    async def passage(self, scope: Scope, passage_id: str, beside: int = 1) -> tuple[Document, list[Passage]]:
        """A passage among those beside it, and its document. NotFoundError."""


class Elsewhere:
    """The engine of the process that has the home."""

    def __init__(self, settings: Settings, socket: str) -> None:
        import httpx

        from kedge.surfaces.client.clients import AsyncKedgeClient

        self.settings = settings
        who = actor()
        said = {} if who is None else {AS: ",".join(who.principals)}
        self._client = AsyncKedgeClient(
            "http://127.0.0.1",
            timeout=settings.request_timeout or 60.0,
            transport=httpx.AsyncHTTPTransport(uds=socket),
            headers=said,
        )

    async def search(self, query: Query) -> SearchResult:
        return await self._client.search(query.text, **_question(query))

    async def ask(self, query: Query) -> Answer:
        return await self._client.ask(query.text, **_turn(query))

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        async for event in self._client.stream(query.text, **_turn(query)):
            yield event

    async def ingest(self, request: IngestRequest, on_progress: Callable[[Job], None] | None = None) -> Job:
        accepted = await self._client.ingest(
            *(_absolute(source) for source in request.sources),
            collection=request.scope.collection,
            kind=request.kind,
            mode=request.mode.value,
            topic=request.topic,
            title=request.title,
            format=request.format,
            metadata=request.metadata,
            options=request.options,
            readers=request.readers,
        )
        return await self._client.wait(accepted.job_id, on_progress=on_progress)

    async def sync_source(
        self,
        tenant: str,  # noqa: ARG002 (the home's own)
        name: str,
        on_progress: Callable[[Job], None] | None = None,
        *,
        confirm: bool = False,
    ) -> Job:
        accepted = await self._client.sync_source(name, confirm=confirm)
        return await self._client.wait(accepted.job_id, on_progress=on_progress)

    async def source(self, tenant: str, name: str) -> ConnectedSource:  # noqa: ARG002 (the home's own)
        return await self._client.source(name)

    async def remove_source(self, tenant: str, name: str, *, documents: bool = False) -> None:  # noqa: ARG002
        await self._client.remove_source(name, documents=documents)

    async def settle(self) -> None:
        """The other process looks after it."""

    async def delete_document(self, tenant: str, document_id: str) -> Document:  # noqa: ARG002 (the home's own)
        return await self._client.delete_document(document_id)

    def start_worker(self) -> None:
        """The other process has one."""

    async def collections(self, tenant: str) -> list[Collection]:  # noqa: ARG002 (the home's own)
        return await self._client.collections()

    async def documents(self, scope: Scope, *, limit: int = 100, offset: int = 0) -> list[Document]:
        return await self._client.documents(collection=scope.collection, limit=limit, offset=offset)

    async def document(self, tenant: str, document_id: str) -> tuple[Document, list[Passage]]:  # noqa: ARG002
        document, passages = await self._client.document(document_id)
        return document, list(passages)

    async def passage(self, scope: Scope, passage_id: str, beside: int = 1) -> tuple[Document, list[Passage]]:
        found = await self._client.passage(passage_id, collection=scope.collection, beside=beside)
        return found.document, list(found.passages)

    async def answers(self) -> bool:
        """Whether somebody is there."""
        try:
            await self._client.health()
        except StoreError:
            return False
        return True

    async def close(self) -> None:
        """Let go of the connection."""
        await self._client.close()


@asynccontextmanager
async def held(settings: Settings, lasts: Lasts, note: Note, *, reached: bool = True) -> AsyncIterator[Engine]:
    """The engine, once the home is free. HomeBusyError at once where another process stays until it is stopped.

    `reached`: others may ask it meanwhile, unless it lasts shortly.
    """
    async with AsyncExitStack() as stack:
        while True:
            try:
                engine = await _open(stack, settings, lasts, reached=reached)
            except HomeBusyError as busy:
                if Lasts(str(busy.details["lasts"])).stays:
                    raise
                note = await _wait(busy, note)
            else:
                yield engine
                return


@asynccontextmanager
async def asked(settings: Settings, lasts: Lasts, note: Note) -> AsyncIterator[Answers]:
    """The engine, here or in the process that has the home; waits for one that cannot be reached.

    What `lasts` is done by a process that runs queued jobs, or here. HomeBusyError where it cannot be.
    """
    async with AsyncExitStack() as stack:
        while True:
            try:
                engine: Answers = await _open(stack, settings, lasts)
            except HomeBusyError as busy:
                theirs = Lasts(str(busy.details["lasts"]))
                served = lasts is Lasts.SHORTLY or theirs is Lasts.WORKING
                there = await _reached(stack, settings, busy.details["socket"]) if served else None
                if there is None:
                    if theirs.stays and not served:
                        raise
                    note = await _wait(busy, note)
                    continue
                engine = there
            yield engine
            return


async def _open(stack: AsyncExitStack, settings: Settings, lasts: Lasts, *, reached: bool = True) -> Engine:
    from kedge.engine.engine import Engine

    engine = await stack.enter_async_context(Engine.open(settings, lasts=lasts))
    if reached and lasts is not Lasts.SHORTLY:
        from kedge.surfaces.server.beside import reachable

        await stack.enter_async_context(reachable(settings, engine, lasts))
    return engine


async def _reached(stack: AsyncExitStack, settings: Settings, socket: Json) -> Elsewhere | None:
    """The engine behind the socket; None when it has just gone."""
    if not isinstance(socket, str):
        return None
    there = Elsewhere(settings, socket)
    if not await there.answers():
        await there.close()
        return None
    stack.push_async_callback(there.close)
    return there


async def _wait(busy: HomeBusyError, note: Note) -> Note:
    """Say once that somebody is waited for, and wait a little; what comes back says nothing more."""
    pid = busy.details["pid"]
    note(f"waiting for another kedge command on this home{f' (pid {pid})' if pid else ''} …")
    await asyncio.sleep(AGAIN)
    return lambda _text: None


def _question(query: Query) -> dict[str, Any]:
    return {
        "collection": query.scope.collection,
        "top_k": query.top_k if query.top_k_given else None,
        "include_graph": query.include_graph,
        "topic": query.topic_filter,
        "where": to_terms(query.where) if query.where else None,
        "as_of": query.as_of,
    }


def _turn(query: Query) -> dict[str, Any]:
    return {**_question(query), "session_id": query.session_id, "reading": query.reading}


def _absolute(source: str) -> str:
    return source if "://" in source else str(Path(source).absolute())
