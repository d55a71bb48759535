"""Code in a PDF: stretches of lines all of whose letters are as wide as each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kedge.ingest.parse.listing import begins_at_prompt, is_listing
from kedge.ingest.parse.pdf.page import Line

_TYPED = 0.9
"""Share of the letters of a document that is set in a font of code as a whole, as by a typewriter."""
_APART = 1.45
"""Font sizes from the middle of a line to that of one it stands apart from."""


def with_code(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """The lines of all pages, those of code marked as such."""
    letters = sum(len(line.text) for lines in pages for line in lines)
    even = sum(len(line.text) for lines in pages for line in lines if line.even)
    typed = even > _TYPED * letters
    return [_marked(lines, typed) for lines in pages]


def _marked(lines: Sequence[Line], typed: bool) -> list[Line]:
    made = list(lines)
    start = 0
    while start < len(made):
        end = _end(made, start)
        stretch = made[start:end]
        if end > start and _is_code(made, start, end) and (not typed or is_listing(_text(stretch))):
            made[start:end] = [replace(line, code=True) for line in stretch]
        start = max(end, start + 1)
    return made


def _end(lines: Sequence[Line], start: int) -> int:
    """Behind the last line of a stretch; lines of signs alone, whose font says nothing, go on with what is around."""
    at = end = start
    while at < len(lines) and lines[at].column == lines[start].column:
        if lines[at].even:
            end = at + 1
        elif at == start or any(map(str.isalnum, lines[at].text)):
            break
        at += 1
    return end


def _is_code(lines: Sequence[Line], start: int, end: int) -> bool:
    """Whether a stretch is more than a line of prose that is all names of code."""
    if end - start > 1 or begins_at_prompt(lines[start].text):
        return True
    return (start == 0 or _is_apart(lines[start - 1], lines[start])) and (
        end == len(lines) or _is_apart(lines[end - 1], lines[end])
    )


def _is_apart(upper: Line, lower: Line) -> bool:
    drop = (upper.y0 + upper.y1 - lower.y0 - lower.y1) / 2
    return upper.column != lower.column or not 0 < drop < _APART * max(upper.size, lower.size)


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in lines)
