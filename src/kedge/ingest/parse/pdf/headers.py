"""Header lines of a PDF table to rows: each name over every column that it reaches over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kedge.ingest.parse.pdf.cells import CellPart
from kedge.ingest.parse.pdf.page import Line

Column = tuple[float, float]
HeaderLine = tuple[Line, list[CellPart]]
_OVER = 0.4
"""Share of a column that a name must lie over to reach over it."""
_OFF_MIDDLE = 0.12
"""How far, in widths of the stretch, a name may stand from the middle of the columns it reaches over."""


@dataclass(frozen=True, slots=True)
class PageRules:
    """Thin lines drawn on a page, as left, bottom, right, top."""

    across: tuple[tuple[float, float, float, float], ...] = ()
    down: tuple[tuple[float, float, float, float], ...] = ()

    def under(self, line: Line) -> list[Column]:
        """From where to where lines run right below a line of text, those that touch as one."""
        low, high = line.y0 - 0.8 * line.size, line.y0 + 0.3 * line.size
        found: list[Column] = []
        for left, _, right, _ in sorted(rule for rule in self.across if low < rule[1] < high):
            if found and left - found[-1][1] < 1.5:
                found[-1] = (found[-1][0], max(found[-1][1], right))
            else:
                found.append((left, right))
        return found


NO_RULES = PageRules()


def header_rows(
    lines: Sequence[HeaderLine], columns: Sequence[Column], rules: PageRules
) -> Iterator[tuple[Line, list[str]]]:
    """Rows of names, one for each column; the lines of a name that was broken are put together."""
    made: list[tuple[Line, list[str], bool]] = []
    for number, (line, parts) in enumerate(lines):
        spans = _spans(line, parts, columns, rules, len(lines) - number - 1)
        cells = [""] * len(columns)
        for part, (first, last) in zip(parts, spans, strict=True):
            for column in range(first, last + 1):
                cells[column] = f"{cells[column]} {part.text}".strip()
        reaches = any(first < last for first, last in spans)
        if made and not reaches and not made[-1][2]:
            above, names, _ = made[-1]
            made[-1] = (
                replace(above, y0=line.y0),
                [f"{a} {b}".strip() for a, b in zip(names, cells, strict=True)],
                False,
            )
        else:
            made.append((line, cells, reaches))
    for line, cells, _ in made:
        yield line, cells


def _spans(
    line: Line, parts: Sequence[CellPart], columns: Sequence[Column], rules: PageRules, below: int
) -> list[tuple[int, int]]:
    """First and last column of each name."""
    drawn = rules.under(line)
    spans = [_ruled(part, parts, columns, drawn) or _covered(part, columns) for part in parts]
    values = [(at, span) for at, span in enumerate(spans) if span[0] > 0]
    if not below or not values:
        return spans
    shares = _even([parts[at] for at, _ in values], columns)
    if len(values) == 1 and len(columns) % 2 and _is_over_all(parts[values[0][0]], columns):
        spans[values[0][0]] = (1, len(columns) - 1)
        return spans
    for place, (at, span) in enumerate(values):
        taken = {
            column for other, (left, right) in enumerate(spans) if other != at for column in range(left, right + 1)
        }
        share = shares[place] if shares else span
        if share[0] <= span[0] and span[1] <= share[1] and _clear(share, taken):
            spans[at] = share
        spans[at] = _balanced(parts[at], spans[at], columns, drawn, taken)
    return spans


def _ruled(
    part: CellPart, parts: Sequence[CellPart], columns: Sequence[Column], drawn: Sequence[Column]
) -> tuple[int, int] | None:
    """The columns over the line that is drawn under a name alone."""
    for left, right in drawn:
        if left - 2 <= part.x0 and part.x1 <= right + 2:
            if sum(left - 2 <= other.x0 and other.x1 <= right + 2 for other in parts) > 1:
                return None
            over = [at for at, (x0, x1) in enumerate(columns) if left - 2 <= (x0 + x1) / 2 <= right + 2]
            whole = right - left > 0.97 * (columns[-1][1] - columns[0][0])
            return (over[0], over[-1]) if over and not whole else None
    return None


def _covered(part: CellPart, columns: Sequence[Column]) -> tuple[int, int]:
    """The columns that a name lies over."""
    over = [min(part.x1, right) - max(part.x0, left) for left, right in columns]
    nearest = max(range(len(columns)), key=over.__getitem__)
    reached = [at for at in range(1, len(columns)) if over[at] >= _OVER * (columns[at][1] - columns[at][0])]
    if nearest == 0 and part.x0 <= columns[0][1]:
        reached = []
    if len(reached) < 2:
        for at in range(max(nearest - 1, 1), min(nearest + 1, len(columns) - 1)):
            middle = (columns[at][0] + columns[at + 1][1]) / 2
            apart = columns[at + 1][0] - columns[at][1]
            if part.x0 < columns[at][1] + apart / 2 < part.x1 and abs(part.middle - middle) < 0.25 * (
                columns[at + 1][1] - columns[at][0]
            ):
                return at, at + 1
        return nearest, nearest
    return reached[0], reached[-1]


def _even(parts: Sequence[CellPart], columns: Sequence[Column]) -> list[tuple[int, int]] | None:
    """Equal shares of the value columns, where each name stands over the middle of its share."""
    count = len(columns) - 1
    if len(parts) < 2 or count % len(parts) or count == len(parts):
        return None
    size = count // len(parts)
    shares = [(1 + at * size, (at + 1) * size) for at in range(len(parts))]
    return shares if all(_in_middle(part, share, columns) for part, share in zip(parts, shares, strict=True)) else None


def _is_over_all(part: CellPart, columns: Sequence[Column]) -> bool:
    """Whether a name alone stands over the middle of all values, where no column of an even number of them is."""
    return abs(part.middle - (columns[1][0] + columns[-1][1]) / 2) < max(0.02 * (columns[-1][1] - columns[1][0]), 4.0)


def _in_middle(part: CellPart, span: tuple[int, int], columns: Sequence[Column]) -> bool:
    left, right = columns[span[0]][0], columns[span[1]][1]
    return abs(part.middle - (left + right) / 2) < max(_OFF_MIDDLE * (right - left), 4.0)


def _balanced(
    part: CellPart, span: tuple[int, int], columns: Sequence[Column], drawn: Sequence[Column], taken: set[int]
) -> tuple[int, int]:
    """The widest stretch around a column with the name in its middle and a line drawn under all of it."""
    widest = span
    for first in range(1, span[0] + 1):
        for last in range(span[1], len(columns)):
            fits = _clear((first, last), taken) and _in_middle(part, (first, last), columns)
            if fits and last - first > widest[1] - widest[0] and _underlined((first, last), columns, drawn):
                widest = (first, last)
    return widest


def _clear(span: tuple[int, int], taken: set[int]) -> bool:
    return not any(column in taken for column in range(span[0], span[1] + 1))


def _underlined(span: tuple[int, int], columns: Sequence[Column], drawn: Sequence[Column]) -> bool:
    return all(
        any(left - 2 <= (columns[at][0] + columns[at][1]) / 2 <= right + 2 for left, right in drawn)
        for at in range(span[0], span[1] + 1)
    )
