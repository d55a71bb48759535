"""The way out of one engine: every question goes the way of its collection's kind, completed from its conversation."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from kedge.answer.conversation.asking import Conversation, ask_in, stream_in
from kedge.answer.conversation.turns import Turns
from kedge.core.errors import QueryError
from kedge.core.values import Answer, Metadata, Query, SearchResult, StreamEvent
from kedge.engine.filter_fields import check_fields
from kedge.engine.kinds import OpenKinds
from kedge.kinds.passages import PassagesWayOut
from kedge.kinds.ports import Parts, TakesMore, WayOut
from kedge.retrieve.query import validate

log = logging.getLogger("kedge.queries")


class Questions:
    """Searches and answers. QueryError for a query that cannot be."""

    def __init__(self, parts: Parts, kinds: OpenKinds, turns: Turns | None) -> None:
        self._catalog = parts.stores.catalog
        self._most = parts.settings.max_top_k
        self._kinds = kinds
        self._recorder = parts.recorder
        self._conversation = Conversation(turns, parts.model, parts.stores.catalog)
        self._passages = PassagesWayOut(parts.retriever, parts.answerer)

    async def search(self, query: Query) -> SearchResult:
        """What was found, best first."""
        started = time.perf_counter()
        kind, way = await self._way(query)
        result = await way.search(query)
        await self._recorder.searched(query, result)
        _log(f"search kind={kind}", started, hits=len(result.hits))
        return result

    async def ask(self, query: Query) -> Answer:
        """A cited answer, or a refusal that says so."""
        started = time.perf_counter()
        kind, way = await self._way(query)
        answer = await ask_in(self._conversation, query, way)
        _log(f"query {answer.query_id} kind={kind} confidence={answer.confidence}", started, hits=len(answer.hits))
        return answer

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        """The answer in events."""
        started = time.perf_counter()
        kind, way = await self._way(query)
        async with aclosing(stream_in(self._conversation, query, way)) as events:
            async for event in events:
                if event.metadata is not None:
                    told = event.metadata
                    said = f"query {told.get('query_id')} kind={kind} confidence={told.get('confidence')}"
                    _log(said, started, hits=_found(told))
                yield event

    async def _way(self, query: Query) -> tuple[str, WayOut]:
        """The collection's kind and its way, once the query can be."""
        collection = await self._catalog.collections.get(query.scope)
        kind = "none" if collection is None else collection.kind
        way = self._passages if collection is None else self._kinds.of(collection).way_out
        if query.as_of is not None and (collection is None or not self._kinds.of(collection).keeps_past):
            raise QueryError(
                f"Collection {query.scope.collection!r} cannot be asked as of a time"
                + (", because it is not there." if collection is None else f": it holds {kind}."),
                hint="Superseded versions are kept of documents.",
            )
        validate(query, way.most if isinstance(way, TakesMore) else self._most)
        if query.where is not None and isinstance(way, PassagesWayOut):
            await check_fields(self._catalog, query.scope, query.where)
        return kind, way


def _found(metadata: Metadata) -> int:
    counts = [metadata.get(f"{channel}_result_count") for channel in ("vector", "keyword", "graph")]
    return max((count for count in counts if isinstance(count, int)), default=0)


def _log(said: str, started: float, *, hits: int) -> None:
    """One line for every question, without its words (G-30)."""
    log.info("%s ms=%.1f hits=%d", said, 1000 * (time.perf_counter() - started), hits)
