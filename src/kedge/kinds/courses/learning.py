"""Questions about the order of learning, and their answers in words: "What must I know before lesson 3.2?"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kedge.core.ids import new_id
from kedge.core.values import Answer, Citation, Json, Passage
from kedge.kinds.courses.needs import named
from kedge.kinds.courses.values import Lesson, Needed, Prerequisites

SHOWN_LESSONS = 30
SURE, BY_ORDER = 0.95, 0.7
"""How sure an answer is that lessons state, and one that only their order gives."""
_LEARNING = re.compile(
    r"\bprerequisites?\b|\bprior knowledge\b|\b(?:know|learn|learned|study|read|understand|master|take|do|finish)\b"
    r".*\bbefore\b|\bbefore\b.*\b(?:know|learn|study|read|understand|master|take|do|finish)\b"
    r"|\b(?:require[sd]?|need(?:s|ed)?|necessary)\b.*\b(?:for|before|by)\b.*\blesson\b|\bwhat comes before\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?:\bmodule\s*(?P<before>[\w-]+)[\s,:/]*(?:,?\s*lesson\s*)?)?(?<![\d.])(?P<number>\d+\.\d+)(?![\d.]*\d)"
    r"(?:\s*(?:of|in|from)\s+(?:the\s+)?module\s*(?P<after>[\w-]+))?",
    re.IGNORECASE,
)


def lessons_asked_about(question: str, lessons: Sequence[Lesson]) -> list[Lesson]:
    """The lessons whose prerequisites the question wants; none when it asks for something else."""
    if not _LEARNING.search(question):
        return []
    number = _NUMBERED.search(question)
    if number:
        module = number["before"] or number["after"]
        wanted = f"Module {module} {number['number']}" if module and module.isdigit() else number["number"]
        return named(f"{module}/{number['number']}" if module and not module.isdigit() else wanted, lessons)
    titled = [lesson for lesson in lessons if names_lesson(question, lesson)]
    longest = max((len(lesson.title) for lesson in titled), default=0)
    return [lesson for lesson in titled if len(lesson.title) == longest]


def names_lesson(question: str, lesson: Lesson) -> bool:
    """Whether the question names the title: of two words at least, unless it says `lesson` or ends with it."""
    title = re.escape(lesson.title.casefold())
    there = re.search(rf"(?<!\w){title}(?!\w)", question.casefold()) is not None
    ends = re.search(rf"\b(?:before|after|for|of)\s+(?:the\s+)?{title}\W*$", question.casefold()) is not None
    return there and (ends or " " in lesson.title or "lesson" in question.casefold())


@dataclass(frozen=True, slots=True)
class Heading:
    """The first line of a lesson, which an answer points to."""

    passage: Passage
    text: str

    @property
    def start(self) -> int:
        return self.passage.start + self.passage.text.index(self.text)


def heading_of(passage: Passage) -> Heading:
    """The first line of the passage that holds words."""
    lines = [line.strip() for line in passage.text.splitlines()]
    return Heading(passage, next((line for line in lines if re.search(r"\w", line)), passage.text))


def answer_of(found: Sequence[Prerequisites], headings: dict[str, Heading]) -> Answer:
    """The answer in words, each lesson with a citation of its heading, and the paths for those who draw them."""
    citations: dict[str, Citation] = {}
    parts = [_paragraph(one, headings, citations, several=len(found) > 1) for one in found]
    stated = all(need.why == "stated" for one in found for need in one.needed)
    probability = SURE if stated else BY_ORDER
    paths: list[Json] = [_drawn(need) for one in found for need in one.needed[:SHOWN_LESSONS]]
    return Answer(
        query_id=new_id(),
        answer="\n\n".join(parts),
        citations=tuple(citations.values()),
        confidence="high" if stated else "medium",
        evidence_probability=probability,
        metadata={"kind": "graph", "paths": paths, "citation_count": len(citations), "warnings": []},
    )


def _paragraph(
    found: Prerequisites, headings: dict[str, Heading], citations: dict[str, Citation], *, several: bool
) -> str:
    where = f" of module {found.lesson.place.module}" if several or found.lesson.place.module.isdigit() else ""
    asked = f"lesson {found.lesson.name}{where}{cited_lesson(found.lesson, headings, citations)}"
    beyond = [f"module {name}" for name in found.modules] + [f"{name!r} (not in this course)" for name in found.outside]
    lines: list[str] = []
    if not found.needed and not beyond:
        lines.append(f"Nothing must be known before {asked}.")
    elif not found.needed:
        lines.append(f"Before {asked}, know {', '.join(beyond)}.")
    else:
        count = len(found.needed)
        lines.append(f"Before {asked}, know {count} {'lesson' if count == 1 else 'lessons'}, in this order:")
        own = found.lesson.place.module
        lines += [
            f"- {need.lesson.name}{'' if need.lesson.place.module == own else f' (module {need.lesson.place.module})'}"
            f"{cited_lesson(need.lesson, headings, citations)}"
            for need in found.needed
        ]
        furthest = max(found.needed[:SHOWN_LESSONS], key=lambda need: len(need.path))
        lines.append(f"Path: {path_text(furthest)}.")
        if beyond:
            lines.append(f"And {', '.join(beyond)}.")
    if found.hidden:
        lines.append(f"{found.hidden} more are not shown, because the filter leaves them out.")
    return "\n".join(lines)


def path_text(need: Needed) -> str:
    """`3.2 ← 3.1 ← 2.5`; names the module where it changes."""
    module = need.path[0].place.module
    steps = [
        step.place.number if step.place.module == module else f"{step.place.module}/{step.place.number}"
        for step in need.path
    ]
    return " ← ".join(steps)


def cited_lesson(lesson: Lesson, headings: Mapping[str, Heading], citations: dict[str, Citation]) -> str:
    """The mark of a lesson's heading, which is taken into `citations`; empty where it has none."""
    heading = headings.get(lesson.parent_doc_id)
    if heading is None:
        return ""
    if lesson.parent_doc_id not in citations:
        passage = heading.passage
        citations[lesson.parent_doc_id] = Citation(
            id=f"[{len(citations) + 1}]",
            passage_id=passage.id,
            document_id=passage.document_id,
            title=passage.title,
            url=passage.url,
            snippet=heading.text,
            start=heading.start,
            end=heading.start + len(heading.text),
            relevance_score=1.0,
            page=passage.page,
            section_path=passage.section_path,
            identity=passage.identity,
        )
    return f" {citations[lesson.parent_doc_id].id}"


def _drawn(need: Needed) -> Json:
    nodes: list[Json] = [{"id": step.parent_doc_id, "title": step.name, "type": "lesson"} for step in need.path]
    edges: list[Json] = [
        {"source": step.parent_doc_id, "target": after.parent_doc_id, "type": "PREREQUISITE"}
        for step, after in pairwise(need.path)
    ]
    return {"nodes": nodes, "edges": edges}
