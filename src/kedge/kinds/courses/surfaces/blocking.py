"""`Kedge.courses`: courses for code that does not use asyncio. Nothing here but the waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from kedge.core.values import IngestMode, IngestRequest, Job, Json
from kedge.core.values.filters import from_mapping
from kedge.engine.blocking import Kedge
from kedge.kinds.courses.kind import KIND
from kedge.kinds.courses.query import Learner
from kedge.kinds.courses.shelf import DEFAULT_TOKENS
from kedge.kinds.courses.values import CourseHits, CourseState, Expansion, Lesson, Prerequisites, WholeLesson


class CoursesFacade:
    """Courses by the name of their collection. `where` is a filter as in `Kedge.search`."""

    def __init__(self, kedge: Kedge) -> None:
        self._kedge = kedge
        self._courses = kedge.engine.kinds.opened(KIND)

    def ingest(
        self,
        book: str,
        *folders: str | Path,
        mode: Literal["incremental", "full", "recreate"] = "incremental",
        on_progress: Callable[[Job], None] | None = None,
    ) -> Job:
        """Take in the lessons of a course and return the ended job."""
        sources = tuple(str(folder) for folder in folders)
        request = IngestRequest(self._kedge.scope(book), sources, kind=KIND.name, mode=IngestMode(mode))
        return self._kedge.run(self._kedge.engine.ingest(request, on_progress))

    def state(self, book: str) -> CourseState:
        """Which files the book was made of, what became of each, and when. NotFoundError."""
        return self._kedge.run(self._courses.state(self._kedge.scope(book)))

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
        reader = Learner(
            hardware_tier=hardware_tier,
            module=module,
            chapter_min=chapter_min,
            chapter_max=chapter_max,
            lesson=lesson,
            proficiency_levels=tuple(proficiency_levels),
            layer=layer,
            parent_doc_id=parent_doc_id,
        )
        return self._kedge.run(self._courses.find(self._kedge.scope(book), text, reader, limit))

    def lessons(self, book: str, *, where: Mapping[str, Json] | None = None) -> list[Lesson]:
        """All lessons as they are taught."""
        return self._kedge.run(self._courses.lessons(self._kedge.scope(book), from_mapping(where or {})))

    def lesson(self, book: str, lesson: str, *, where: Mapping[str, Json] | None = None) -> WholeLesson:
        """One lesson with its passages in order, by number (`3.2`, `2/3.2`), title, file or parent id."""
        return self._kedge.run(self._courses.lesson(self._kedge.scope(book), lesson, from_mapping(where or {})))

    def expand(
        self, book: str, passage_id: str, *, max_tokens: int = DEFAULT_TOKENS, where: Mapping[str, Json] | None = None
    ) -> Expansion:
        """A passage with what stands around it in its lesson, within a budget of tokens."""
        found: Expansion = self._kedge.run(
            self._courses.expand(self._kedge.scope(book), passage_id, max_tokens, from_mapping(where or {}))
        )
        return found

    def prerequisites(self, book: str, lesson: str, *, where: Mapping[str, Json] | None = None) -> Prerequisites:
        """What must be known before a lesson, in learning order, with the path to each."""
        found: Prerequisites = self._kedge.run(
            self._courses.prerequisites(self._kedge.scope(book), lesson, from_mapping(where or {}))
        )
        return found
