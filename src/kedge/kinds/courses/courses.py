"""All that can be asked of courses: the way out of their collections, and their lessons, chains and prerequisites."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from kedge.answer.answerer import Answerer
from kedge.answer.compose import streamed
from kedge.answer.generate import Writer
from kedge.answer.judging import Judging
from kedge.config import Settings
from kedge.kinds.courses.asked import SHOWN_LESSONS, Heading, answer_of, heading_of, lessons_asked_about
from kedge.kinds.courses.needs import Needs, Prerequisites
from kedge.kinds.courses.query import Reader, course_query, in_course_terms
from kedge.kinds.courses.shelf import DEFAULT_TOKENS, Expansion, Lesson, Shelf, WholeLesson
from kedge.kinds.way import PassagesWay
from kedge.retrieve.pipeline import Retriever
from kedge.retrieve.ports import CollectionSource
from kedge.retrieve.record import Recorder
from kedge.stores.filters import Eq, Filter, all_of
from kedge.stores.opened import Stores
from kedge.types import Answer, Query, Scope, SearchResult, StreamEvent

MOST_LESSONS = 8
"""Lessons of one number in several modules that one answer speaks of."""


@dataclass(frozen=True, slots=True)
class CourseHits:
    """What a search in a course found."""

    result: SearchResult
    total_found: int
    """Passages that pass the filters, whatever the text."""
    reader: Reader
    book_id: str


class Courses:
    """The `WayOut` of courses, and more. A filter holds everywhere: in hits, along chains and along prerequisites."""

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        collections: CollectionSource,
        recorder: Recorder,
        *,
        judging: Judging,
        writer: Writer | None = None,
    ) -> None:
        retriever = Retriever(settings, stores, collections, rewritten=True)
        answerer = Answerer(settings, retriever, collections, recorder, judging=judging, writer=writer)
        self._passages = PassagesWay(retriever, answerer)
        self._collections = collections
        self._stores = stores
        self._recorder = recorder
        self._shelf = Shelf(stores)
        self._needs = Needs(stores, self._shelf)

    # ------------------------------------------------------------ the way out

    async def search(self, query: Query) -> SearchResult:
        return await self._passages.search(_adapted(query))

    async def ask(self, query: Query) -> Answer:
        query = _adapted(query)
        answer = await self._about_order(query) if query.include_graph else None
        return answer or await self._passages.ask(query)

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        query = _adapted(query)
        answer = await self._about_order(query) if query.include_graph else None
        if answer is not None:
            for event in streamed(answer):
                yield event
            return
        async with aclosing(self._passages.stream(query)) as events:
            async for event in events:
                yield event

    # ------------------------------------------------------------ lessons

    async def find(
        self, scope: Scope, text: str, reader: Reader | None = None, limit: int = 5, *, include_graph: bool = True
    ) -> CourseHits:
        """Passages for a reader, best first (C-11). QueryError, FilterError, NotFoundError."""
        reader = reader or Reader()
        query = course_query(scope, text, reader, limit, include_graph=include_graph)
        await self._shelf.require(scope)
        result = await self._passages.search(query)
        collection = await self._collections.get(scope)
        total = 0
        if collection.passages:
            total = await self._stores.vectors.count(collection.index_name, scope.tenant, query.where)
        return CourseHits(result, total, reader, scope.collection)

    async def lessons(self, scope: Scope, where: Filter | None = None) -> list[Lesson]:
        """All lessons that the filter shows, as they are taught. NotFoundError."""
        return await self._shelf.lessons(scope, in_course_terms(where))

    async def lesson(self, scope: Scope, reference: str, where: Filter | None = None) -> WholeLesson:
        """One lesson whole, by its parent id, number, title or file. NotFoundError, UsageError."""
        shown = in_course_terms(where)
        one = await self._needs.one(scope, reference, shown)
        return await self._shelf.lesson(scope, one.parent_doc_id, shown)

    async def expand(
        self, scope: Scope, passage_id: str, max_tokens: int = DEFAULT_TOKENS, where: Filter | None = None
    ) -> Expansion:
        """What stands around a passage, within a budget of tokens. NotFoundError."""
        return await self._shelf.expand(scope, passage_id, max_tokens, in_course_terms(where))

    async def prerequisites(self, scope: Scope, reference: str, where: Filter | None = None) -> Prerequisites:
        """What must be known before a lesson, with the path to each. NotFoundError, UsageError."""
        shown = in_course_terms(where)
        return await self._needs.before(scope, await self._needs.one(scope, reference, shown), shown)

    # ------------------------------------------------------------ questions about the order of learning

    async def _about_order(self, query: Query) -> Answer | None:
        """The answer from the graph; None for a question that is about something else."""
        started = time.perf_counter()
        topic = Eq("topic_tag", query.topic_filter) if query.topic_filter is not None else None
        where = all_of(topic, query.where)
        asked = lessons_asked_about(query.text, await self._shelf.lessons(query.scope, where))
        if not asked:
            return None
        found = [await self._needs.before(query.scope, lesson, where) for lesson in asked[:MOST_LESSONS]]
        answer = answer_of(found, await self._headings(query.scope, found))
        elapsed = 1000 * (time.perf_counter() - started)
        answer = replace(answer, metadata={**answer.metadata, "latency_ms": round(elapsed, 2)})
        await self._recorder.record(query, SearchResult(query.text, (), {"graph": elapsed}), answer, elapsed)
        return answer

    async def _headings(self, scope: Scope, found: Sequence[Prerequisites]) -> dict[str, Heading]:
        wanted = {one.lesson.parent_doc_id: None for one in found}
        wanted |= {need.lesson.parent_doc_id: None for one in found for need in one.needed[:SHOWN_LESSONS]}
        headings: dict[str, Heading] = {}
        for key in wanted:
            first = await self._stores.catalog.passages.of_document(scope.tenant, key, first=0, last=0)
            if first:
                headings[key] = heading_of(first[0])
        return headings


def _adapted(query: Query) -> Query:
    return replace(query, where=in_course_terms(query.where))
