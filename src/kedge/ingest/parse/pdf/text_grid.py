"""Tables of words on a PDF page: columns where the cells of most rows begin at the same place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kedge.ingest.parse.pdf.cells import WEAK_GAP, CellPart, cell_text, segments
from kedge.ingest.parse.pdf.page import Line

TextTable = tuple[int, int, list[tuple[Line, str]]]
"""The first line, the one behind the last, and the rows with the line each begins at."""
_MIN_ROWS = 3
_SAME = 0.35
"""Font sizes by which the beginnings of one column may differ."""
_NEXT_ROW = 2.2
_NEXT_LINE = 1.6
"""Font sizes from a row to the next, and to the next line of a cell."""
_MOST_HEADS = 2


def text_rows(lines: Sequence[Line], first: int, last: int) -> TextTable | None:
    """The table that the lines from first to last are part of; None where their cells do not begin together.

    A line right above or below belongs to it where its cells begin in the same columns.
    """
    parts = [segments(line, WEAK_GAP) for line in lines]
    starts = _starts(lines[first : last + 1], parts[first : last + 1])
    if len(starts) < 2:
        return None
    cells = [_cells(own, starts, _SAME * line.size) for line, own in zip(lines, parts, strict=True)]
    body = range(first, last + 1)
    rows = sum(_is_row(cells[at]) for at in body)
    if rows < _MIN_ROWS or 2 * rows < len(body) or any(_is_signs(cells[at]) for at in body):
        return None
    start, end = first, last + 1
    while start > max(0, first - _MOST_HEADS) and _is_row(cells[start - 1]) and _near(lines, start - 1, _NEXT_ROW):
        start -= 1
    while end < len(lines) and (_is_row(cells[end]) or _is_rest(cells[end])) and _near(lines, end - 1, _NEXT_ROW):
        end += 1
    made: list[tuple[Line, list[str]]] = []
    for at in range(start, end):
        if made and _is_rest(cells[at]) and _near(lines, at - 1, _NEXT_LINE):
            above = made[-1][1]
            above[:] = [f"{one} {other}".strip() for one, other in zip(above, cells[at], strict=True)]
        else:
            made.append((lines[at], list(cells[at])))
    return start, end, [(line, _written(row)) for line, row in made]


def _starts(lines: Sequence[Line], parts: Sequence[Sequence[CellPart]]) -> list[float]:
    """Where the columns begin, from the left: where a part of at least half of the lines does."""
    places = sorted((part.x0, line.size) for line, own in zip(lines, parts, strict=True) for part in own)
    groups: list[list[float]] = []
    for x, size in places:
        if groups and x - groups[-1][-1] < _SAME * size:
            groups[-1].append(x)
        else:
            groups.append([x])
    starts = [min(group) for group in groups if 2 * len(group) >= len(lines)]
    crossed = sum(
        any(part.x0 < start - 1 and part.x1 > start + 1 for part in own) for own in parts for start in starts[1:]
    )
    return starts if 8 * crossed <= len(lines) * max(len(starts) - 1, 1) else []


def _cells(parts: Sequence[CellPart], starts: Sequence[float], reach: float) -> list[str]:
    """The text of each column; what begins in between belongs to the cell at its left."""
    columns: list[list[CellPart]] = [[] for _ in starts]
    for part in parts:
        column = max((at for at, start in enumerate(starts) if part.x0 > start - reach), default=0)
        columns[column].append(part)
    return [cell_text(word for part in column for word in part.words) for column in columns]


def _is_row(cells: Sequence[str]) -> bool:
    return sum(map(bool, cells)) > 1


def _is_rest(cells: Sequence[str]) -> bool:
    """Whether a line goes on in one column; in the first it may name a group as well."""
    return sum(map(bool, cells)) == 1 and (not cells[0] or cells[0][0].islower())


def _is_signs(cells: Sequence[str]) -> bool:
    """Whether a line is signs alone, as between the fractions of a formula."""
    return not any(letter.isalnum() for cell in cells for letter in cell)


def _near(lines: Sequence[Line], at: int, reach: float) -> bool:
    """Whether a line and the next are close."""
    ((upper, lower),) = pairwise(lines[at : at + 2])
    return upper.y0 + upper.y1 - lower.y0 - lower.y1 < 2 * reach * max(upper.size, lower.size)


def _written(cells: Sequence[str]) -> str:
    """A row as text; bars around it where its first cell is empty or the only one."""
    kept = list(cells[: 1 + max((at for at, cell in enumerate(cells) if cell), default=0)])
    text = " | ".join(cell.replace("|", "∣") for cell in kept)
    whole = text if kept[0] and len(kept) > 1 else f"| {text} |"
    return whole.replace("|  |", "| |").replace("|  |", "| |")
