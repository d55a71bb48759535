"""Searching a course: the filters of C-07, and what a filter means to a course."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kedge.core.errors import FilterError, QueryError
from kedge.core.values import MAX_TOP_K, Query, Scope
from kedge.core.values.filters import And, Eq, Filter, In, Not, Or, Range, all_of
from kedge.kinds.courses.fields import LAYERS, LEVELS, TIERS
from kedge.kinds.courses.place import MAX_CHAPTER, MAX_LESSON, module_name

MIN_CHARS = 3


DEFAULT_TIER = 1
"""Hardware of a reader who says nothing of it."""


@dataclass(frozen=True, slots=True)
class Learner:
    """Who reads: what they have and know, and which part of the course they look at. All conditions hold together."""

    hardware_tier: int = DEFAULT_TIER
    """Highest tier of the hardware that the reader has; lessons that need more are never shown."""
    module: str | None = None
    chapter_min: int | None = None
    chapter_max: int | None = None
    lesson: int | None = None
    proficiency_levels: tuple[str, ...] = ()
    """Any of these; none: all."""
    layer: str | None = None
    parent_doc_id: str | None = None

    def where(self, book_id: str) -> Filter:
        """The conditions as a filter. FilterError for a value that cannot be."""
        _within("hardware_tier", self.hardware_tier, TIERS[0], TIERS[-1])
        _within("chapter_min", self.chapter_min, 0, MAX_CHAPTER)
        _within("chapter_max", self.chapter_max, 0, MAX_CHAPTER)
        if self.chapter_min is not None and self.chapter_max is not None and self.chapter_min > self.chapter_max:
            raise FilterError(
                f"chapter_min {self.chapter_min} is above chapter_max {self.chapter_max}.",
                hint="Swap them: no chapter lies between.",
                details={"chapter_min": self.chapter_min, "chapter_max": self.chapter_max},
            )
        _within("lesson", self.lesson, 0, MAX_LESSON)
        levels = tuple(level.upper() for level in self.proficiency_levels)
        for level in levels:
            _among("proficiency_levels", level, LEVELS)
        layer = self.layer.upper() if self.layer is not None else None
        if layer is not None:
            _among("layer", layer, LAYERS)
        ranged = self.chapter_min is not None or self.chapter_max is not None
        found = all_of(
            Eq("book_id", book_id),
            Range("hardware_tier", lte=self.hardware_tier),
            Eq("module", module_name(self.module)) if self.module is not None else None,
            Range("chapter", gte=self.chapter_min, lte=self.chapter_max) if ranged else None,
            Eq("lesson", self.lesson) if self.lesson is not None else None,
            In("proficiency_level", levels) if levels else None,
            Eq("layer", layer) if layer is not None else None,
            Eq("parent_doc_id", self.parent_doc_id) if self.parent_doc_id is not None else None,
        )
        return found if found is not None else And(())


def course_query(scope: Scope, text: str, reader: Learner, limit: int = 5, *, include_graph: bool = True) -> Query:
    """A search in a course. QueryError for a text or limit that cannot be (C-11)."""
    if len(text.strip()) < MIN_CHARS:
        raise QueryError(f"The text must have at least {MIN_CHARS} characters.", hint="Type a few words.")
    if limit not in range(1, MAX_TOP_K + 1):
        raise QueryError(
            f"limit must be between 1 and {MAX_TOP_K}", hint="Leave it out for 5.", details={"limit": limit}
        )
    return Query(text=text, scope=scope, top_k=limit, include_graph=include_graph, where=reader.where(scope.collection))


def in_course_terms(where: Filter | None) -> Filter | None:
    """The filter with values as courses write them: `module=01` is module 1, `a2` is A2."""
    match where:
        case Eq(name, value) if value is not None:
            return replace(where, value=_written(name, value))
        case In(name, values):
            return replace(where, values=tuple(_written(name, value) for value in values))
        case And(parts):
            return And(tuple(part for item in parts if (part := in_course_terms(item)) is not None))
        case Or(parts):
            return Or(tuple(part for item in parts if (part := in_course_terms(item)) is not None))
        case Not(part):
            inner = in_course_terms(part)
            return where if inner is None else Not(inner)
        case _:
            return where


def for_reader(where: Filter | None) -> Filter | None:
    """The filter with the default reader's tier, unless it says something of `hardware_tier` itself (C-16)."""
    tier = Range("hardware_tier", lte=DEFAULT_TIER)
    return where if where is not None and _speaks_of("hardware_tier", where) else all_of(where, tier)


def _speaks_of(name: str, where: Filter) -> bool:
    match where:
        case And(parts) | Or(parts):
            return any(_speaks_of(name, part) for part in parts)
        case Not(part):
            return _speaks_of(name, part)
        case _:
            return where.field == name


def _written(name: str, value: str | int | float | bool) -> str | int | float | bool:
    if name == "module" and not isinstance(value, bool):
        return module_name(str(int(value)) if isinstance(value, float) and value.is_integer() else str(value))
    if name in ("proficiency_level", "layer") and isinstance(value, str):
        return value.upper()
    return value


def _within(name: str, value: int | None, least: int, most: int) -> None:
    if value is not None and not least <= value <= most:
        raise FilterError(
            f"{name} must be between {least} and {most}, not {value}.",
            hint=f"Leave {name} out, or give a whole number from {least} to {most}.",
            details={name: value},
        )


def _among(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise FilterError(
            f"{name} must be one of {', '.join(allowed)}, not {value!r}.",
            hint=f"Leave {name} out for all of them.",
            details={name: value},
        )
