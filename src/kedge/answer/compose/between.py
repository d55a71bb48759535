"""Arithmetic between two cells of a row: "by how much did R&D grow from Q2 2022 to Q2 2023".

Where a question asks for a change between two periods and the row that answers has one cell for each, both are told
with their difference, absolute and in percent. The quote stays the row as it stands; nothing is computed over several
rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.text.periods import Period, agreement, dated, periods
from kedge.text.statements.statement import Cell, Statement

_ASKS = re.compile(
    r"\b(?:by how much|how much (?:more|less|higher|lower|did|has|have|was)|difference|gr[eo]w\w*|growth|increas\w+|"
    r"decreas\w+|declin\w+|chang\w+|rise|rose|risen|fall|fell|fallen|drop\w*|up or down)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?P<minus>[-−–(]?)\s*+[$€£¥]?\s*+(?P<digits>\d[\d,]*(?:\.\d+)?)\s*+(?P<unit>%?)\s*+\)?")
_TWO = 2

_TAKEN_OFF = re.compile(r"\b(?:expens\w+|costs?|loss(?:es)?|outflows?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CellChange:
    """Two cells of a row, in the order of their periods, and what lies between them."""

    label: str
    first: Cell
    second: Cell
    difference: float
    percent: float | None
    """Of the first; None where that is nothing, or where the cells are percentages themselves."""

    @property
    def text(self) -> str:
        """`Research and development: up 645 (9.5 %), from 6,797 (July 2, 2022) to 7,442 (July 1, 2023).`"""
        way = "up" if self.difference > 0 else "down" if self.difference < 0 else "unchanged"
        points = " percentage points" if "%" in self.first.text else ""
        size = f" {_written(abs(self.difference))}{points}" if self.difference else ""
        share = f" ({abs(self.percent):.1f} %)" if self.percent is not None and self.difference else ""
        cells = " to ".join(f"{one.text.strip()} ({one.header})" for one in (self.first, self.second))
        return f"{self.label}: {way}{size}{share}, from {cells}."


def change_asked(question: str, row: Statement, own: Sequence[Period] = ()) -> CellChange | None:
    """The change that a question asks for, where a row has exactly one figure for each of its two periods.

    `own` are the periods that the row's document states of itself, by which fiscal quarters are told.
    """
    asked = periods(question)
    if row.kind != "row" or not row.cells or len(asked) < _TWO or not _ASKS.search(question):
        return None
    wanted = sorted(dated(asked, own), key=_when)[:: len(asked) - 1] if len(asked) > _TWO else dated(asked, own)
    cells = [_cell_of(period, row.cells[1:]) for period in wanted]
    if len(cells) != _TWO or cells[0] is None or cells[1] is None or cells[0] == cells[1]:
        return None
    first, second = sorted(zip(wanted, (cells[0], cells[1]), strict=True), key=lambda one: _when(one[0]))
    return _between(row.cells[0].text, first[1], second[1])


def _between(label: str, first: Cell, second: Cell) -> CellChange | None:
    one, two = _figure(first.text), _figure(second.text)
    if one is None or two is None or ("%" in first.text) != ("%" in second.text):
        return None
    if one < 0 and two < 0 and _TAKEN_OFF.search(label):  # in brackets because it is taken off: a larger one has grown
        one, two = -one, -two
    shares = "%" in first.text
    percent = 100 * (two - one) / abs(one) if one and not shares else None
    return CellChange(" ".join(label.split()).rstrip(":"), first, second, two - one, percent)


def _cell_of(period: Period, cells: Sequence[Cell]) -> Cell | None:
    """The one cell under a heading of this period; None where there is none, or several of equal length."""
    fits = [
        (agreement([period], periods(cell.header)), cell)
        for cell in cells
        if cell.header and _figure(cell.text) is not None
    ]
    best = max((value for value, _ in fits), default=0.0)
    chosen = [cell for value, cell in fits if value == best]
    return chosen[0] if best > 0 and len(chosen) == 1 else None


def _figure(text: str) -> float | None:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    value = float(match["digits"].replace(",", ""))
    return -value if match["minus"] else value


def _when(period: Period) -> tuple[int, int, int, int]:
    return period.year or 0, period.quarter or 0, period.month or 0, period.day or 0


def _written(value: float) -> str:
    rounded = round(value, 4)
    return f"{int(rounded):,}" if rounded == int(rounded) else f"{rounded:,.10g}"
