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

from kedge.ingest.parse.pdf.headers import PageRules
from kedge.ingest.parse.pdf.page import Line
from kedge.ingest.parse.pdf.runs import PageWord

_MAX_PATHS = 4000
_MAX_RULES = 1500
_MOST_COLUMNS, _MOST_ROWS = 60, 400
_LEAST_LINES = 3
"""Lines each way of a grid."""
_PARTED_ROWS = 6
"""Rows between drawn lines from which on these show whether they part rows or groups of rows."""
_NEAR = 2.5
"""Points by which lines may miss each other and still meet."""
_THIN = 3.2
"""Points that the bounds of a line are thick at most, which are twice its width."""
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
    cuts: frozenset[float] = frozenset()
    """Those of `ys` that part rows without a line."""
    reached: frozenset[float] = frozenset()
    """Those of `cuts` over which the first cell reaches: the name of a group beside its rows."""

    @property
    def box(self) -> Box:
        return self.xs[0], self.ys[-1], self.xs[-1], self.ys[0]

    def parted_right(self, row: int, column: int) -> bool:
        """Whether a line runs at the right of a cell."""
        x, y = self.xs[column + 1], (self.ys[row] + self.ys[row + 1]) / 2
        return any(abs(rule.at - x) < _NEAR and rule.start - 1 <= y <= rule.end + 1 for rule in self.down)

    def parted_at(self, level: Sequence[Line]) -> list[bool]:
        """Which of the lines between columns run beside lines of text."""
        y = (level[0].y0 + level[0].y1) / 2
        return [
            any(abs(rule.at - x) < _NEAR and rule.start - 1 <= y <= rule.end + 1 for rule in self.down)
            for x in self.xs[1:-1]
        ]

    def parted_below(self, row: int, column: int) -> bool:
        """Whether a line runs below a cell."""
        x, y = (self.xs[column] + self.xs[column + 1]) / 2, self.ys[row + 1]
        if y in self.cuts:
            return column > 0 or y not in self.reached
        return any(abs(rule.at - y) < _NEAR and rule.start - 1 <= x <= rule.end + 1 for rule in self.across)


def read_rules(page: pypdfium2.PdfPage) -> PageRules:
    """The thin lines of a page and the edges of its drawn boxes; none where it is a drawing of thousands of them."""
    across: list[Box] = []
    down: list[Box] = []
    for number, item in enumerate(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=2)):
        if number > _MAX_PATHS or len(across) + len(down) > _MAX_RULES:
            return PageRules()
        left, bottom, right, top = _bounds(item)
        if top - bottom < _THIN and right - left > 5:
            across.append((left, bottom, right, top))
        elif right - left < _THIN and top - bottom > 5:
            down.append((left, bottom, right, top))
        elif right - left > 12 and top - bottom > 6 and _is_drawn_box(item):
            across += [(left, bottom, right, bottom), (left, top, right, top)]
            down += [(left, bottom, left, top), (right, bottom, right, top)]
    return PageRules(tuple(across), tuple(down))


def _bounds(item: pypdfium2.PdfObject) -> Box:
    """Where an object lies on the page; pdfium says it within the form that holds it."""
    box: Box = item.get_bounds()
    form = item.container
    while form is not None:
        box = form.get_matrix().on_rect(*box)
        form = form.container
    return box


def _is_drawn_box(item: pypdfium2.PdfObject) -> bool:
    """Whether a path is one rectangle whose edges are drawn."""
    fill, stroke = ctypes.c_int(0), ctypes.c_int(0)
    if not raw.FPDFPath_GetDrawMode(item.raw, fill, stroke) or not stroke.value:
        return False
    return bool(4 <= raw.FPDFPath_CountSegments(item.raw) <= 6)


def with_ruled_tables(lines: list[Line], rules: PageRules, read: Sequence[Line]) -> list[Line]:
    """The lines of a page, those inside a ruled table replaced by its rows; `read` are all lines as they were read."""
    settled = _settled(lines)
    found = list(_grids(rules))
    whole = [grid for grid in found if any(_overlap(grid.box, box) for box in settled)]
    if whole:
        found = [grid for grid in found if grid not in whole]
        kept = [grid for grid in whole if _says_more(grid, lines, read)]
        boxes = [box for box in settled if not any(_overlap(grid.box, box) for grid in kept)]
        taken = [grid.box for grid in [*found, *kept]]
        rest = [grid for grid in _grids(rules, boxes) if not any(_overlap(grid.box, box) for box in taken)]
        found = sorted([*found, *kept, *rest], key=lambda grid: -grid.ys[0])
    for grid in found:
        rows = _rows(with_cuts(grid, read), read)
        if _is_table(rows):
            lines = _replace(lines, grid.box, rows)
    return lines


def _says_more(grid: _Ruled, lines: Sequence[Line], read: Sequence[Line]) -> bool:
    """Whether its lines part as many cells as alignment did, or more: the lines of a table, not of its shading."""
    aligned = [line.text.strip("| ").split("|") for line in lines if line.table and _is_inside(line, grid.box)]
    rows = _rows(with_cuts(grid, read), read)
    filled = sum(map(bool, (cell for row in rows for cell in row)))
    return (
        _is_table(rows)
        and len(grid.xs) > max(map(len, aligned), default=0)
        and filled >= sum(bool(cell.strip()) for cells in aligned for cell in cells)
    )


def with_cuts(grid: _Ruled, lines: Sequence[Line]) -> _Ruled:
    """The grid, parted too between rows that no line parts: columns alone are drawn, or a group of rows is framed."""
    inside = sorted((line for line in lines if _is_inside(line, grid.box)), key=lambda line: -(line.y0 + line.y1))
    falling = [-y for y in grid.ys]
    bands: dict[int, list[list[Line]]] = {}
    for line in inside:
        middle = (line.y0 + line.y1) / 2
        band = bands.setdefault(bisect_right(falling, -middle), [])
        if band and abs((band[-1][0].y0 + band[-1][0].y1) / 2 - middle) < 0.5 * line.size:
            band[-1].append(line)
        else:
            band.append([line])
    padding = _padding(grid, [_by_column(grid, [line]) for line in inside])
    cuts: set[float] = set()
    reached: set[float] = set()
    several = [band for band in bands.values() if len(band) > 1]
    if len(bands) >= _PARTED_ROWS and 3 * len(several) < len(bands):
        several = []  # lines part the rows: what stands on several lines are long cells
    for band in several:
        own, named = _cuts(grid, band, padding)
        cuts.update(own)
        reached.update(() if named else own)
    ys = sorted([*grid.ys, *cuts], reverse=True)
    if not cuts or len(ys) > _MOST_ROWS + 1:
        return grid
    return replace(grid, ys=ys, cuts=frozenset(cuts), reached=frozenset(reached))


def _cuts(grid: _Ruled, levels: Sequence[list[Line]], padding: Sequence[float]) -> tuple[list[float], bool]:
    """Where the lines of text between two drawn lines are rows of their own, and whether each has a first cell.

    They are where most stand in several columns, and in one of these most broke though the next word would have fitted,
    or where cells reach over several columns in one line and not in the next, as in a head.
    A line in one column alone goes on what stands above it there.
    """
    cells = [_by_column(grid, level) for level in levels]
    full = [len(row) > 1 for row in cells]
    if sum(full) < 2 or 2 * sum(full) < len(cells):
        return [], True
    early = any(grid.parted_at(upper) != grid.parted_at(lower) for upper, lower in pairwise(levels))
    for column in range(len(grid.xs) - 1):
        stacked = [row[column] for row in cells if column in row]
        room = grid.xs[column + 1] - grid.xs[column] - 2 * padding[column]
        breaks = [_broke_early(upper, lower, room) for upper, lower in pairwise(stacked)]
        early = early or (len(breaks) > 0 and 2 * sum(breaks) >= len(breaks))
    if not early:
        return [], True
    labelled = [0 in row for row in cells]
    beside = sum(one != other for one, other in pairwise([False, *labelled, False])) == 2 and not all(labelled)
    cuts = [
        (min(line.y0 for line in upper) + max(line.y1 for line in lower)) / 2
        for (upper, lower), row in zip(pairwise(levels), cells[1:], strict=True)
        if 0 in row or (beside and len(row) > 1)
    ]
    return cuts, not beside


def _by_column(grid: _Ruled, level: Sequence[Line]) -> dict[int, list[PageWord]]:
    """The words of one height by the column they lie in."""
    found: dict[int, list[PageWord]] = {}
    for line in level:
        for word in line.words:
            column = bisect_right(grid.xs, (word.x0 + word.x1) / 2) - 1
            found.setdefault(min(max(column, 0), len(grid.xs) - 2), []).append(word)
    return found


def _padding(grid: _Ruled, cells: Sequence[dict[int, list[PageWord]]]) -> list[float]:
    """How far, at least, the words of each column stay from its lines."""
    found = []
    for column, (left, right) in enumerate(pairwise(grid.xs)):
        inside = [row[column] for row in cells if column in row]
        gaps = (min(words[0].x0 - left, right - words[-1].x1) for words in inside)
        found.append(max(min(gaps, default=0.0), 0.0))
    return found


def _broke_early(upper: Sequence[PageWord], lower: Sequence[PageWord], room: float) -> bool:
    """Whether the first word of the lower line would have fitted behind the upper one."""
    letters = sum(len(word.text) for word in upper) or 1
    space = 0.5 * sum(word.x1 - word.x0 for word in upper) / letters
    return upper[-1].x1 - upper[0].x0 + space + lower[0].x1 - lower[0].x0 < room


def _grids(rules: PageRules, settled: Sequence[Box] = ()) -> Iterator[_Ruled]:
    """Grids of at least two rows and two columns, from the top of the page; none of what lies in settled boxes."""
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
    if len(set(cells)) == 1 or not any(cells[1:]):
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
