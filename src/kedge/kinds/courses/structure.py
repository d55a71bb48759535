"""Answers about how a course is built: which lessons a module has, how many, what comes next, what needs what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kedge.core.ids import new_id
from kedge.core.values import Answer, Citation
from kedge.kinds.courses.asking import StructureQuestion
from kedge.kinds.courses.learning import SURE, Heading, cited_lesson
from kedge.kinds.courses.values import Lesson, Prerequisites

LISTED = 60
"""Lessons that are named one by one."""
Named = Callable[[Lesson], str]
"""A lesson in words, with its mark."""


def answered(
    asked: StructureQuestion, lessons: Sequence[Lesson], headings: Mapping[str, Heading], needs: Prerequisites | None
) -> Answer:
    """The answer in words, each lesson with its module and a citation of its heading."""
    citations: dict[str, Citation] = {}

    def named(lesson: Lesson) -> str:
        return f"module {lesson.place.module}, {lesson.name}{cited_lesson(lesson, headings, citations)}"

    short = None
    inside = proper(asked.shown(lessons))
    overviews = [one for one in asked.shown(lessons) if one not in inside]
    where = _where(asked)
    if asked.part == "count":
        short = str(len(inside))
        modules = dict.fromkeys(one.place.module for one in inside)
        split = ", ".join(f"module {name}: {sum(one.place.module == name for one in inside)}" for name in modules)
        also = f" and {_number(len(overviews), 'overview')}" if overviews else ""
        text = f"{_number(len(inside), 'lesson')}{where}" + (f" ({split})" if len(modules) > 1 else "") + f"{also}."
        cited_lesson(inside[0], headings, citations)
    elif asked.part in ("modules", "count modules"):
        modules = dict.fromkeys(one.place.module for one in inside)
        short = str(len(modules)) if asked.part == "count modules" else None
        lines = [
            f"- module {name}: {_number(sum(one.place.module == name for one in inside), 'lesson')}" for name in modules
        ]
        text = "\n".join((f"{_number(len(modules), 'module')}:", *lines))
        cited_lesson(inside[0], headings, citations)
    elif asked.part == "lessons":
        lines = [f"- {named(one)}" for one in inside[:LISTED]]
        more = [f"and {len(inside) - LISTED} more."] if len(inside) > LISTED else []
        more += [f"Overview: {named(one)}." for one in overviews[:LISTED]]
        text = "\n".join((f"{_number(len(inside), 'lesson')}{where}:", *lines, *more))
    elif asked.part in ("first", "last"):
        one = inside[0 if asked.part == "first" else -1]
        short, text = one.title, f"The {asked.part} lesson{where} is {named(one)}."
    elif asked.part in ("needed", "spared") and needs is not None:
        short, text = _needed(asked, needs, named)
    elif asked.part == "summary":
        text = _several(asked.lessons, named)
    else:
        text = " ".join(_next(one, lessons, named) for one in asked.lessons)
        short = _after(asked.lessons[0], lessons) if len(asked.lessons) == 1 else None
    return Answer(
        query_id=new_id(),
        answer=text,
        citations=tuple(citations.values()),
        confidence="high",
        evidence_probability=SURE,
        short_answer=short,
        metadata={"kind": "graph", "paths": [], "citation_count": len(citations), "warnings": []},
    )


def _where(asked: StructureQuestion) -> str:
    parts = [f"chapter {asked.chapter}"] if asked.chapter is not None else []
    parts += [f"module {asked.module}"] if asked.module is not None else []
    return f" in {' of '.join(parts)}" if parts else " in this course"


def proper(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Without the overviews of modules and chapters, unless there is nothing else."""
    return [one for one in lessons if one.place.lesson > 0] or list(lessons)


def following(lesson: Lesson, lessons: Sequence[Lesson]) -> Lesson | None:
    """The lesson that is taught behind it; None for the last."""
    behind = [one for one in proper(lessons) if one.place.order > lesson.place.order]
    return behind[0] if behind else None


def _after(lesson: Lesson, lessons: Sequence[Lesson]) -> str | None:
    behind = following(lesson, lessons)
    return behind.title if behind else None


def _next(lesson: Lesson, lessons: Sequence[Lesson], named: Named) -> str:
    behind = following(lesson, lessons)
    if behind is None:
        return f"Nothing comes after {named(lesson)}: it is the last lesson of this course."
    return f"After {named(lesson)} comes {named(behind)}."


def _needed(asked: StructureQuestion, needs: Prerequisites, named: Named) -> tuple[str, str]:
    """Whether the first lesson is needed for the second, as it was asked: "Is it needed?", "Can I skip it?"."""
    first, second = asked.lessons
    found = next((one for one in needs.needed if one.lesson.parent_doc_id == first.parent_doc_id), None)
    said = "Yes" if (found is not None) is (asked.part == "needed") else "No"
    if found is None:
        return said, f"{said}. {_capital(named(first))}, is not needed for {named(second)}."
    steps = " ← ".join(step.title for step in found.path)
    by = "as the lessons state" if found.why == "stated" else "by the order in which they are taught"
    return said, f"{said}. {_capital(named(first))}, is needed for {named(second)}, {by}: {steps}."


def _several(lessons: Sequence[Lesson], named: Named) -> str:
    """That a number or title means lessons of several modules, and how to ask for one."""
    one = lessons[0].place
    lines = [f"- {named(lesson)}" for lesson in lessons[:LISTED]]
    asked = f"“Summarise lesson {one.number} of module {one.module}”"
    return "\n".join((f"{len(lessons)} lessons are called so:", *lines, f"Name the module: {asked}."))


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
