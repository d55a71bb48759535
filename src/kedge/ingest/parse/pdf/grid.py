"""Tables of a PDF page by their alignment: rows that stand together, columns between the white strips that all leave.

Rows begin as lines with wide gaps or with figures at their end. What stands between them and keeps out of the value
columns belongs to the table (a group's name, the first line of a long label), and so do the headers above. Cells are
written by column, an empty one where a row has none, and a header that reaches over several columns over each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median

from kedge.ingest.parse.pdf.cells import (
    STRONG_GAP,
    CellPart,
    cell_text,
    has_figures,
    is_strong,
    names_columns,
    segments,
)
from kedge.ingest.parse.pdf.headers import PageRules, header_rows
from kedge.ingest.parse.pdf.page import Line
from kedge.ingest.parse.pdf.text_grid import text_rows

CAPTION = re.compile(
    r"(?:Table|TABLE|Tab\.|Figure|FIGURE|Fig\.)\s{1,3}[A-Z]{0,2}\.?\d{1,3}[a-z]?\s{0,2}[:.|–—](?:\s|$)"
)
_MIN_ROWS = 3
_BRIDGE = 3
"""Lines without cells that may stand between two rows."""
_MAX_HEAD, _MAX_REST = 8, 2
"""Lines above the first row and below the last that may belong to a table."""
_MAX_COLUMNS = 60
_HEAD_WORDS = 10
_STRIP = 0.3
"""Least width, in font sizes, of the white strip between two columns."""
_ROW_REACH = 6.0
_HEAD_REACH = 2.4
"""Font sizes from one line's middle to the next within a table, and within its head."""
_NEXT_LINE, _HALF_LINE = 1.6, 0.75
"""Font sizes to the next line of a cell, and to that of a cell beside which its row stands in the middle."""
_UNIT_LINE = re.compile(r"^\(.{0,40}\bin (?:thousands|millions|billions)", re.IGNORECASE)
_CONTINUES = re.compile(r"[a-z(&]|and\b|\d[\d,]{3,} ")


@dataclass(frozen=True, slots=True)
class _GridRow:
    """A line that may be a row, with its cells."""

    line: Line
    parts: list[CellPart]
    cellular: bool
    """Whether it has cells by itself."""


@dataclass(frozen=True, slots=True)
class TableGrid:
    """The columns of a table: where the content of each begins and ends, the label's first."""

    columns: tuple[tuple[float, float], ...]

    @property
    def values(self) -> float:
        """Where the value columns begin."""
        return self.columns[1][0]

    def column_of(self, x0: float, x1: float) -> int:
        """The column that a stretch lies over most, else the nearest."""
        over = [min(x1, right) - max(x0, left) for left, right in self.columns]
        return max(range(len(over)), key=over.__getitem__)


def with_grids(lines: Sequence[Line], rules: PageRules) -> list[Line]:
    """The lines of a page, those of tables replaced by their rows."""
    made: list[Line] = []
    number = 0
    for (_, apart), group in groupby(lines, key=lambda line: (line.column, line.code or line.label)):
        if apart:
            made.extend(group)
            continue
        rows = [_row(line) for line in group]
        at = 0
        for begin, last in _clusters(rows):
            first = max(begin, at)
            if not any(row.cellular for row in rows[first : last + 1]):
                continue  # the table before went on into it
            table = _table(rows, first, last, at, rules)
            if table is None:
                continue
            start, end, texts = table
            number += 1
            made.extend(map(_outside, rows[at:start]))
            made.extend(replace(line, text=text, table=number) for line, text in texts)
            at = end
        made.extend(map(_outside, rows[at:]))
    return made


def _row(line: Line) -> _GridRow:
    parts = segments(line)
    cellular = len(parts) > 1 and not CAPTION.match(line.text) and (has_figures(parts) or is_strong(line))
    return _GridRow(line, parts, cellular)


def _outside(row: _GridRow) -> Line:
    return replace(row.line, gapped=True) if row.cellular and is_strong(row.line) else row.line


def _clusters(rows: Sequence[_GridRow]) -> Iterator[tuple[int, int]]:
    """First and last row of what stands together; a head in the midst begins another."""
    cellular = [at for at, row in enumerate(rows) if row.cellular]
    start = 0
    for place in range(1, len(cellular) + 1):
        if place == len(cellular) or not _together(rows, cellular[place - 1], cellular[place]):
            yield from _split_at_heads(rows, cellular[start:place])
            start = place


def _together(rows: Sequence[_GridRow], first: int, last: int) -> bool:
    upper, lower = rows[first].parts[-1], rows[last].parts[-1]
    aligned = upper.is_figure and lower.is_figure and upper.x0 < lower.x1 and lower.x0 < upper.x1
    second = rows[first].parts[1].x0
    aligned = aligned or _begins_at(rows[last], second)
    if last - first - 1 > (_BRIDGE if aligned else 1):
        return False
    values = min(second, rows[last].parts[1].x0)
    for before, row in zip(rows[first:last], rows[first + 1 : last + 1], strict=True):
        if _distance(before.line, row.line) > _ROW_REACH * row.line.size:
            return False
        if row is not rows[last] and not _bridges(row.line, values) and not _begins_at(row, second):
            return False
    return True


def _begins_at(row: _GridRow, x: float) -> bool:
    """Whether a cell of a line begins in a column."""
    return any(abs(part.x0 - x) < 0.35 * row.line.size for part in row.parts)


def _bridges(line: Line, values: float) -> bool:
    """Whether a line without cells can stand between rows: short, in the middle, or left of all values."""
    if CAPTION.match(line.text):
        return False
    left, right = line.x0 - line.column[0], line.column[1] - line.x1
    wide = line.column[1] - line.column[0]
    centred = abs(left - right) < 0.06 * wide and left > 0.05 * wide
    return line.x1 - line.x0 < 0.6 * wide or centred or line.x1 < values


def _distance(upper: Line, lower: Line) -> float:
    return (upper.y0 + upper.y1 - lower.y0 - lower.y1) / 2


def _split_at_heads(rows: Sequence[_GridRow], cellular: Sequence[int]) -> Iterator[tuple[int, int]]:
    """A head after rows of data begins a table of its own."""
    edge = _value_edge([rows[at] for at in cellular])
    start, seen, heading = 0, False, False
    for place, at in enumerate(cellular):
        data = _is_data(rows[at], edge)
        head = not data and all(part.x0 > edge - 1 and (part.is_year or not part.is_figure) for part in rows[at].parts)
        if head and seen and not heading:
            yield cellular[start], cellular[place - 1]
            start, seen = place, False
        heading = head
        seen = seen or data
    if cellular:
        yield cellular[start], cellular[-1]


def _value_edge(rows: Sequence[_GridRow]) -> float:
    """Where, about, the values begin: at the second cell of the rows that begin at the left."""
    rows = [row for row in rows if len(row.parts) > 1]
    left, right = min(row.line.x0 for row in rows), max(row.line.x1 for row in rows)
    labelled = [row for row in rows if row.line.x0 < left + 0.35 * (right - left) and row.parts[-1].is_figure] or rows
    return median(row.parts[1].x0 for row in labelled)


def _is_data(row: _GridRow, edge: float) -> bool:
    """Whether a row has a label and ends in figures."""
    labelled = len(row.parts) > 1 and row.parts[0].x0 < edge - 1 and row.parts[-1].is_figure
    return labelled and not all(part.is_year for part in row.parts)


def _table(
    rows: Sequence[_GridRow], first: int, last: int, above: int, rules: PageRules
) -> tuple[int, int, list[tuple[Line, str]]] | None:
    """Where a table begins and ends and the text of its rows; None where lines only look like one."""
    base = max(above, first - _MAX_HEAD)
    found = _placed(rows[base : last + 1 + _MAX_REST], first - base, last - base, rules)
    return (found[0] + base, found[1] + base, found[2]) if found else None


def _placed(
    rows: Sequence[_GridRow], first: int, last: int, rules: PageRules
) -> tuple[int, int, list[tuple[Line, str]]] | None:
    cluster = rows[first : last + 1]
    edge = _value_edge([row for row in cluster if row.cellular])
    data = [row for row in cluster if row.cellular and _is_data(row, edge)]
    if len(data) > 2 and [row for row in data if names_columns(row.parts)] == data[:1]:
        data = data[1:]
    numeric = len(data) > 1
    if not numeric:
        texts = text_rows([row.line for row in rows], first, last)
        if texts is not None:
            return texts
        rows = [replace(row, parts=segments(row.line, STRONG_GAP)) for row in rows]
        cluster = rows[first : last + 1]
        data = [row for row in cluster if row.cellular]
    grid = _grid(data)
    strong = sum(row.cellular and is_strong(row.line) for row in cluster)
    if grid is None:
        if strong < _MIN_ROWS or any(not any(map(str.isalnum, row.line.text)) for row in cluster):
            return None
        return first, last + 1, [(row.line, _by_gaps(row.line)) for row in cluster]
    begin = start = next(at for at in range(first, last + 1) if any(rows[at] is row for row in data[:1]))
    if numeric:
        start = _head_start(rows, begin, grid)
        if start and start < begin and _has_sibling(rows[start - 1], rows[begin : last + 1], grid):
            start -= 1
    head, names = _head(rows[start:begin], grid)
    count = sum(row.cellular or len(row.parts) > 1 for row in rows[start : last + 1])
    named = head or sum(row.parts[0].is_year or not row.parts[0].is_figure for row in data) >= 0.5 * len(data)
    if count < _MIN_ROWS or (not named if numeric else strong < _MIN_ROWS):
        return None
    made = [(line, _written(cells)) for line, cells in header_rows(head, grid.columns, rules)]
    end = last + 1
    while end < len(rows) and _finishes(rows[end - 1], rows[end], grid):
        end += 1
    made.extend(_body([*names, *rows[begin:end]], grid))
    return start, end, made


def _grid(data: Sequence[_GridRow]) -> TableGrid | None:
    """The columns between the white strips that run through the rows; None where there is no such strip."""
    size = median(row.line.size for row in data)
    spans = sorted((part.figure_x0, part.x1) for row in data for part in row.parts)
    allowed = len(data) // 12
    columns = _between_strips(spans, allowed, _STRIP * size)
    if len(columns) > _MAX_COLUMNS:
        return None
    kept: list[tuple[float, float]] = []
    for left, right in columns:
        inside = [part for row in data for part in row.parts if left <= part.middle <= right]
        figures = sum(part.is_figure for part in inside)
        if kept and left - kept[-1][1] < 1.0 * size and 2 * figures < len(inside):
            kept[-1] = (kept[-1][0], right)
        else:
            kept.append((left, right))
    return TableGrid(tuple(_with_signs(kept, data))) if len(kept) > 1 else None


def _with_signs(columns: Sequence[tuple[float, float]], data: Sequence[_GridRow]) -> Iterator[tuple[float, float]]:
    """The columns with the currency signs at their left, as names stand over the middle of both."""
    before = float("-inf")
    for left, right in columns:
        signs = [part.x0 for row in data for part in row.parts if part.x0 > before and left <= part.figure_x0 <= right]
        yield min([left, *signs]), right
        before = right


def _between_strips(spans: Sequence[tuple[float, float]], allowed: int, width: float) -> list[tuple[float, float]]:
    """Stretches that more than `allowed` spans cover, with strips of at least `width` between them."""
    borders = sorted(
        [(x0, 1) for x0, _ in spans] + [(x1, -1) for _, x1 in spans], key=lambda border: (border[0], -border[1])
    )
    found: list[tuple[float, float]] = []
    depth, begin = 0, 0.0
    for x, step in borders:
        if depth <= allowed < depth + step:
            begin = x
        elif depth + step <= allowed < depth:
            if found and begin - found[-1][1] < width:
                found[-1] = (found[-1][0], x)
            else:
                found.append((begin, x))
        depth += step
    return found


def _head_start(rows: Sequence[_GridRow], begin: int, grid: TableGrid) -> int:
    """The first of the lines above the data that are headers, or stand between headers and data."""
    start = at = begin
    while at > 0:
        row, below = rows[at - 1], rows[at]
        reach = _ROW_REACH if row.cellular else _HEAD_REACH
        if _distance(row.line, below.line) > reach * max(row.line.size, below.line.size) or CAPTION.match(
            row.line.text
        ):
            break
        if _is_head(row, grid):
            if len(row.parts) == 1 and start > at and start < begin:
                break  # what stands over the headers at a distance is the table's title
            start = at - 1
        elif not _bridges(row.line, grid.values) or len(row.line.text) > 90:
            break
        at -= 1
    return start


def _has_sibling(row: _GridRow, below: Sequence[_GridRow], grid: TableGrid) -> bool:
    """Whether a line above the headers names a group as others do among the rows, at the same place."""
    if len(row.parts) > 1 or not row.line.x0 < grid.values < row.line.x1:
        return False
    middle = row.line.x0 + row.line.x1
    return any(
        len(other.parts) == 1
        and other.line.x0 < grid.values < other.line.x1
        and min(abs(other.line.x0 - row.line.x0), abs(other.line.x0 + other.line.x1 - middle) / 2) < row.line.size / 2
        for other in below
    )


def _is_head(row: _GridRow, grid: TableGrid) -> bool:
    """Whether a line stands above value columns like their names do."""
    if any(len(part.words) > _HEAD_WORDS for part in row.parts) or _UNIT_LINE.search(row.line.text):
        return False
    if len(row.parts) == 1:
        inside = row.line.x0 > grid.values - 2 * row.line.size and row.line.text[-1:] not in ";:."
        return inside and (row.parts[0].is_year or not row.parts[0].is_figure)
    return any(part.x1 > grid.values for part in row.parts[1:])


def _head(rows: Sequence[_GridRow], grid: TableGrid) -> tuple[list[tuple[Line, list[CellPart]]], list[_GridRow]]:
    """The header lines, and the group names that stand between them and the data, or above both."""
    last = 0
    for at, row in enumerate(rows, 1):
        if len(row.parts) > 1 or (row.line.x0 > grid.values - row.line.size and not _is_wide_name(row, rows[at:])):
            last = at
    above = [row for row in rows[:last] if len(row.parts) == 1 and row.line.x0 < grid.values - row.line.size / 2]
    names = [row for row in above if row.line.x1 > grid.values]
    return [(row.line, row.parts) for row in rows[:last] if row not in names], [*names, *rows[last:]]


def _is_wide_name(row: _GridRow, below: Sequence[_GridRow]) -> bool:
    """Whether a single cell over the values, with no headers below it, names a group of rows."""
    return not any(len(other.parts) > 1 for other in below) and len(row.line.text) > 4


def _finishes(before: _GridRow, row: _GridRow, grid: TableGrid) -> bool:
    """Whether a line below the last row is the rest of its label."""
    return (
        not row.cellular
        and row.line.x1 < grid.values
        and _goes_on(before, _cells(before, grid), row, _cells(row, grid), grid)
    )


def _body(rows: Sequence[_GridRow], grid: TableGrid) -> Iterator[tuple[Line, str]]:
    """The rows below the headers; labels and cells that go on over several lines are put together."""
    made: list[tuple[Line, list[str]]] = []
    before = rows[0]
    for row in rows:
        cells = _cells(row, grid)
        if made and _goes_on(before, made[-1][1], row, cells, grid):
            line, above = made[-1]
            joined = [f"{one} {other}".strip() for one, other in zip(above, cells, strict=True)]
            made[-1] = (replace(line, y0=row.line.y0), joined)
        else:
            made.append((row.line, cells))
        before = row
    for line, cells in made:
        yield line, f"| {cells[0]} |" if _is_panel(line, cells, grid) else _written_short(cells)


def _is_panel(line: Line, cells: Sequence[str], grid: TableGrid) -> bool:
    """Whether a line without cells names a part of the table: it stands over values, or in the middle."""
    left, right = grid.columns[0][0], grid.columns[-1][1]
    centred = abs(line.x0 + line.x1 - left - right) < 0.06 * (right - left)
    return not any(cells[1:]) and (centred or line.x1 > grid.values)


def _goes_on(upper: _GridRow, above: Sequence[str], row: _GridRow, cells: Sequence[str], grid: TableGrid) -> bool:
    """Whether a row is the rest of the one above: of its label, or of one of its cells."""
    first = next((at for at, cell in enumerate(cells) if cell), 0)
    distance = _distance(upper.line, row.line)
    if distance > _NEXT_LINE * row.line.size or not above[first] or above[first][-1:] in ":.":
        return False
    beside = first == 0 and not (upper.line.x0 < row.parts[0].x1 and row.line.x0 < upper.parts[0].x1)
    if beside or not (_CONTINUES.match(cells[first]) or distance < _HALF_LINE * row.line.size):
        return False
    if sum(map(bool, cells)) == 1:
        return True
    word = row.parts[0].words[0]
    fitted = upper.line.x1 + word.x1 - word.x0 + 1.5 * row.line.size < grid.columns[0][1]
    return first == 0 and not any(above[1:]) and not fitted  # what broke though there was room names a group


def _cells(row: _GridRow, grid: TableGrid) -> list[str]:
    """A row's cells by column; a line without cells is one, whatever it stands over."""
    only = row.parts[0]
    if len(row.parts) == 1 and not (only.is_figure and only.x0 > grid.values - 1):
        at = grid.column_of(only.x0, only.x1)
        rest = only.x0 > grid.columns[0][1] and row.line.text[:1].islower()
        return [row.line.text if place == (at if rest else 0) else "" for place in range(len(grid.columns))]
    parts: list[list[CellPart]] = [[] for _ in grid.columns]
    for part in row.parts:
        parts[grid.column_of(part.x0, part.x1)].append(part)
    return [cell_text(word for part in column for word in part.words) for column in parts]


def _by_gaps(line: Line) -> str:
    return " | ".join(part.text for part in segments(line, STRONG_GAP))


def _written(cells: Sequence[str]) -> str:
    """A row as text; bars around it where its first cell or its last is empty."""
    text = " | ".join(cells)
    whole = text if cells[0] and cells[-1] else f"| {text} |"
    return whole.replace("|  |", "| |").replace("|  |", "| |")


def _written_short(cells: Sequence[str]) -> str:
    """A row of values as text, without the empty cells at its end."""
    last = max((at for at, cell in enumerate(cells) if cell), default=0)
    return _written(cells[: last + 1])
