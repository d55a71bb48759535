"""What clients send about courses."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from kedge.kinds.courses.query import Learner
from kedge.surfaces.server.bodies import Request


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

    def reader(self) -> Learner:
        """The conditions."""
        return Learner(
            hardware_tier=self.hardware_tier_filter,
            module=None if self.module_filter is None else str(self.module_filter),
            chapter_min=self.chapter_min,
            chapter_max=self.chapter_max,
            lesson=self.lesson_filter,
            proficiency_levels=tuple(self.proficiency_levels or ()),
            layer=self.layer_filter,
            parent_doc_id=self.parent_doc_id,
        )
