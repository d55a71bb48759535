"""Questions about how a course is built: which lessons a module has, how many, what comes next, what a lesson says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kedge.core.ids import new_id
from kedge.core.values import Answer, Citation
from kedge.kinds.courses.learning import SURE, Heading, cited_lesson, names_lesson
from kedge.kinds.courses.place import module_name
from kedge.kinds.courses.values import Lesson, Prerequisites

LISTED = 60
"""Lessons that are named one by one."""
Named = Callable[[Lesson], str]
"""A lesson in words, with its mark."""
Part = Literal["lessons", "count", "modules", "count modules", "after", "first", "last", "summary", "needed"]

_MODULE = re.compile(r"\b(?:module|part)\s+(?P<module>[\w-]+)", re.IGNORECASE)
_CHAPTER = re.compile(r"\b(?:chapter|unit|week)\s+(?P<chapter>\d+)", re.IGNORECASE)
_LESSON = re.compile(r"\blesson\s+(?:(?P<module>[\w-]+)/)?(?:(?P<chapter>\d+)\.)?(?P<lesson>\d+)\b", re.IGNORECASE)
_PARTS: tuple[tuple[Part, re.Pattern[str]], ...] = (
    ("count modules", re.compile(r"\bhow\s+many\s+modules\b", re.IGNORECASE)),
    ("count", re.compile(r"\bhow\s+many\s+lessons\b|\bnumber\s+of\s+lessons\b", re.IGNORECASE)),
    (
        "after",
        re.compile(
            r"\b(?:what|which\s+lesson)\s+(?:comes|follows|is\s+taught|do\s+i\s+learn|should\s+i\s+(?:do|learn|take))\b"
            r"[^?]*(?:\bafter\b|\bnext\b|\bfollows?\b)|\b(?:what|which\s+lesson)\s+follows\b"
            r"|\b(?:next\s+lesson|lesson)\s+after\b|\bwhat\s+is\s+next\s+after\b",
            re.IGNORECASE,
        ),
    ),
    ("first", re.compile(r"\b(?:what|which)\s+is\s+the\s+first\s+lesson\b", re.IGNORECASE)),
    ("last", re.compile(r"\b(?:what|which)\s+is\s+the\s+last\s+lesson\b", re.IGNORECASE)),
    (
        "lessons",
        re.compile(
            r"^\W*(?:what|which)\s+lessons\s+(?:are\s+(?:there|in|of)|in|of|belong|does\s+(?:module|chapter|the|this))\b"
            r"|^\W*what\s+are\s+the\s+lessons\b"
            r"|^\W*(?:list|show|name)\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?lessons\b",
            re.IGNORECASE,
        ),
    ),
    (
        "modules",
        re.compile(
            r"^\W*(?:what|which)\s+modules\s+(?:are|does)\b|^\W*list\s+(?:all\s+)?(?:the\s+)?modules\b", re.IGNORECASE
        ),
    ),
    (
        "summary",
        re.compile(
            r"^\W*(?:please\s+)?(?:summari[sz]e|sum\s+up|give\s+(?:me\s+)?an?\s+(?:summary|overview)\s+of)\b[^?]*\blesson\b"
            r"|\bwhat\s+is\s+lesson\b[^?]*\babout\b",
            re.IGNORECASE,
        ),
    ),
    (
        "needed",
        re.compile(
            r"^\W*(?:is|are|do\s+i\s+need|must\s+i\s+know)\s+(?P<first>.+?)\s+"
            r"(?:(?:needed|required|necessary|a\s+prerequisite)\s+(?:for|of|before)|for|before)\s+(?P<second>.+?)\W*$",
            re.IGNORECASE,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class StructureQuestion:
    """What is asked of the course's structure."""

    part: Part
    module: str | None = None
    chapter: int | None = None
    lessons: tuple[Lesson, ...] = ()
    """Lessons that it names; for `needed` the one that may be needed and the one that may need it."""

    def shown(self, lessons: Sequence[Lesson]) -> list[Lesson]:
        """Those of the module and chapter that it names, as they are taught."""
        return [
            one
            for one in lessons
            if self.module in (None, one.place.module) and self.chapter in (None, one.place.chapter)
        ]


def structure_asked(question: str, lessons: Sequence[Lesson]) -> StructureQuestion | None:
    """What the question asks of the structure; None when it asks for something else, or names what is not there."""
    for part, pattern in _PARTS:
        found = pattern.search(question)
        if found is None:
            continue
        if part == "needed":
            pair = (_titled(found["first"], lessons), _titled(found["second"], lessons))
            named = tuple(one for one in pair if one is not None)
            return StructureQuestion(part, lessons=named) if len(named) == 2 and named[0] is not named[1] else None
        if part in ("after", "summary"):
            named = tuple(_numbered(question, lessons) or _by_title(question, lessons))
            return StructureQuestion(part, lessons=named) if named else None
        return _within(part, question, lessons)
    return None


def _within(part: Part, question: str, lessons: Sequence[Lesson]) -> StructureQuestion | None:
    module, chapter = _MODULE.search(question), _CHAPTER.search(question)
    asked = StructureQuestion(
        part,
        module_name(module["module"]) if module else None,
        int(chapter["chapter"]) if chapter else None,
    )
    return asked if asked.shown(lessons) else None


def _numbered(question: str, lessons: Sequence[Lesson]) -> list[Lesson]:
    """Lessons of the number that the question says; of all modules where it names none."""
    found, module = _LESSON.search(question), _MODULE.search(question)
    if found is None:
        return []
    own = found["module"] or (module["module"] if module else None)
    wanted = module_name(own) if own else None
    return [
        one
        for one in lessons
        if one.place.lesson == int(found["lesson"])
        and (found["chapter"] is None or one.place.chapter == int(found["chapter"]))
        and wanted in (None, one.place.module)
    ]


def _by_title(question: str, lessons: Sequence[Lesson]) -> list[Lesson]:
    titled = [one for one in lessons if names_lesson(question, one)]
    longest = max((len(one.title) for one in titled), default=0)
    return [one for one in titled if len(one.title) == longest]


def _titled(name: str, lessons: Sequence[Lesson]) -> Lesson | None:
    """The one lesson of a title or number."""
    plain = re.sub(r"^(?:the\s+)?(?:lesson\s+)?(?:on\s+|about\s+)?", "", name.strip(" \"'“”"), flags=re.IGNORECASE)
    found = [one for one in lessons if one.title.casefold() == plain.casefold()]
    found = found or _numbered(f"lesson {plain}", lessons)
    return found[0] if len(found) == 1 else None


def answered(
    asked: StructureQuestion, lessons: Sequence[Lesson], headings: Mapping[str, Heading], needs: Prerequisites | None
) -> Answer:
    """The answer in words, each lesson with its module and a citation of its heading."""
    citations: dict[str, Citation] = {}

    def named(lesson: Lesson) -> str:
        return f"module {lesson.place.module}, {lesson.name}{cited_lesson(lesson, headings, citations)}"

    short = None
    inside = asked.shown(lessons)
    where = _where(asked)
    if asked.part == "count":
        short = str(len(inside))
        modules = dict.fromkeys(one.place.module for one in inside)
        split = ", ".join(f"module {name}: {sum(one.place.module == name for one in inside)}" for name in modules)
        text = f"{len(inside)} lessons{where}" + (f" ({split})." if len(modules) > 1 else ".")
        cited_lesson(inside[0], headings, citations)
    elif asked.part in ("modules", "count modules"):
        modules = dict.fromkeys(one.place.module for one in inside)
        short = str(len(modules)) if asked.part == "count modules" else None
        lines = [f"- module {name}: {sum(one.place.module == name for one in inside)} lessons" for name in modules]
        text = "\n".join((f"{len(modules)} modules:", *lines))
        cited_lesson(inside[0], headings, citations)
    elif asked.part == "lessons":
        lines = [f"- {named(one)}" for one in inside[:LISTED]]
        more = [f"and {len(inside) - LISTED} more."] if len(inside) > LISTED else []
        text = "\n".join((f"{len(inside)} lessons{where}:", *lines, *more))
    elif asked.part in ("first", "last"):
        one = inside[0 if asked.part == "first" else -1]
        short, text = one.title, f"The {asked.part} lesson{where} is {named(one)}."
    elif asked.part == "needed" and needs is not None:
        short, text = _needed(asked, needs, named)
    else:
        text = " ".join(_next(one, lessons, named) for one in asked.lessons)
        short = _after(asked.lessons[0], lessons)
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


def following(lesson: Lesson, lessons: Sequence[Lesson]) -> Lesson | None:
    """The lesson that is taught behind it; None for the last."""
    behind = [one for one in lessons if one.place.order > lesson.place.order]
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
    first, second = asked.lessons
    found = next((one for one in needs.needed if one.lesson.parent_doc_id == first.parent_doc_id), None)
    if found is None:
        return "No", f"No. {_capital(named(first))}, is not needed for {named(second)}."
    steps = " ← ".join(step.title for step in found.path)
    by = "as the lessons state" if found.why == "stated" else "by the order in which they are taught"
    return "Yes", f"Yes. {_capital(named(first))}, is needed for {named(second)}, {by}: {steps}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
