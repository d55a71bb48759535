"""The way out of a collection: how questions to it are searched and answered."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol, runtime_checkable

from kedge.answer.answerer import Answerer
from kedge.retrieve.pipeline import Retriever
from kedge.types import Answer, Query, SearchResult, StreamEvent


class WayOut(Protocol):
    """Answers questions to collections of one kind. The query has been validated."""

    async def search(self, query: Query) -> SearchResult:
        """What was found, best first."""

    async def ask(self, query: Query) -> Answer:
        """A cited answer, or a refusal that says so."""

    def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        """The answer in events: tokens, citations, metadata, done."""


@runtime_checkable
class TakesMore(Protocol):
    """A way out that gives more than the usual number of results."""

    @property
    def most(self) -> int:
        """Largest top_k."""


class PassagesWay:
    """The way of every kind whose sources become passages: retrieve, judge, quote, cite."""

    def __init__(self, retriever: Retriever, answerer: Answerer) -> None:
        self._retriever = retriever
        self._answerer = answerer

    async def search(self, query: Query) -> SearchResult:
        return await self._retriever.search(query)

    async def ask(self, query: Query) -> Answer:
        return await self._answerer.ask(query)

    def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        return self._answerer.stream(query)
