"""Courses: take lessons in, search for a reader, show lessons, what is around a passage, and what a lesson needs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi import Request as HttpRequest

from kedge.core.errors import FilterError
from kedge.core.values import Accepted, Scope
from kedge.core.values.filters import Filter, parse_terms
from kedge.kinds.courses.kind import KIND
from kedge.kinds.courses.shelf import DEFAULT_TOKENS
from kedge.kinds.courses.surfaces.bodies import CourseSearchRequest
from kedge.kinds.courses.surfaces.opened import courses_of
from kedge.kinds.courses.values import CourseHits, CourseState, Expansion, LessonList, Prerequisites, WholeLesson
from kedge.surfaces.server.deps import CallerDep, EngineDep, MetricsDep, SettingsDep, TenantDep, writer
from kedge.surfaces.server.routes.ingest import BODY_DOC, take_in

router = APIRouter(prefix="/api/courses", tags=["courses"])


FilterParam = Annotated[
    list[str] | None,
    Query(alias="filter", description="`hardware_tier<=2`, `module=1`, `proficiency_level=A1,A2`; all must hold."),
]
BudgetParam = Annotated[int, Query(description="Tokens for the passage and its neighbours.")]


@router.post(
    "/{book_id}/ingest",
    status_code=202,
    summary="Take a course in",
    openapi_extra=BODY_DOC,
    dependencies=[Depends(writer)],
)
async def ingest_course(
    *,
    book_id: str,
    request: HttpRequest,
    engine: EngineDep,
    settings: SettingsDep,
    caller: CallerDep,
    metrics: MetricsDep,
) -> Accepted:
    """Queue the lessons of a course: folders, addresses, or files as multipart/form-data. The job shows how it goes."""
    return await take_in(request, engine, settings, caller, metrics, collection=book_id, kind=KIND.name)


@router.post("/search", summary="Search a course")
async def search_course(
    body: CourseSearchRequest, engine: EngineDep, settings: SettingsDep, tenant: TenantDep
) -> CourseHits:
    """Passages for a reader, best first."""
    scope = Scope(tenant, body.book_id or settings.collection)
    return await courses_of(engine).find(scope, body.text, body.reader(), body.limit, include_graph=body.include_graph)


@router.get("/{book_id}/state", summary="Ingestion state of a course")
async def show_state(book_id: str, engine: EngineDep, tenant: TenantDep) -> CourseState:
    """Which files the book was made of, with their hashes and passages, and when it was taken in."""
    return await courses_of(engine).state(Scope(tenant, book_id))


@router.get("/{book_id}/lessons", summary="List lessons")
async def list_lessons(book_id: str, engine: EngineDep, tenant: TenantDep, filters: FilterParam = None) -> LessonList:
    """All lessons that the filter shows, as they are taught."""
    found = await courses_of(engine).lessons(Scope(tenant, book_id), _where(filters))
    return LessonList(tuple(found))


@router.get("/{book_id}/lessons/{parent_doc_id}", summary="Show a lesson")
async def show_lesson(
    book_id: str, parent_doc_id: str, engine: EngineDep, tenant: TenantDep, filters: FilterParam = None
) -> WholeLesson:
    """A lesson whole, by its id or its number, its passages in order."""
    return await courses_of(engine).lesson(Scope(tenant, book_id), parent_doc_id, _where(filters))


@router.get(
    "/{book_id}/lessons/{parent_doc_id}/prerequisites",
    summary="What must be known before a lesson",
)
async def show_prerequisites(
    book_id: str, parent_doc_id: str, engine: EngineDep, tenant: TenantDep, filters: FilterParam = None
) -> Prerequisites:
    """From the graph, in learning order, with the path to each."""
    return await courses_of(engine).prerequisites(Scope(tenant, book_id), parent_doc_id, _where(filters))


@router.get("/{book_id}/passages/{passage_id}/context", summary="Expand a passage")
async def expand_passage(
    *,
    book_id: str,
    passage_id: str,
    engine: EngineDep,
    tenant: TenantDep,
    max_tokens: BudgetParam = DEFAULT_TOKENS,
    filters: FilterParam = None,
) -> Expansion:
    """The passage with what stands before and after it in its lesson, within a budget of tokens."""
    return await courses_of(engine).expand(Scope(tenant, book_id), passage_id, max_tokens, _where(filters))


def _where(filters: list[str] | None) -> Filter | None:
    if filters and len(filters) > 50:
        raise FilterError("Too many filters.", hint="Use at most 50.")
    return parse_terms(filters or [])
