"""Ruled tables in PDFs by pdfplumber: slow, so only on pages whose lines form a grid, and only on so many.

Tables of figures that were found by their alignment stay as they are: shaded rows look like a grid and are none.

The bound is a number of pages, not of seconds: the same bytes must give the same passages on every machine.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pdfplumber
import pypdfium2
from pdfminer.pdfexceptions import PDFException
from pdfminer.psexceptions import PSException
from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException
from pypdfium2 import raw

from kedge.ingest.parse.pdf_headers import PageRules
from kedge.ingest.parse.pdf_page import Line

MAX_PAGES = 20
"""Pages of one document that are searched; about a third of a second each."""
_FAULTS = (
    PDFException,
    PSException,
    MalformedPDFException,
    PdfminerException,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    AssertionError,
    RecursionError,
    OverflowError,
)
"""What pdfminer raises on damaged files; a table that cannot be read stays text."""
_MAX_PATHS = 1500
_MAX_LINES = 300
_LEAST_LINES = 4
Rows = list[list[str]]
Box = tuple[float, float, float, float]


class TableFinder:
    """Finds the ruled tables of one document."""

    def __init__(self, data: bytes | Path) -> None:
        self._data = data
        self._left = MAX_PAGES
        self.warnings: list[str] = []

    def with_tables(self, page: pypdfium2.PdfPage, number: int, lines: list[Line], rules: PageRules) -> list[Line]:
        """The lines of a page, those inside a ruled table replaced by its rows."""
        settled = _settled(lines)
        if len(lines) > _MAX_LINES or self._left < 0 or not _has_grid(rules, settled):
            return lines
        self._left -= 1
        if self._left < 0:
            self.warnings.append(f"Ruled tables were looked for up to page {number} only.")
            return lines
        for box, rows in self._tables(number, page.get_height()):
            if not any(_overlap(box, other) for other in settled):
                lines = _replace(lines, box, rows)
        return lines

    def _tables(self, number: int, height: float) -> list[tuple[Box, Rows]]:
        source = io.BytesIO(self._data) if isinstance(self._data, bytes) else self._data
        try:
            with pdfplumber.open(source, pages=[number + 1]) as pdf:
                found = [(table.bbox, table.extract()) for table in pdf.pages[0].find_tables()]
        except _FAULTS:
            self.warnings.append(f"The ruled tables on page {number + 1} could not be read; their text is kept.")
            return []
        tables: list[tuple[Box, Rows]] = []
        for (x0, top, x1, bottom), cells in found:
            rows = [[" ".join((cell or "").split()) for cell in row] for row in cells]
            if _is_table(rows):
                tables.append(((x0, height - bottom, x1, height - top), rows))
        return tables


def read_rules(page: pypdfium2.PdfPage) -> PageRules:
    """The thin lines of a page; none where it is a drawing of thousands of them."""
    across: list[Box] = []
    down: list[Box] = []
    for number, item in enumerate(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=2)):
        if number > _MAX_PATHS:
            return PageRules()
        left, bottom, right, top = item.get_bounds()
        if top - bottom < 2 and right - left > 5:
            across.append((left, bottom, right, top))
        elif right - left < 2 and top - bottom > 12:
            down.append((left, bottom, right, top))
    return PageRules(tuple(across), tuple(down))


def _has_grid(rules: PageRules, settled: Sequence[Box]) -> bool:
    """Whether thin lines run both ways outside the tables that are found already."""
    across = [
        rule for rule in rules.across if rule[2] - rule[0] > 30 and not any(_overlap(rule, box) for box in settled)
    ]
    down = [rule for rule in rules.down if not any(_overlap(rule, box) for box in settled)]
    return len(across) >= _LEAST_LINES and len(down) >= _LEAST_LINES


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
    return len(rows) >= 2 and max(map(len, rows)) >= 2 and sum(map(bool, cells)) >= 0.5 * len(cells)


def _replace(lines: Sequence[Line], box: Box, rows: Rows) -> list[Line]:
    inside = [line for line in lines if _is_inside(line, box)]
    if not inside:
        return list(lines)
    first = inside[0]
    number = 1 + max(line.table for line in lines)
    table = [
        replace(first, text=" | ".join(_with_signs(row)), column=(box[0], box[2]), table=number)
        for row in rows
        if any(row)
    ]
    kept: list[Line] = []
    for line in lines:
        if line is first:
            kept.extend(table)
        elif not _is_inside(line, box):
            kept.append(line)
    return kept


def _is_inside(line: Line, box: Box) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _with_signs(row: list[str]) -> tuple[str, ...]:
    """Cells that hold something, a currency sign put before its number."""
    cells: list[str] = []
    for cell in filter(None, row):
        if cells and cells[-1] in ("$", "€", "£"):
            cells[-1] += cell
        else:
            cells.append(cell)
    return tuple(cells)
