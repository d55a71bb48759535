"""Courses: take lessons in, search for a reader, show lessons, what is around a passage, and what a lesson needs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi import Request as HttpRequest
from pydantic import AliasChoices, BaseModel, Field

from kedge.errors import FilterError
from kedge.kinds.courses.query import Reader
from kedge.kinds.courses.shapes import expansion_json, hits_json, lesson_json, prerequisites_json, whole_json
from kedge.kinds.courses.shelf import DEFAULT_TOKENS
from kedge.server.deps import CallerDep, EngineDep, MetricsDep, SettingsDep, TenantDep, writer
from kedge.server.models import AcceptedOut, JsonObject, Request
from kedge.server.routes.ingest import BODY_DOC, take_in
from kedge.stores.filters import Filter, parse_terms
from kedge.types import Scope

router = APIRouter(prefix="/api/courses", tags=["courses"])


class CourseSearchRequest(Request):
    """A search for a reader. All conditions hold together."""

    text: str = Field(
        validation_alias=AliasChoices("text", "query"),
        description="What to look for, 3 characters at least.",
        examples=["How do frames move?"],
    )
    book_id: str | None = Field(
        None,
        validation_alias=AliasChoices("book_id", "bookId", "collection"),
        description="The course; the server's default collection if not given.",
    )
    hardware_tier_filter: int = Field(
        1,
        validation_alias=AliasChoices("hardware_tier_filter", "hardwareTierFilter", "hardware_tier", "hardwareTier"),
        description="Highest hardware tier that the reader has, 1–4; lessons that need more are not shown.",
    )
    module_filter: str | int | None = Field(
        None, validation_alias=AliasChoices("module_filter", "moduleFilter", "module"), description="Only this module."
    )
    chapter_min: int | None = Field(None, description="From this chapter on, 0–20.")
    chapter_max: int | None = Field(None, description="Up to this chapter, 0–20.")
    lesson_filter: int | None = Field(
        None,
        validation_alias=AliasChoices("lesson_filter", "lessonFilter", "lesson"),
        description="Only lessons with this number, 0–15.",
    )
    proficiency_levels: list[str] | None = Field(None, description="Any of A1, A2, B1, B2, C1, C2.")
    layer_filter: str | None = Field(
        None, validation_alias=AliasChoices("layer_filter", "layerFilter", "layer"), description="L1, L2, L3 or L4."
    )
    parent_doc_id: str | None = Field(None, description="Only the lesson with this id.")
    limit: int = Field(5, description="How many passages, 1–20.")
    include_graph: bool = Field(True, description="Search through the graph too.")

    def reader(self) -> Reader:
        """The conditions."""
        return Reader(
            hardware_tier=self.hardware_tier_filter,
            module=None if self.module_filter is None else str(self.module_filter),
            chapter_min=self.chapter_min,
            chapter_max=self.chapter_max,
            lesson=self.lesson_filter,
            proficiency_levels=tuple(self.proficiency_levels or ()),
            layer=self.layer_filter,
            parent_doc_id=self.parent_doc_id,
        )


class ChunkOut(BaseModel):
    """A passage of a lesson."""

    id: str
    text: str
    book_id: str
    title: str
    source_file: str
    section_title: str | None
    module: str
    chapter: int
    lesson: int
    hardware_tier: int
    proficiency_level: str
    layer: str
    chunk_index: int
    total_chunks: int
    parent_doc_id: str
    prev_chunk_id: str | None
    next_chunk_id: str | None
    content_hash: str
    source_file_hash: str
    word_count: int
    token_count: int
    char_count: int
    version: int
    created_at: str
    updated_at: str
    start: int = Field(description="Offset of the passage in the lesson's file.")
    end: int


class CourseHitOut(ChunkOut):
    """A passage that was found."""

    rank: int
    score: float = Field(description="0–1, the best first.")


class CourseSearchOut(BaseModel):
    """What was found for a reader."""

    query: str
    results: list[CourseHitOut]
    total_found: int = Field(description="Passages that pass the filters, whatever the text.")
    hardware_tier_filter: int
    module_filter: str | None
    book_id: str
    warnings: list[str]


class LessonOut(BaseModel):
    """A lesson."""

    parent_doc_id: str
    module: str
    chapter: int
    lesson: int
    title: str
    hardware_tier: int
    proficiency_level: str
    layer: str
    source_file: str
    total_chunks: int
    prerequisites: list[str] | None = Field(description="As written; null when the lesson says nothing about them.")


class LessonsOut(BaseModel):
    """The lessons of a course, as they are taught."""

    lessons: list[LessonOut]


class WholeLessonOut(LessonOut):
    """A lesson with its passages in order."""

    chunks: list[ChunkOut]


class ExpansionOut(BaseModel):
    """A passage and what stands around it."""

    passage_id: str
    token_count: int
    complete: bool = Field(description="Whether the whole lesson is there.")
    chunks: list[ChunkOut]


class NeededOut(LessonOut):
    """A lesson that must be known."""

    direct: bool = Field(description="Whether the lesson itself names it.")
    why: str = Field(description="`stated` in front matter, or by the `order` of lessons.")
    path: list[JsonObject] = Field(description="From the lesson asked about to this one.")


class PrerequisitesOut(BaseModel):
    """What must be known before a lesson, in an order in which it can be learned."""

    lesson: LessonOut
    needed: list[NeededOut]
    modules: list[str] = Field(description="Modules that are needed as a whole.")
    outside: list[str] = Field(description="What is named and is no lesson of this course.")
    hidden: int = Field(description="Lessons that are needed too but that the filter leaves out.")


FilterParam = Annotated[
    list[str] | None,
    Query(alias="filter", description="`hardware_tier<=2`, `module=1`, `proficiency_level=A1,A2`; all must hold."),
]
BudgetParam = Annotated[int, Query(description="Tokens for the passage and its neighbours.")]


@router.post(
    "/{book_id}/ingest",
    status_code=202,
    summary="Take a course in",
    response_model=AcceptedOut,
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
) -> dict[str, Any]:
    """Queue the lessons of a course: folders, addresses, or files as multipart/form-data. The job shows how it goes."""
    return await take_in(request, engine, settings, caller, metrics, collection=book_id, kind="course")


@router.post("/search", summary="Search a course", response_model=CourseSearchOut)
async def search_course(
    body: CourseSearchRequest, engine: EngineDep, settings: SettingsDep, tenant: TenantDep
) -> dict[str, Any]:
    """Passages for a reader, best first."""
    scope = Scope(tenant, body.book_id or settings.collection)
    return hits_json(
        await engine.courses.find(scope, body.text, body.reader(), body.limit, include_graph=body.include_graph)
    )


@router.get("/{book_id}/lessons", summary="List lessons", response_model=LessonsOut)
async def list_lessons(
    book_id: str, engine: EngineDep, tenant: TenantDep, filters: FilterParam = None
) -> dict[str, Any]:
    """All lessons that the filter shows, as they are taught."""
    found = await engine.courses.lessons(Scope(tenant, book_id), _where(filters))
    return {"lessons": [lesson_json(lesson) for lesson in found]}


@router.get("/{book_id}/lessons/{parent_doc_id}", summary="Show a lesson", response_model=WholeLessonOut)
async def show_lesson(
    book_id: str, parent_doc_id: str, engine: EngineDep, tenant: TenantDep, filters: FilterParam = None
) -> dict[str, Any]:
    """A lesson whole, by its id or its number, its passages in order."""
    return whole_json(await engine.courses.lesson(Scope(tenant, book_id), parent_doc_id, _where(filters)))


@router.get(
    "/{book_id}/lessons/{parent_doc_id}/prerequisites",
    summary="What must be known before a lesson",
    response_model=PrerequisitesOut,
)
async def show_prerequisites(
    book_id: str, parent_doc_id: str, engine: EngineDep, tenant: TenantDep, filters: FilterParam = None
) -> dict[str, Any]:
    """From the graph, in learning order, with the path to each."""
    return prerequisites_json(
        await engine.courses.prerequisites(Scope(tenant, book_id), parent_doc_id, _where(filters))
    )


@router.get("/{book_id}/passages/{passage_id}/context", summary="Expand a passage", response_model=ExpansionOut)
async def expand_passage(
    *,
    book_id: str,
    passage_id: str,
    engine: EngineDep,
    tenant: TenantDep,
    max_tokens: BudgetParam = DEFAULT_TOKENS,
    filters: FilterParam = None,
) -> dict[str, Any]:
    """The passage with what stands before and after it in its lesson, within a budget of tokens."""
    return expansion_json(await engine.courses.expand(Scope(tenant, book_id), passage_id, max_tokens, _where(filters)))


def _where(filters: list[str] | None) -> Filter | None:
    if filters and len(filters) > 50:
        raise FilterError("Too many filters.", hint="Use at most 50.")
    return parse_terms(filters or [])
