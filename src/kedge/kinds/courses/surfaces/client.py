"""What clients can call for courses: see `kedge.surfaces.client.calls`."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.core.outside import from_json
from kedge.core.values import Accepted, Json
from kedge.kinds.courses.values import (
    CourseHits,
    CourseState,
    Expansion,
    Lesson,
    LessonList,
    Prerequisites,
    WholeLesson,
)
from kedge.surfaces.client.endpoints import calls, reads, taken_in
from kedge.surfaces.client.wire import ClientCall, Upload, at


@calls("POST /api/courses/{book_id}/ingest")
def ingest_course(
    book_id: str, *sources: str, files: Sequence[Upload] = (), mode: str = "incremental"
) -> ClientCall[Accepted]:
    """Queue the lessons of a course."""
    return taken_in(at("/api/courses/{id}/ingest", id=book_id), sources, files, {"mode": mode})


@calls("POST /api/courses/search")
def search_course(text: str, *, book_id: str | None = None, limit: int = 5, **reader: Json) -> ClientCall[CourseHits]:
    """Passages for a reader, best first; `reader` is what the HTTP reference lists (`hardware_tier_filter`, …)."""
    return ClientCall(
        "POST",
        "/api/courses/search",
        reads(CourseHits),
        body={"text": text, "book_id": book_id, "limit": limit, **reader},
    )


@calls("GET /api/courses/{book_id}/state")
def course_state(book_id: str) -> ClientCall[CourseState]:
    """Which files the book was made of, with their hashes and passages, and when it was taken in."""
    return ClientCall("GET", at("/api/courses/{id}/state", id=book_id), reads(CourseState))


@calls("GET /api/courses/{book_id}/lessons")
def lessons(book_id: str, *, filters: Sequence[str] = ()) -> ClientCall[list[Lesson]]:
    """Lessons as they are taught."""
    path = at("/api/courses/{id}/lessons", id=book_id)
    return ClientCall("GET", path, lambda found: list(from_json(LessonList, found).lessons), {"filter": list(filters)})


@calls("GET /api/courses/{book_id}/lessons/{parent_doc_id}")
def lesson(book_id: str, lesson: str, *, filters: Sequence[str] = ()) -> ClientCall[WholeLesson]:
    """A lesson whole, by its id or its number."""
    path = at("/api/courses/{id}/lessons/{lesson}", id=book_id, lesson=lesson)
    return ClientCall("GET", path, reads(WholeLesson), {"filter": list(filters)})


@calls("GET /api/courses/{book_id}/lessons/{parent_doc_id}/prerequisites")
def prerequisites(book_id: str, lesson: str, *, filters: Sequence[str] = ()) -> ClientCall[Prerequisites]:
    """What must be known before a lesson, with the path to each."""
    path = at("/api/courses/{id}/lessons/{lesson}/prerequisites", id=book_id, lesson=lesson)
    return ClientCall("GET", path, reads(Prerequisites), {"filter": list(filters)})


@calls("GET /api/courses/{book_id}/passages/{passage_id}/context")
def expand(
    book_id: str, passage_id: str, *, max_tokens: int | None = None, filters: Sequence[str] = ()
) -> ClientCall[Expansion]:
    """A passage of a lesson with what stands around it."""
    path = at("/api/courses/{id}/passages/{passage}/context", id=book_id, passage=passage_id)
    return ClientCall("GET", path, reads(Expansion), {"max_tokens": max_tokens, "filter": list(filters)})
