"""Ruled tables in PDFs by pdfplumber: slow, so only on pages whose lines form a grid, and only on so many.

The bound is a number of pages, not of seconds: the same bytes must give the same passages on every machine.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pdfplumber
import pypdfium2
from pdfminer.pdfexceptions import PDFException
from pdfminer.psexceptions import PSException
from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException
from pypdfium2 import raw

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

    def with_tables(self, page: pypdfium2.PdfPage, number: int, lines: list[Line]) -> list[Line]:
        """The lines of a page, those inside a ruled table replaced by its rows."""
        if len(lines) > _MAX_LINES or self._left < 0 or not _has_grid(page):
            return lines
        self._left -= 1
        if self._left < 0:
            self.warnings.append(f"Ruled tables were looked for up to page {number} only.")
            return lines
        for box, rows in self._tables(number, page.get_height()):
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


def _has_grid(page: pypdfium2.PdfPage) -> bool:
    """Whether thin lines run both ways."""
    across = down = 0
    for number, item in enumerate(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=2)):
        if number > _MAX_PATHS:
            return False
        left, bottom, right, top = item.get_bounds()
        across += top - bottom < 2 and right - left > 30
        down += right - left < 2 and top - bottom > 12
    return across >= _LEAST_LINES and down >= _LEAST_LINES


def _is_table(rows: Rows) -> bool:
    cells = [cell for row in rows for cell in row]
    return len(rows) >= 2 and max(map(len, rows)) >= 2 and sum(map(bool, cells)) >= 0.5 * len(cells)


def _replace(lines: Sequence[Line], box: Box, rows: Rows) -> list[Line]:
    inside = [line for line in lines if _is_inside(line, box)]
    if not inside:
        return list(lines)
    first = inside[0]
    table = [replace(first, cells=_with_signs(row), column=(box[0], box[2])) for row in rows if any(row)]
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
