"""`Kedge.courses`: courses for code that does not use asyncio. Nothing here but the waiting."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from kedge.engine import Engine
from kedge.kinds.courses.courses import CourseHits
from kedge.kinds.courses.needs import Prerequisites
from kedge.kinds.courses.query import Reader
from kedge.kinds.courses.shelf import DEFAULT_TOKENS, Expansion, Lesson, WholeLesson
from kedge.stores.filters import from_mapping
from kedge.types import DEFAULT_TENANT, IngestMode, IngestRequest, Job, Json, Scope


class CoursesFacade:
    """Courses by the name of their collection. `where` is a filter as in `Kedge.search`."""

    def __init__(self, engine: Engine, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._engine = engine
        self._run = run

    def ingest(
        self,
        book: str,
        *folders: str | Path,
        mode: str = "incremental",
        on_progress: Callable[[Job], None] | None = None,
    ) -> Job:
        """Take in the lessons of a course and return the ended job."""
        sources = tuple(str(folder) for folder in folders)
        request = IngestRequest(_scope(book), sources, kind="course", mode=IngestMode(mode))
        job: Job = self._run(self._engine.ingest(request, on_progress))
        return job

    def search(
        self,
        book: str,
        text: str,
        *,
        limit: int = 5,
        hardware_tier: int = 1,
        module: str | None = None,
        chapter_min: int | None = None,
        chapter_max: int | None = None,
        lesson: int | None = None,
        proficiency_levels: Sequence[str] = (),
        layer: str | None = None,
        parent_doc_id: str | None = None,
    ) -> CourseHits:
        """Passages for a reader, best first; nothing that needs hardware above the tier."""
        reader = Reader(
            hardware_tier=hardware_tier,
            module=module,
            chapter_min=chapter_min,
            chapter_max=chapter_max,
            lesson=lesson,
            proficiency_levels=tuple(proficiency_levels),
            layer=layer,
            parent_doc_id=parent_doc_id,
        )
        found: CourseHits = self._run(self._engine.courses.find(_scope(book), text, reader, limit))
        return found

    def lessons(self, book: str, *, where: Mapping[str, Json] | None = None) -> list[Lesson]:
        """All lessons as they are taught."""
        found: list[Lesson] = self._run(self._engine.courses.lessons(_scope(book), from_mapping(where or {})))
        return found

    def lesson(self, book: str, lesson: str, *, where: Mapping[str, Json] | None = None) -> WholeLesson:
        """One lesson with its passages in order, by number (`3.2`, `2/3.2`), title, file or parent id."""
        whole: WholeLesson = self._run(self._engine.courses.lesson(_scope(book), lesson, from_mapping(where or {})))
        return whole

    def expand(
        self, book: str, passage_id: str, *, max_tokens: int = DEFAULT_TOKENS, where: Mapping[str, Json] | None = None
    ) -> Expansion:
        """A passage with what stands around it in its lesson, within a budget of tokens."""
        found: Expansion = self._run(
            self._engine.courses.expand(_scope(book), passage_id, max_tokens, from_mapping(where or {}))
        )
        return found

    def prerequisites(self, book: str, lesson: str, *, where: Mapping[str, Json] | None = None) -> Prerequisites:
        """What must be known before a lesson, in learning order, with the path to each."""
        found: Prerequisites = self._run(
            self._engine.courses.prerequisites(_scope(book), lesson, from_mapping(where or {}))
        )
        return found


def _scope(book: str) -> Scope:
    return Scope(DEFAULT_TENANT, book)
