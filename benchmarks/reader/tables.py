"""Rows of tables: those of WikiTableQuestions with made and with real questions, and made statements of companies.

A row is written by `kedge.text.statements.rows`, so that what is taught is what is read in use.
"""

from __future__ import annotations

import csv
import io
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.reader.example import Example, restyled
from kedge.text.statements.rows import TableLine, rows
from kedge.text.statements.statement import Statement

ASKED = (
    *(
        "What is the {column} of {row}?",
        "What was the {column} for {row}?",
        "What is {row}'s {column}?",
        "{row} {column}",
    ),
    *("{column} of {row}", "How many {column} did {row} have?", "How much is the {column} of {row}?"),
    *("what {column} does {row} have", "Give me the {column} of {row}.", "Which {column} belongs to {row}?"),
    *("For {row}, what is the {column}?", "I need the {column} for {row}", "Tell me the {column} of {row}"),
    *("What {column} is listed for {row}?", "How high was the {column} of {row}?", "what was {row}'s {column}"),
)
CAPTIONS = ("", "", "Results", "Summary", "Overview", "Table 1", "Table 2: Results", "Statistics", "Details")
UNITS = ("", "", "", "in millions", "in thousands", "%")
MADE_PER_TABLE = 14
_LONGEST_CELL = 80


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with its statements as a passage would hold them."""

    cells: list[list[str]]
    """The header first."""
    text: str
    made: list[Statement]
    """One for each row below the header."""

    def span(self, row: int, column: int) -> tuple[int, int] | None:
        """Place of a cell in what is read of its row (from 1)."""
        statement, value = self.made[row - 1], self.cells[row][column]
        header = self.cells[0][column]
        wanted = f"{header}: {value}" if header else value
        at = statement.read.find(wanted, len(statement.lead))
        return (at + len(wanted) - len(value), at + len(wanted)) if at >= 0 else None

    def window(self, row: int, random: Random, most: int) -> tuple[list[str], int]:
        """Some rows that follow each other, with this one among them; and its place."""
        count = random.randint(2, most)
        low = max(0, min(row - 1 - random.randrange(count), len(self.made) - count))
        return [one.read for one in self.made[low : low + count]], row - 1 - low


def grid(cells: list[list[str]], caption: str, unit: str) -> Grid | None:
    """The cells as a ruled table; None where a row cannot be read back."""
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    lines.insert(1, "|" + "---|" * len(cells[0]))
    placed, at = [], 0
    for line in lines:
        placed.append(TableLine(at, line))
        at += len(line) + 1
    made = rows(placed, caption, unit)
    return Grid(cells, "\n".join(lines), made) if len(made) == len(cells) - 1 else None


def wikitables(path: Path, random: Random) -> Iterator[Example]:
    """Look-ups among the real questions, and made questions for single cells."""
    tables, asked = _read(path)
    for name, question, answer in asked:
        found = grid(tables[name], "", "") if name in tables else None
        if found is not None:
            yield from _real(found, question, answer, random)
    for cells in tables.values():
        found = grid(cells, random.choice(CAPTIONS), random.choice(UNITS))
        if found is not None:
            for _ in range(MADE_PER_TABLE):
                yield from _made(found, random)


def _read(path: Path) -> tuple[dict[str, list[list[str]]], list[tuple[str, str, str]]]:
    tables: dict[str, list[list[str]]] = {}
    asked: list[tuple[str, str, str]] = []
    with tarfile.open(path, "r:xz") as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member)
            text = file.read().decode("utf-8", "replace") if file else ""
            if member.name.endswith("training.tsv"):
                fields = [line.split("\t") for line in text.split("\n")[1:]]
                asked = [(row[2], row[1], row[3].strip()) for row in fields if len(row) > 3]
            elif member.name.endswith(".csv"):
                cells = [[_cell(cell) for cell in row] for row in csv.reader(io.StringIO(text), escapechar="\\")]
                if len(cells) > 2 and len(cells[0]) > 1:
                    tables[member.name] = [row for row in cells if len(row) == len(cells[0]) and any(row)]
    return tables, asked


def _cell(text: str) -> str:
    return " ".join(re.sub(r"[|*_`<>\[\]]", " ", text).split())[:_LONGEST_CELL].strip()


def _real(found: Grid, question: str, answer: str, random: Random) -> Iterator[Example]:
    """A question whose answer is one cell, and that names another cell of its row."""
    places = [
        (number, column)
        for number, row in enumerate(found.cells[1:], 1)
        for column, cell in enumerate(row)
        if cell.lower() == answer.lower()
    ]
    if len(places) != 1:
        return
    row, column = places[0]
    others = [cell.lower() for at, cell in enumerate(found.cells[row]) if at != column and len(cell) > 2]
    span = found.span(row, column)
    if span is not None and any(cell in question.lower() for cell in others):
        window, place = found.window(row, random, 9)
        yield Example(question, "", window, 1, 0, -1, (place, *span), {place}, True, "wikitables")


def _made(found: Grid, random: Random) -> Iterator[Example]:
    row = random.randrange(1, len(found.cells))
    cells, header = found.cells[row], found.cells[0]
    label = cells[0]
    columns = [at for at in range(1, len(cells)) if cells[at] and header[at] and cells[at] not in ("—", "-", "–")]
    if not label or not columns or sum(one[0] == label for one in found.cells) > 1:
        return
    column = random.choice(columns)
    span = found.span(row, column)
    if span is None:
        return
    named = header[column].lower() if random.random() < 0.7 else header[column]
    question = restyled(random.choice(ASKED).format(column=named, row=label), random, 0.2)
    window, place = found.window(row, random, 9)
    yield Example(question, "", window, 1, 0, -1, (place, *span), {place}, True, "rows")
    without = [one.read for one in found.made if label.lower() not in one.read.lower()]
    if random.random() < 0.5 and len(without) > 2:
        at = random.randrange(len(without) - 1)
        yield Example(question, "", without[at : at + random.randint(2, 7)], 0, -1, -1, None, set(), True, "rows-not")
