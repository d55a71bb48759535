"""All that can be asked of courses: the way out of their collections, and their lessons, chains and prerequisites."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from kedge.answer.compose.events import streamed
from kedge.answer.pipeline import Answerer
from kedge.core.values import Answer, Query, Scope, SearchResult, StreamEvent
from kedge.core.values.filters import Eq, Filter, all_of
from kedge.kinds.courses.asking import StructureQuestion, structure_asked
from kedge.kinds.courses.learning import SHOWN_LESSONS, Heading, answer_of, heading_of, lessons_asked_about
from kedge.kinds.courses.needs import Needs
from kedge.kinds.courses.query import Learner, course_query, for_reader, in_course_terms
from kedge.kinds.courses.shelf import DEFAULT_TOKENS, Shelf
from kedge.kinds.courses.state import course_state
from kedge.kinds.courses.structure import LISTED, answered, following
from kedge.kinds.courses.values import CourseHits, CourseState, Expansion, Lesson, Prerequisites, WholeLesson
from kedge.kinds.courses.way_in import LessonMaker
from kedge.kinds.passages import PassagesWayIn, PassagesWayOut
from kedge.kinds.ports import Kind, OpenKind, Parts
from kedge.retrieve.pipeline import Retriever
from kedge.stores.narrowing import narrowing

MOST_LESSONS = 8
"""Lessons of one number in several modules that one answer speaks of."""


class CoursesWayOut:
    """Searches and answers like documents, and from the graph where a question is about the order of learning."""

    def __init__(self, parts: Parts, shelf: Shelf, needs: Needs) -> None:
        retriever = Retriever(parts.settings, parts.stores, parts.collections, rewritten=True)
        answerer = Answerer(
            parts.settings, retriever, parts.collections, parts.recorder, judging=parts.judging, writer=parts.writer
        )
        self._passages = PassagesWayOut(retriever, answerer)
        self._stores = parts.stores
        self._recorder = parts.recorder
        self._shelf = shelf
        self._needs = needs

    async def search(self, query: Query) -> SearchResult:
        return await self.within(_adapted(query))

    async def within(self, query: Query) -> SearchResult:
        """Search with a filter that is in a course's terms already."""
        return await self._passages.search(query)

    async def ask(self, query: Query) -> Answer:
        query = await self._narrowed(_adapted(query))
        answer = await self._about_order(query) if query.include_graph else None
        return answer or await self._passages.ask(query)

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        query = await self._narrowed(_adapted(query))
        answer = await self._about_order(query) if query.include_graph else None
        if answer is not None:
            for event in streamed(answer):
                yield event
            return
        async with aclosing(self._passages.stream(query)) as events:
            async for event in events:
                yield event

    async def _about_order(self, query: Query) -> Answer | None:
        """The answer from the graph; None for a question that is about something else."""
        started = time.perf_counter()
        topic = Eq("topic_tag", query.topic_filter) if query.topic_filter is not None else None
        where = all_of(topic, query.where)
        lessons = await self._shelf.lessons(query.scope, where)
        structure = structure_asked(query.text, lessons)
        answer = await self._about_structure(query.scope, structure, where, lessons) if structure is not None else None
        if answer is None:
            before = structure.lessons if structure is not None and structure.part == "before" else ()
            asked = list(before) or lessons_asked_about(query.text, lessons)
            if not asked:
                return None
            found = [await self._needs.before(query.scope, lesson, where) for lesson in asked[:MOST_LESSONS]]
            answer = answer_of(found, await self._headings(query.scope, found))
        elapsed = 1000 * (time.perf_counter() - started)
        answer = replace(answer, metadata={**answer.metadata, "latency_ms": round(elapsed, 2)})
        await self._recorder.record(
            query, SearchResult(query.text, (), {"graph": elapsed}, strategy="graph_only"), answer, elapsed
        )
        return answer

    async def _narrowed(self, query: Query) -> Query:
        """A question for the sum of one lesson is asked of that lesson alone, by its title."""
        asked = structure_asked(query.text, await self._shelf.lessons(query.scope, query.where))
        if asked is None or asked.part != "summary" or len(asked.lessons) != 1:
            return query
        (lesson,) = asked.lessons
        where = all_of(query.where, Eq("parent_doc_id", lesson.parent_doc_id))
        return replace(query, text=f"Summarise {lesson.title}", where=where)

    async def _about_structure(
        self, scope: Scope, asked: StructureQuestion, where: Filter | None, lessons: Sequence[Lesson]
    ) -> Answer | None:
        """The answer from the order of lessons; None where their texts or prerequisites are asked for."""
        if asked.part == "before" or (asked.part == "summary" and len(asked.lessons) == 1):
            return None
        paired = asked.part in ("needed", "spared")
        needs = await self._needs.before(scope, asked.lessons[1], where) if paired else None
        spoken = [*asked.lessons, *asked.shown(lessons)[: LISTED if asked.part == "lessons" else 1]]
        spoken += asked.shown(lessons)[-1:]
        spoken += [after for one in asked.lessons if (after := following(one, lessons)) is not None]
        headings = await self._heads(scope, [one.parent_doc_id for one in spoken])
        return answered(asked, lessons, headings, needs)

    async def _headings(self, scope: Scope, found: Sequence[Prerequisites]) -> dict[str, Heading]:
        wanted = {one.lesson.parent_doc_id: None for one in found}
        wanted |= {need.lesson.parent_doc_id: None for one in found for need in one.needed[:SHOWN_LESSONS]}
        return await self._heads(scope, list(wanted))

    async def _heads(self, scope: Scope, wanted: Sequence[str]) -> dict[str, Heading]:
        headings: dict[str, Heading] = {}
        for key in dict.fromkeys(wanted):
            first = await self._stores.catalog.passages.of_document(scope.tenant, key, first=0, last=0)
            if first:
                headings[key] = heading_of(first[0])
        return headings


class Courses(OpenKind):
    """All that can be asked of courses. A filter holds everywhere: in hits, along chains and along prerequisites."""

    def __init__(self, kind: Kind[Courses], parts: Parts) -> None:
        self._stores = parts.stores
        self._collections = parts.collections
        self._recorder = parts.recorder
        self._shelf = Shelf(parts.stores)
        self._needs = Needs(parts.stores, self._shelf)
        maker = LessonMaker()
        self._found = CoursesWayOut(parts, self._shelf, self._needs)
        super().__init__(kind, PassagesWayIn(maker), self._found, relates=maker)

    async def find(
        self, scope: Scope, text: str, reader: Learner | None = None, limit: int = 5, *, include_graph: bool = True
    ) -> CourseHits:
        """Passages for a reader, best first (C-11). QueryError, FilterError, NotFoundError."""
        reader = reader or Learner()
        query = course_query(scope, text, reader, limit, include_graph=include_graph)
        await self._shelf.require(scope)
        result = await self._found.within(query)
        collection = await self._collections.get(scope)
        total = 0
        if collection.passages:
            where = all_of(query.where, await narrowing(self._stores.catalog, scope))
            total = await self._stores.vectors.count(collection.index_name, scope.tenant, where)
        await self._recorder.searched(query, result)
        return CourseHits(result, total, reader, scope.collection)

    async def state(self, scope: Scope) -> CourseState:
        """Which files the book was made of, what became of each, and when. NotFoundError."""
        return await course_state(self._stores, self._shelf, scope)

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


def _adapted(query: Query) -> Query:
    return replace(query, where=for_reader(in_course_terms(query.where)))
