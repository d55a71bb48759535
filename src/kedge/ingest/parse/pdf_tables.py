"""Ruled tables in PDFs: thin lines that cross make a grid, and words lie in its cells.

Tables of figures that were found by their alignment stay as they are: shaded rows look like a grid and are none.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import pypdfium2
from pypdfium2 import raw

from kedge.ingest.parse.pdf_headers import PageRules
from kedge.ingest.parse.pdf_page import Line

_MAX_PATHS = 4000
_MAX_RULES = 1500
_MOST_COLUMNS, _MOST_ROWS = 60, 400
_LEAST_LINES = 3
"""Lines each way of a grid."""
_NEAR = 2.5
"""Points by which lines may miss each other and still meet."""
_THIN = 2.0
Rows = list[list[str]]
Box = tuple[float, float, float, float]


@dataclass(slots=True)
class _Rule:
    """A straight line: where it lies, and from where to where it runs."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class _Ruled:
    """A grid: its edges from the left and from the top, and the lines it is made of."""

    xs: list[float]
    ys: list[float]
    across: list[_Rule]
    down: list[_Rule]

    @property
    def box(self) -> Box:
        return self.xs[0], self.ys[-1], self.xs[-1], self.ys[0]

    def parted_right(self, row: int, column: int) -> bool:
        """Whether a line runs at the right of a cell."""
        x, y = self.xs[column + 1], (self.ys[row] + self.ys[row + 1]) / 2
        return any(abs(rule.at - x) < _NEAR and rule.start - 1 <= y <= rule.end + 1 for rule in self.down)

    def parted_below(self, row: int, column: int) -> bool:
        """Whether a line runs below a cell."""
        x, y = (self.xs[column] + self.xs[column + 1]) / 2, self.ys[row + 1]
        return any(abs(rule.at - y) < _NEAR and rule.start - 1 <= x <= rule.end + 1 for rule in self.across)


def read_rules(page: pypdfium2.PdfPage) -> PageRules:
    """The thin lines of a page and the edges of its drawn boxes; none where it is a drawing of thousands of them."""
    across: list[Box] = []
    down: list[Box] = []
    for number, item in enumerate(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=2)):
        if number > _MAX_PATHS or len(across) + len(down) > _MAX_RULES:
            return PageRules()
        left, bottom, right, top = item.get_bounds()
        if top - bottom < _THIN and right - left > 5:
            across.append((left, bottom, right, top))
        elif right - left < _THIN and top - bottom > 5:
            down.append((left, bottom, right, top))
        elif right - left > 12 and top - bottom > 6 and _is_drawn_box(item):
            across += [(left, bottom, right, bottom), (left, top, right, top)]
            down += [(left, bottom, left, top), (right, bottom, right, top)]
    return PageRules(tuple(across), tuple(down))


def _is_drawn_box(item: pypdfium2.PdfObject) -> bool:
    """Whether a path is one rectangle whose edges are drawn."""
    fill, stroke = ctypes.c_int(0), ctypes.c_int(0)
    if not raw.FPDFPath_GetDrawMode(item.raw, fill, stroke) or not stroke.value:
        return False
    return bool(4 <= raw.FPDFPath_CountSegments(item.raw) <= 6)


def with_ruled_tables(lines: list[Line], rules: PageRules) -> list[Line]:
    """The lines of a page, those inside a ruled table replaced by its rows."""
    settled = _settled(lines)
    for grid in _grids(rules, settled):
        rows = _rows(grid, lines)
        if _is_table(rows):
            lines = _replace(lines, grid.box, rows)
    return lines


def _grids(rules: PageRules, settled: Sequence[Box]) -> Iterator[_Ruled]:
    """Grids of at least two rows and two columns, from the top of the page."""
    across = _merged(
        [_Rule((r[1] + r[3]) / 2, r[0], r[2]) for r in rules.across if not any(_overlap(r, box) for box in settled)]
    )
    down = _merged(
        [_Rule((r[0] + r[2]) / 2, r[1], r[3]) for r in rules.down if not any(_overlap(r, box) for box in settled)]
    )
    found: list[_Ruled] = []
    for some_across, some_down in _components(across, down):
        xs, ys = _places(some_down), _places(some_across)[::-1]
        if _LEAST_LINES <= len(xs) <= _MOST_COLUMNS + 1 and _LEAST_LINES <= len(ys) <= _MOST_ROWS + 1:
            found.append(_Ruled(xs, ys, some_across, some_down))
    yield from sorted(found, key=lambda grid: -grid.ys[0])


def _merged(rules: list[_Rule]) -> list[_Rule]:
    """Lines that lie on each other or go on where another ends, as one."""
    made: list[_Rule] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.at / _NEAR), rule.start)):
        last = made[-1] if made else None
        if last and abs(last.at - rule.at) < _NEAR and rule.start <= last.end + _NEAR:
            last.end = max(last.end, rule.end)
        else:
            made.append(rule)
    return made


def _components(across: list[_Rule], down: list[_Rule]) -> Iterator[tuple[list[_Rule], list[_Rule]]]:
    """Lines that hang together by their crossings."""
    above = list(range(len(across) + len(down)))

    def root(one: int) -> int:
        while above[one] != one:
            above[one] = above[above[one]]
            one = above[one]
        return one

    for number, rule in enumerate(across):
        for other, upright in enumerate(down, len(across)):
            meets = rule.start - _NEAR <= upright.at <= rule.end + _NEAR
            if meets and upright.start - _NEAR <= rule.at <= upright.end + _NEAR:
                above[root(number)] = root(other)
    groups: dict[int, tuple[list[_Rule], list[_Rule]]] = {}
    for number, rule in enumerate([*across, *down]):
        groups.setdefault(root(number), ([], []))[number >= len(across)].append(rule)
    yield from groups.values()


def _places(rules: Sequence[_Rule]) -> list[float]:
    """Where lines lie, those close together as one, in ascending order."""
    places: list[float] = []
    for at in sorted(rule.at for rule in rules):
        if not places or at - places[-1] > 2 * _NEAR:
            places.append(at)
    return places


def _rows(grid: _Ruled, lines: Sequence[Line]) -> Rows:
    """The words of each cell; a cell over several columns says its words in each, as headers do."""
    height, width = len(grid.ys) - 1, len(grid.xs) - 1
    words: dict[tuple[int, int], list[str]] = {}
    falling = [-y for y in grid.ys]
    for line in lines:
        if not _is_inside(line, grid.box):
            continue
        row = min(max(bisect_right(falling, -(line.y0 + line.y1) / 2) - 1, 0), height - 1)
        for word in line.words:
            column = min(max(bisect_right(grid.xs, (word.x0 + word.x1) / 2) - 1, 0), width - 1)
            words.setdefault((row, column), []).append(word.text)
    table: Rows = []
    spoken: list[list[tuple[int, int]]] = []
    for row in range(height):
        spoken.append([])
        for column in range(width):
            own = (row, column)
            if row and not grid.parted_below(row - 1, column):
                own = spoken[row - 1][column]
            elif column and not grid.parted_right(row, column - 1):
                own = spoken[row][column - 1]
            spoken[row].append(own)
    cells: dict[tuple[int, int], list[str]] = {}
    for row in range(height):
        for column in range(width):
            cells.setdefault(spoken[row][column], []).extend(words.get((row, column), ()))
    for row in range(height):
        table.append([" ".join(cells[spoken[row][column]]) for column in range(width)])
    return table


def _settled(lines: Sequence[Line]) -> list[Box]:
    """Where tables of figures stand."""
    boxes: list[Box] = []
    for number, group in groupby(lines, key=lambda line: line.table):
        if not number:
            continue
        rows = list(group)
        figures = sum(any(letter.isdigit() for letter in row.text.rpartition("|")[2]) for row in rows)
        if 2 * figures >= len(rows):
            x0, x1 = min(row.x0 for row in rows), max(row.x1 for row in rows)
            boxes.append((x0, min(row.y0 for row in rows), x1, max(row.y1 for row in rows)))
    return boxes


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _is_table(rows: Rows) -> bool:
    cells = [cell for row in rows for cell in row]
    filled = [row for row in rows if sum(map(bool, row)) > 1]
    return len(filled) >= 2 and sum(map(bool, cells)) >= 0.35 * len(cells)


def _replace(lines: Sequence[Line], box: Box, rows: Rows) -> list[Line]:
    inside = [line for line in lines if _is_inside(line, box)]
    if not inside:
        return list(lines)
    first = inside[0]
    number = 1 + max(line.table for line in lines)
    table = [replace(first, text=_written(row), column=(box[0], box[2]), table=number) for row in _distinct(rows)]
    kept: list[Line] = []
    for line in lines:
        if line is first:
            kept.extend(table)
        elif not _is_inside(line, box):
            kept.append(line)
    return kept


def _distinct(rows: Rows) -> Iterator[list[str]]:
    """The rows that hold something, each once where a cell spans them all."""
    filled = [row for row in rows if any(row)]
    yield from (row for before, row in pairwise([[], *filled]) if row != before)


def _is_inside(line: Line, box: Box) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _written(row: Sequence[str]) -> str:
    """A row as text, a bar inside a cell shown otherwise; bars around it where its first or last cell is empty."""
    cells = [cell.replace("|", "∣") for cell in _with_signs(row)]
    if len(set(cells)) == 1:
        return f"| {cells[0]} |"
    text = " | ".join(cells)
    whole = text if cells[0] and cells[-1] else f"| {text} |"
    return whole.replace("|  |", "| |").replace("|  |", "| |")


def _with_signs(row: Sequence[str]) -> list[str]:
    """Cells, a currency sign in a cell of its own put before its number."""
    cells: list[str] = []
    for cell in row:
        if cells and cells[-1] in ("$", "€", "£"):
            cells[-1] += cell
        else:
            cells.append(cell)
    return cells
