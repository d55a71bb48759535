"""The ways of every kind whose sources become passages: shared, so that such a kind says only how they are made."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from kedge.answer.pipeline import Answerer
from kedge.core.settings import Settings
from kedge.core.values import Answer, IngestPlan, IngestRequest, Query, SearchResult, StreamEvent
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


class PassagesWayOut:
    """Retrieve, judge, quote, cite."""

    def __init__(self, retriever: Retriever, answerer: Answerer) -> None:
        self._retriever = retriever
        self._answerer = answerer

    async def search(self, query: Query) -> SearchResult:
        return await self._retriever.search(query)

    async def ask(self, query: Query) -> Answer:
        return await self._answerer.ask(query)

    def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        return self._answerer.stream(query)
