"""The way out of one engine: every question goes the way of its collection's kind, completed from its conversation."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from kedge.answer.conversation.asking import Conversation, ask_in, stream_in
from kedge.answer.conversation.turns import Turns
from kedge.core.values import MAX_TOP_K, Answer, Query, SearchResult, StreamEvent
from kedge.engine.kinds import OpenKinds
from kedge.kinds.passages import PassagesWayOut
from kedge.kinds.ports import Parts, TakesMore, WayOut
from kedge.retrieve.pipeline import validate


class Questions:
    """Searches and answers. QueryError for a query that cannot be."""

    def __init__(self, parts: Parts, kinds: OpenKinds, turns: Turns | None) -> None:
        self._catalog = parts.stores.catalog
        self._kinds = kinds
        self._conversation = Conversation(turns, parts.model)
        self._passages = PassagesWayOut(parts.retriever, parts.answerer)

    async def search(self, query: Query) -> SearchResult:
        """What was found, best first."""
        return await (await self._way(query)).search(query)

    async def ask(self, query: Query) -> Answer:
        """A cited answer, or a refusal that says so."""
        return await ask_in(self._conversation, query, await self._way(query))

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        """The answer in events."""
        async with aclosing(stream_in(self._conversation, query, await self._way(query))) as events:
            async for event in events:
                yield event

    async def _way(self, query: Query) -> WayOut:
        """The way of the collection's kind, once the query can be."""
        collection = await self._catalog.collections.get(query.scope)
        way = self._passages if collection is None else self._kinds.of(collection).way_out
        validate(query, way.most if isinstance(way, TakesMore) else MAX_TOP_K)
        return way
