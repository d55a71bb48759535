"""Courses: lessons with front matter, in modules and chapters (requirements C)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from kedge.core.moving import MOVING
from kedge.kinds.ports import CommandGroup, Kind, OnPage, Parts, RouteGroup, Surfaces

if TYPE_CHECKING:
    from kedge.core.settings import Settings
    from kedge.kinds.courses.courses import Courses


class CoursesKind(Kind["Courses"]):
    """Lessons that know their place, their tier and what they need."""

    name = "course"
    index_prefix = "course_chunks"
    fields: ClassVar[Mapping[str, str]] = {
        "book_id": "tenant",
        "module": "keyword",
        "chapter": "integer",
        "lesson": "integer",
        "hardware_tier": "integer",
        "proficiency_level": "keyword",
        "layer": "keyword",
        "parent_doc_id": "keyword",
        "content_hash": "keyword",
        "source_file_hash": "keyword",
        "topic_tag": "keyword",
        MOVING: "bool",
    }
    surfaces = Surfaces(
        routes=(
            RouteGroup(
                "courses",
                "Courses: lessons, their chains and their prerequisites.",
                ("kedge.kinds.courses.surfaces.routes:router",),
            ),
        ),
        commands=(
            CommandGroup(
                "course",
                "Lessons, what they need, and searching for a reader.",
                "kedge.kinds.courses.surfaces.commands:app",
            ),
        ),
        client="kedge.kinds.courses.surfaces.client",
        blocking="kedge.kinds.courses.surfaces.blocking:CoursesFacade",
        blocking_name="courses",
        page=OnPage(source=("lesson", "lessons")),
    )

    def starts(self, settings: Settings) -> bool:  # noqa: ARG002
        return False

    def open(self, parts: Parts) -> Courses:
        from kedge.kinds.courses.courses import Courses

        return Courses(self, parts)


KIND = CoursesKind()
