"""The ways of every kind whose sources become passages: shared, so that such a kind says only how they are made."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from kedge.answer.pipeline import Answerer
from kedge.core.settings import Settings
from kedge.core.values import Answer, IngestPlan, IngestRequest, Json, Metadata, Query, SearchResult, StreamEvent
from kedge.ingest.batch import Target
from kedge.ingest.pipeline import Pipeline
from kedge.ingest.ports import PassageMaker
from kedge.ingest.tracker import JobTracker
from kedge.kinds.ports import IngestRun
from kedge.models.ports import Embedder
from kedge.retrieve.pipeline import Retriever
from kedge.stores.catalog.ports import Catalog


class PassagesWayIn:
    """Sources are found, read, cut, embedded, searched for concepts and made visible (`ingest.pipeline`)."""

    empties_itself = False

    def __init__(
        self, maker: PassageMaker, sole_document: Callable[[IngestRequest], str | None] = lambda _request: None
    ) -> None:
        self._maker = maker
        self._sole_document = sole_document

    def sole_document(self, request: IngestRequest) -> str | None:
        return self._sole_document(request)

    async def plan(
        self, catalog: Catalog, request: IngestRequest, embedder: Embedder, settings: Settings
    ) -> IngestPlan:
        from kedge.ingest.plan import planned  # wanted by few, and it loads what reads files

        return await planned(catalog, self._maker, request, embedder, settings)

    def run(self, target: Target, request: IngestRequest, tracker: JobTracker) -> IngestRun:
        return Pipeline(target, self._maker, request, tracker)


class OpensPast(Protocol):
    """Opens the way out as of an instant."""

    def open(self, query: Query, at: datetime) -> tuple[Query, Retriever, Answerer]:
        """The query as they take it, who finds, and who answers. QueryError where there is no such way."""

    def warnings(self, at: datetime) -> tuple[str, ...]:
        """What cannot be known of that time any more."""


class PassagesWayOut:
    """Retrieve, judge, quote, cite."""

    def __init__(self, retriever: Retriever, answerer: Answerer, past: OpensPast | None = None) -> None:
        """`past`: for kinds that keep superseded versions (`Kind.keeps_past`)."""
        self._retriever = retriever
        self._answerer = answerer
        self._past = past

    async def search(self, query: Query) -> SearchResult:
        if query.as_of is None or self._past is None:
            return await self._retriever.search(query)
        asked, retriever, _ = self._past.open(query, query.as_of)
        found = await retriever.search(asked)
        return replace(found, warnings=(*found.warnings, *self._past.warnings(query.as_of)))

    async def ask(self, query: Query) -> Answer:
        asked, answerer, warnings = self._answering(query)
        answer = await answerer.ask(asked)
        return replace(answer, metadata=_with_warnings(answer.metadata, warnings)) if warnings else answer

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        asked, answerer, warnings = self._answering(query)
        async with aclosing(answerer.stream(asked)) as events:
            async for event in events:
                told = event.metadata
                yield event if told is None or not warnings else replace(event, metadata=_with_warnings(told, warnings))

    def _answering(self, query: Query) -> tuple[Query, Answerer, tuple[str, ...]]:
        if query.as_of is None or self._past is None:
            return query, self._answerer, ()
        asked, _, answerer = self._past.open(query, query.as_of)
        return asked, answerer, self._past.warnings(query.as_of)


def _with_warnings(metadata: Metadata, warnings: Sequence[str]) -> dict[str, Json]:
    held = metadata.get("warnings")
    return {**metadata, "warnings": [*(held if isinstance(held, list) else ()), *warnings]}
