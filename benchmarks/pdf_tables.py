"""Whether cells of PDF tables stand under their row and column: label, column header and value together.

    python -m benchmarks.pdf_tables FOLDER [--misses]

FOLDER holds the PDFs named in `pdf_tables_data` (below it, anywhere); a file that is not there is named and left out.
`cells.txt` are cells of many pages, `pages.txt` all tables of ten pages of other files, `kept_back.txt` of pages that
nothing was mended on; all were read off by eye. For Kedge a cell counts where one statement of the document's text
holds the words of its label, of its header and the value right after that header. For pdfplumber it counts where a
table, found by lines or by the alignment of words, has the value with the words of the label in cells left of it or in
the first cells of the rows above, and those of the header anywhere above it; signs of currency and per cent may stand
in cells of their own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pdfplumber

from kedge.ingest.parse.pdf.read import parse_pdf
from kedge.text.statements.cut import statements
from kedge.text.statements.statement import Statement

_DATA = Path(__file__).with_name("pdf_tables_data")
Table = Sequence[Sequence[str]]


class Expected(NamedTuple):
    """A cell as a person reads it."""

    file: str
    page: int
    """0 where it was not noted."""
    label: str
    header: str
    value: str


def sampled() -> list[Expected]:
    """The cells of `cells.txt`."""
    found = []
    for line in (_DATA / "cells.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            file, label, header, value = (part.strip() for part in line.split("|"))
            found.append(Expected(file, 0, label, header, value))
    return found


def whole(name: str = "pages.txt") -> list[Expected]:
    """Every cell of the tables of a file such as `pages.txt`."""
    found: list[Expected] = []
    file, page = "", 0
    names: list[str] = []
    for line in (_DATA / name).read_text("utf-8").splitlines():
        if line.startswith("=="):
            file, number, _ = (part.strip() for part in line.removeprefix("==").split("|"))
            page, names = int(number), []
        elif line.strip() and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split("|")]
            if not names:
                names = cells
                continue
            label, *values = cells
            named = zip(names[1:], values, strict=True)
            found.extend(Expected(file, page, label, name, value) for name, value in named if value)
    return found


def holds(statement: Statement, cell: Expected) -> bool:
    """Whether a statement says the cell: its value after its header, its label before."""
    read = " ".join(statement.read.split())
    before, dash, values = read.partition(" — ")
    if not dash:
        return False
    for said in values.split("; "):
        header, colon, value = said.rpartition(": ")
        same = value.replace(" ", "") == cell.value.replace(" ", "")
        if colon and same and _has(before, cell.label) and _has(header, cell.header):
            return True
        before += f" {value}"
    return False


def _has(text: str, words: str) -> bool:
    return all(word in text for word in words.split())


def in_grid(table: Table, cell: Expected) -> bool:
    """Whether a table of rows and columns has the cell in its place."""
    wanted = cell.value.replace(" ", "").strip("$%")
    for at, row in enumerate(table):
        for column, text in enumerate(row):
            if "".join(text.split()).strip("$%") != wanted:
                continue
            label = " ".join([*row[:column], *(above[0] for above in table[:at])])
            header = " ".join(above[column] for above in table[:at])
            if _has(label, cell.label) and _has(header, cell.header):
                return True
    return False


def by_kedge(path: Path, cells: Sequence[Expected]) -> list[bool]:
    """Which of the cells Kedge has in their place."""
    said = [one for one in statements(parse_pdf(path).text) if one.kind == "row"]
    return [any(holds(one, cell) for one in said) for cell in cells]


def by_pdfplumber(path: Path, cells: Sequence[Expected]) -> list[bool]:
    """Which of the cells pdfplumber has in their place, by its lines or by its alignment of words."""
    tables = list(_plumbed(path, {cell.page for cell in cells}))
    return [any(in_grid(table, cell) for table in tables) for cell in cells]


def _plumbed(path: Path, pages: set[int]) -> Iterator[Table]:
    with pdfplumber.open(path) as document:
        for number, page in enumerate(document.pages, 1):
            if number in pages or 0 in pages:
                for strategy in ("lines", "text"):
                    found = page.extract_tables({"vertical_strategy": strategy, "horizontal_strategy": strategy})
                    yield from ([[cell or "" for cell in row] for row in table] for table in found)


def fidelity(files: Mapping[str, Path], *, misses: bool = False) -> None:
    """Print how many of the labelled cells of these files, by their stems, each has in its place."""
    kept = whole("kept_back.txt")
    for name, cells in (("many pages", sampled()), ("ten pages", whole()), ("pages kept back", kept)):
        found = plumbed = total = 0
        for file in dict.fromkeys(cell.file for cell in cells):
            if file not in files:
                print(f"not there: {file}.pdf")
                continue
            own = [cell for cell in cells if cell.file == file]
            right, other = by_kedge(files[file], own), by_pdfplumber(files[file], own)
            print(f"{file:24} {sum(right):3} of {len(own):3}   pdfplumber {sum(other):3}")
            found, plumbed, total = found + sum(right), plumbed + sum(other), total + len(own)
            for cell, there in zip(own, right, strict=True):
                if misses and not there:
                    print("   missed:", *cell, sep=" | ")
        if total:
            print(f"{name}: {found} of {total} ({found / total:.1%}), pdfplumber {plumbed} ({plumbed / total:.1%})\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--misses", action="store_true", help="name the cells that were not found")
    asked = parser.parse_args()
    fidelity({path.stem: path for path in asked.folder.rglob("*.pdf")}, misses=asked.misses)
    return 0


if __name__ == "__main__":
    sys.exit(main())
