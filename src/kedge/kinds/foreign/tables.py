"""Foreign tables at work: each is opened and measured once, before it is asked for the first time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from kedge.answer.judge.verdict import Judging
from kedge.answer.pipeline import Answerer
from kedge.core.errors import NotFoundError, StoreError
from kedge.core.values import Answer, Query, Scope, SearchResult, StreamEvent
from kedge.kinds.foreign.measuring import measure
from kedge.kinds.foreign.rows import ForeignCollections, ForeignSource, foreign_stores
from kedge.kinds.foreign.way_in import ForeignWayIn
from kedge.kinds.ports import Kind, OpenKind, Parts
from kedge.retrieve.pipeline import Retriever
from kedge.stores.ports import ForeignTable
from kedge.stores.registry import FOREIGN

_HINT = " The address that is kept has no password: set source_password (KEDGE_SOURCE_PASSWORD)."


@dataclass(frozen=True, slots=True)
class _AskedTable:
    """What finds and answers from one table."""

    key: tuple[str, str]
    """Address and embedder: with another one it is opened anew."""
    table: ForeignTable
    retriever: Retriever
    answerer: Answerer


class ForeignWayOut:
    """Search, read, judge and cite as over passages, with the table in their place."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._open: dict[Scope, _AskedTable] = {}
        self._opening = asyncio.Lock()

    async def search(self, query: Query) -> SearchResult:
        asked = await self._asked(query.scope)
        return await asked.retriever.search(_plain(query))

    async def ask(self, query: Query) -> Answer:
        asked = await self._asked(query.scope)
        return await asked.answerer.ask(_plain(query))

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        asked = await self._asked(query.scope)
        async with aclosing(asked.answerer.stream(_plain(query))) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """Release the tables' connections."""
        while self._open:
            await self._open.popitem()[1].table.close()

    async def _asked(self, scope: Scope) -> _AskedTable:
        parts = self._parts
        collection = await parts.collections.get(scope)
        held = await parts.stores.catalog.documents.page(scope, limit=1)
        if not held or held[0].live_version is None:
            raise NotFoundError(
                f"Collection {scope.collection!r} does not know its table.",
                hint=f"Run `kedge ingest iris://USER@HOST/NAMESPACE --kind foreign --collection {scope.collection}`.",
            )
        key = (held[0].url, collection.embedder)
        async with self._opening:
            known = self._open.get(scope)
            if known is not None and known.key == key:
                return known
            if known is not None:
                await self._open.pop(scope).table.close()
            self._open[scope] = opened = await self._opened(scope, key)
        return opened

    async def _opened(self, scope: Scope, key: tuple[str, str]) -> _AskedTable:
        parts = self._parts
        collection = await parts.collections.get(scope)
        embedder = await parts.collections.embedder_of(collection)
        table = FOREIGN.open(key[0], parts.settings)
        try:
            measured = await measure(table, collection, embedder)
        except StoreError as error:
            await table.close()
            if parts.settings.source_password is None:
                error.hint += _HINT
            raise
        source = ForeignSource(table, collection, embedder, measured)
        stores, collections = foreign_stores(parts.stores, source), ForeignCollections(parts.collections, source)
        retriever = Retriever(parts.settings, stores, collections)
        judging = Judging(parts.settings, stores, collections)
        answerer = Answerer(
            parts.settings, retriever, collections, parts.recorder, judging=judging, writer=parts.writer
        )
        return _AskedTable(key, table, retriever, answerer)


class Foreign(OpenKind):
    """The kind at work."""

    def __init__(self, kind: Kind[Foreign], parts: Parts) -> None:
        self._way_out = ForeignWayOut(parts)
        super().__init__(kind, ForeignWayIn(), self._way_out)

    async def close(self) -> None:
        await self._way_out.close()


def _plain(query: Query) -> Query:
    """No concept graph is made of what is never read as a whole."""
    return replace(query, include_graph=False)
