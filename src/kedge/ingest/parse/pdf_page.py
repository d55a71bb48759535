"""One PDF page to lines: characters → runs → rows → columns in reading order."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median

import pypdfium2.raw as pdfium

_RUN_GAP = 1.5
"""Gap, in font sizes, that separates table cells and columns."""
_HYPHENS = frozenset((0x02, 0xFFFE, 0xAD))
_LABEL = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3})*[.):]?|[•●◦▪■‣∙·–—*-]|\(\w{1,4}\)|(?:Item|ITEM|Part|PART|Note)\s+\w{1,3}\.?)"
)
_LONE_SIGNS = frozenset((" $", " €", " £"))
_UNIT_BEFORE, _UNIT_AFTER = frozenset("$€£("), frozenset((")", "%", ")%", "%)"))


@dataclass(slots=True)
class Run:
    """Characters of one font that stand close together on one line."""

    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    bold: bool = False
    turned: bool = False
    last: int = 0
    """Index of the last character."""
    letters: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.letters).strip()


@dataclass(frozen=True, slots=True)
class Line:
    """A row of runs within one column."""

    cells: tuple[str, ...]
    """One for text; several where wide gaps divide the row like a table's."""
    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    bold: bool
    column: tuple[float, float]
    """Left and right edge of the column it stands in."""

    @property
    def text(self) -> str:
        return " ".join(self.cells)


def read_lines(page: object, width: float) -> list[Line]:
    """Lines of a text page (a pdfium handle) in reading order."""
    runs = [run for run in _runs(page) if run.text and not run.turned]
    for run in runs:
        run.bold = run.bold and _is_bold(page, run.last)
    lines: list[Line] = []
    for column in _columns(runs, width):
        edges = (min(run.x0 for run in column), max(run.x1 for run in column))
        lines.extend(_line(row, edges) for row in _rows(column))
    return lines


def _runs(page: object) -> Iterator[Run]:
    box = pdfium.FS_RECTF()
    run: Run | None = None
    space = False
    for index in range(pdfium.FPDFText_CountChars(page)):
        code = pdfium.FPDFText_GetUnicode(page, index)
        if code in (10, 13):
            if run:
                yield run
            run = None
        elif code in (9, 32, 0xA0):
            space = True
        elif code >= 32 or code in _HYPHENS:
            if not pdfium.FPDFText_GetLooseCharBox(page, index, box):
                continue
            size = _size(page, index, box)
            if run and not _continues(run, box, size):
                yield run
                run = None
            if run is None:
                run, space = _new_run(page, index, box, size), False
            run.last = index
            _extend(run, "-" if code in _HYPHENS else _letter(code), space, box)
            space = False
    if run:
        yield run


def _new_run(page: object, index: int, box: pdfium.FS_RECTF, size: float) -> Run:
    turned = abs(math.sin(pdfium.FPDFText_GetCharAngle(page, index))) > 0.3
    return Run(box.left, box.right, box.bottom, box.top, size, _is_bold(page, index), turned)


def _letter(code: int) -> str:
    return "" if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF else chr(code)


def _size(page: object, index: int, box: pdfium.FS_RECTF) -> float:
    """Height as drawn: some writers set size 1 and scale by matrix."""
    size = float(pdfium.FPDFText_GetFontSize(page, index))
    height = box.top - box.bottom
    return height if size <= 2 or size > 4 * height > 0 else size


def _is_bold(page: object, index: int) -> bool:
    if pdfium.FPDFText_GetFontWeight(page, index) >= 600:
        return True
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(page, index, name, 128, None)
    return any(word in name.value for word in (b"Bold", b"bold", b"Black", b"Semibold", b"Medi", b"CMBX", b"BX1"))


def _continues(run: Run, box: pdfium.FS_RECTF, size: float) -> bool:
    middle, own = (box.top + box.bottom) / 2, (run.y0 + run.y1) / 2
    em = max(run.size, size)
    gap = float(box.left - run.x1)
    return bool(abs(middle - own) < 0.6 * em) and -0.5 * em < gap < _RUN_GAP * em


def _extend(run: Run, letter: str, space: bool, box: pdfium.FS_RECTF) -> None:
    if run.letters and (space or box.left - run.x1 > 0.3 * run.size):
        run.letters.append(" ")
    run.letters.append(letter)
    run.x1 = max(run.x1, box.right)


def _rows(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs on the same height together, rows from the top, runs from the left."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: -(run.y0 + run.y1)):
        middle = (run.y0 + run.y1) / 2
        anchor = rows[-1][0] if rows else None
        if anchor and abs(middle - (anchor.y0 + anchor.y1) / 2) < 0.5 * max(anchor.size, run.size):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [sorted(row, key=lambda run: run.x0) for row in rows]


def _columns(runs: list[Run], width: float) -> list[list[Run]]:
    """Groups of runs in reading order: the page itself, or bands of left and right column under what spans both."""
    gutter = _gutter(runs, width)
    if gutter is None:
        return [runs] if runs else []
    spanning = [row for row in _rows(runs) if any(run.x0 < gutter - 2 and run.x1 > gutter + 2 for run in row)]
    wide = {id(run) for row in spanning for run in row}
    heights = [sum(run.y0 + run.y1 for run in row) / (2 * len(row)) for row in spanning]
    groups: dict[tuple[int, int], list[Run]] = {}
    for run in runs:
        middle = (run.y0 + run.y1) / 2
        if id(run) not in wide:
            band = sum(height > middle for height in heights)
            groups.setdefault((band, 0 if run.x1 <= gutter + 2 else 1), []).append(run)
    for number, row in enumerate(spanning):
        groups.setdefault((number, 2), []).extend(row)
    return _joined_spans(groups)


def _joined_spans(groups: dict[tuple[int, int], list[Run]]) -> list[list[Run]]:
    """Spanning rows with nothing between them are one group, so that their lines can form a paragraph."""
    ordered: list[list[Run]] = []
    last_side = -1
    for _, side in sorted(groups):
        runs = groups[_, side]
        if side == 2 and last_side == 2:
            ordered[-1].extend(runs)
        else:
            ordered.append(list(runs))
        last_side = side
    return ordered


def _gutter(runs: Sequence[Run], width: float) -> float | None:
    """Where the white strip between two text columns lies; None on pages of one column and on tables."""
    if len(runs) < 20:
        return None
    tries = [width * (0.25 + 0.5 * step / 100) for step in range(101)]
    crossing = [sum(run.x0 < x - 2 and run.x1 > x + 2 for run in runs) for x in tries]
    least = min(crossing)
    strips = [list(strip) for count, strip in groupby(range(len(tries)), key=crossing.__getitem__) if count == least]
    strip = max(strips, key=len)
    gutter = tries[strip[len(strip) // 2]]
    left = [run for run in runs if run.x1 <= gutter + 2]
    right = [run for run in runs if run.x0 >= gutter - 2]
    if least > 0.3 * len(runs) or not (_is_prose(left) and _is_prose(right)):
        return None
    return gutter


def _is_prose(runs: Sequence[Run]) -> bool:
    """Whether most rows fill the column, as text does and a table's cells do not."""
    rows = _rows(runs)
    if len(rows) < 6:
        return False
    wide = max(run.x1 for run in runs) - min(run.x0 for run in runs)
    return median(sum(run.x1 - run.x0 for run in row) for row in rows) > 0.6 * wide


def _line(row: Sequence[Run], column: tuple[float, float]) -> Line:
    main = max(row, key=lambda run: len(run.letters))
    return Line(
        cells=_cells(row),
        x0=row[0].x0,
        x1=max(run.x1 for run in row),
        y0=min(run.y0 for run in row),
        y1=max(run.y1 for run in row),
        size=main.size,
        bold=all(run.bold for run in row),
        column=column,
    )


def _cells(row: Sequence[Run]) -> tuple[str, ...]:
    """Texts of a row; neighbours are one cell when close, and signs and list marks go with what they belong to."""
    cells = [row[0].text]
    for before, run in pairwise(row):
        text = run.text
        near = run.x0 - before.x1 < _RUN_GAP * max(before.size, run.size)
        if cells[-1] in _UNIT_BEFORE or text in _UNIT_AFTER:
            cells[-1] += text
        elif near or (len(cells) == 1 and _LABEL.fullmatch(cells[0])):
            cells[-1] += f" {text}" if run.x0 - before.x1 > 0.15 * run.size else text
        else:
            sign = cells[-1][-2:] if cells[-1][-2:] in _LONE_SIGNS else ""
            cells[-1] = cells[-1].removesuffix(sign)
            cells.append(sign.strip() + text)
    return tuple(cells)
