"""What a computed answer says: the value first, then the cells that it was made from, each at its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kedge.answer.compose.between import change_asked
from kedge.answer.compose.quote import ExtractedAnswer, Quote, ShortAnswer
from kedge.answer.computed.answering import TableComputation
from kedge.answer.computed.layout import TOTAL, LaidCell
from kedge.core.values import Passage
from kedge.retrieve.when import own_periods
from kedge.text.question import Question

MOST_QUOTED = 6
"""Rows that are quoted."""
_FIGURE = re.compile(r"-?\d+(?:\.\d+)?")
_UNIT = re.compile(r"\b(?:in (?:millions|thousands|billions))\b", re.I)
_HEADS = {
    "count": "{value} in all",
    "distinct": "{value} different ones",
    "sum": "{value} in total",
    "mean": "{value} on average",
    "median": "{value} in the median",
    "range": "{value} from lowest to highest",
    "difference": "A difference of {value}",
    "difference of columns": "A difference of {value}",
    "difference of counts": "A difference of {value}",
    "difference of sums": "A difference of {value}",
    "difference from number": "A difference of {value}",
    "columns together": "{value} together",
    "growth between columns": "{value} %",
    "share of rows": "{value} %",
    "share of total": "{value} %",
}
_MONEY = frozenset(("sum", "mean", "median", "range", "difference", "difference of columns", "columns together"))
"""Operations whose result has the unit of the cells."""


def composed_of(one: TableComputation, passages: Sequence[Passage], question: Question) -> ExtractedAnswer:
    """The answer that a computation makes; its quotes refer to `passages`, in which all rows of the table stand."""
    value = _value(one)
    used = _used(one)
    stated = _stated(one, used, value)
    used = stated or used
    places = {passage.id: place for place, passage in enumerate(passages)}
    quotes: list[Quote] = []
    for number in list(used)[:MOST_QUOTED]:
        row = one.table.rows[number]
        statement, counted = row.statement, tuple(sorted(used[number]))
        text = row.passage.text[statement.start : statement.end]
        said = _row(one, number, counted)
        quotes.append(
            Quote(
                places[row.passage.id],
                statement.start,
                statement.end,
                text,
                said if quotes or stated else _joined(_head(one, value), said),
                cells=statement.cells,
                counted=counted,
            )
        )
    if one.reading.op == "difference of columns" and len(used) == 1:
        row = one.table.rows[next(iter(used))]
        change = change_asked(question.text, row.statement, own_periods(row.passage))
        quotes = [replace(quotes[0], shown=change.text)] if change else quotes
    if len(used) > MOST_QUOTED:
        more = f"{quotes[-1].shown} (and {len(used) - MOST_QUOTED} more rows)"
        quotes[-1] = replace(quotes[-1], shown=more)
    first = quotes[0]
    return ExtractedAnswer(
        tuple(quotes), ShortAnswer(question.kind, first.start, first.end, value), steps=tuple(one.reading.steps)
    )


def _used(one: TableComputation) -> dict[int, set[int]]:
    """Cells by the rows of the table that they stand in: those that the answer is or was made from."""
    columns = one.reading.columns or (0,)
    used: dict[int, set[int]] = {}
    for number in dict.fromkeys((*one.reading.rows, *one.reading.against)):
        for place in columns:
            cell: LaidCell = one.laid.rows[number][place]
            if cell.row >= 0:
                used.setdefault(cell.row, set()).add(cell.cell)
    return used


def _stated(one: TableComputation, used: dict[int, set[int]], value: str) -> dict[int, set[int]]:
    """The cell of a row of totals that says the sum itself, by its row; nothing where none does."""
    if one.reading.op != "sum":
        return {}
    places = set().union(*used.values())
    for number, row in enumerate(one.table.rows):
        cells = row.statement.cells
        if TOTAL.match(cells[0].text):
            for place in places:
                if place < len(cells) and _digits(cells[place].text) == _digits(value):
                    return {number: {place}}
    return {}


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdigit() or sign == ".")


def _value(one: TableComputation) -> str:
    """As people write it: with the sign of thousands where the cells have it."""
    grouped = any("," in cell.text for row in one.table.rows for cell in row.statement.cells[1:])
    texts = [
        f"{float(value):,.10g}" if grouped and _FIGURE.fullmatch(value) and abs(float(value)) >= 1000 else value
        for value in one.reading.values
    ]
    return ", ".join(texts)


def _head(one: TableComputation, value: str) -> str:
    head = _HEADS.get(one.reading.op, "{value}").format(value=value)
    unit = _UNIT.search(one.table.lead) if one.reading.op in _MONEY else None
    return f"{head} ({unit[0].lower()})" if unit else head


def _joined(head: str, said: str) -> str:
    """The value and the first row, without saying its name twice."""
    return said if said.startswith(f"{head}:") or said.startswith(f"{head},") else f"{head}: {said}"


def _row(one: TableComputation, number: int, counted: Sequence[int]) -> str:
    """`Research and development: 6,797 (Three Months Ended June 25, 2022), 7,442 (…)`."""
    statement = one.table.rows[number].statement
    label = statement.cells[0].text.rstrip(":")
    named = f"{statement.group}, {label}" if statement.group and statement.group not in label else label
    cells = [statement.cells[place] for place in counted if place]
    told = [f"{cell.text} ({cell.header})" if cell.header else cell.text for cell in cells if cell.text != label]
    return f"{named}: {', '.join(told)}" if told else named
