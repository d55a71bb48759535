"""One PDF page to lines: words → runs → rows → columns in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kedge.ingest.parse.pdf.columns import Gutter, reading_order
from kedge.ingest.parse.pdf.runs import PageWord, Run, rows_of

_PLOTTED = frozenset("●○▲△■□◆◇ ")
"""Marks of a plot, which say nothing."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of words within one column, or a row of a table that was found."""

    text: str
    words: tuple[PageWord, ...]
    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    bold: bool
    column: tuple[float, float]
    """Left and right edge of the column it stands in."""
    table: int = 0
    """Which table of the page it is a row of, from 1; its text parts the cells by `|`."""
    gapped: bool = False
    """Whether wide gaps part it like a row, though it is of no table: no line of a paragraph."""
    even: bool = False
    """Whether all its letters are as wide as each other, as in code."""
    code: bool = False
    """Whether it is of a stretch of code."""
    label: bool = False
    """Whether it is a label of a plot."""


def in_lines(runs: list[Run], gutter: Gutter | None) -> list[Line]:
    """Runs put together to lines in reading order."""
    lines: list[Line] = []
    for column in reading_order(runs, gutter):
        edges = (min(run.x0 for run in column), max(run.x1 for run in column))
        lines.extend(_line(row, edges) for row in rows_of(column))
    return [line for line in lines if not _PLOTTED.issuperset(line.text)]


def _line(row: Sequence[Run], column: tuple[float, float]) -> Line:
    main = max(row, key=lambda run: sum(len(word.text) for word in run.words))
    words = _words(row)
    return Line(
        text=" ".join(word.text for word in words),
        words=words,
        x0=row[0].x0,
        x1=max(run.x1 for run in row),
        y0=min(run.y0 for run in row),
        y1=max(run.y1 for run in row),
        size=main.size,
        bold=all(run.bold for run in row),
        column=column,
        even=any(run.even for run in row) and all(run.even or not run.letters for run in row),
    )


def _words(row: Sequence[Run]) -> tuple[PageWord, ...]:
    """Words of a row; those of two fonts that touch, such as small capitals after a large one, are one."""
    if len(row) == 1:
        return tuple(row[0].words)
    placed = [(word, run) for run in row for word in run.words]
    if any(run.x0 < before.x1 - 0.3 * run.size for before, run in pairwise(row)):
        placed.sort(key=lambda pair: pair[0].x0)  # a footnote's mark stands within the run around it
    words = [placed[0][0]]
    for (_, before), (word, run) in pairwise(placed):
        last = words[-1]
        if run is before or word.x0 - last.x1 > 0.15 * run.size:
            words.append(word)
        else:
            words[-1] = PageWord(last.x0, max(last.x1, word.x1), last.text + word.text)
    return tuple(words)
