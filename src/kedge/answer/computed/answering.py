"""A question over the tables of the passages that were found: read over each, and answered where one is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kedge.answer.computed.context import named, unsaid, without_context, words_above, words_inside
from kedge.answer.computed.layout import LaidTable, laid_out
from kedge.answer.computed.tables import DocumentTable
from kedge.answer.computed.wanted import COMPUTED, says_how
from kedge.answer.sheets.model import ReadingModel
from kedge.answer.sheets.read import SheetReading, WeighedQuestion, choose_reading, left_words, weigh_question
from kedge.answer.sheets.sheet import build_sheet
from kedge.answer.sheets.support import PlanReader

MOST_TABLES = 12
"""Tables that a question is read over."""
MOST_READ = 4
"""Of them, those that the reader reads: the weights alone say which."""
RIVAL = 0.5
"""Share of the likeliest's chance from which on another table with another answer makes it unsure."""


@dataclass(frozen=True, slots=True)
class TableComputation:
    """The likeliest reading of a question over one table."""

    table: DocumentTable
    laid: LaidTable
    reading: SheetReading
    sure: bool
    """Whether its chance is enough, every word of the question is said in the table or above it, and none
    names a column of figures that the reading does not use."""
    strange: int
    """Words of the question that stand nowhere there, or name such a column."""
    left: int
    """Words of the question that the reading does not use."""


def computed(
    question: str, tables: Sequence[DocumentTable], model: ReadingModel, reader: PlanReader | None
) -> TableComputation | None:
    """The computation that is surely what was asked; None where there is none, or tables contradict. ModelError."""
    weighed = [one for table in tables[:MOST_TABLES] if (one := _weighed(question, table, model)) is not None]
    pairs = [(one, made) for one in weighed if (made := _chosen(one, model, None)) is not None]
    if reader is not None:
        pairs.sort(key=lambda pair: (pair[1].strange, pair[1].left, -pair[1].reading.chance))
        pairs = [
            (one, made)
            for one, _ in pairs[:MOST_READ]
            if _may_be_sure(one) and (made := _chosen(one, model, reader)) is not None
        ]
    found = [made for _, made in pairs]
    sure = sorted((one for one in found if one.sure), key=lambda one: (one.laid.assumed, one.left, -one.reading.chance))
    if not sure:
        return None
    best = sure[0]
    rivals = [
        one
        for one in sure
        if (one.laid.assumed, one.left) == (best.laid.assumed, best.left)
        and one.reading.chance >= RIVAL * best.reading.chance
    ]
    return best if len({_said(one.reading) for one in rivals}) == 1 else None


def _said(reading: SheetReading) -> tuple[str, ...]:
    return tuple("".join(sign for sign in value if sign.isalnum()).lower() for value in reading.values)


@dataclass(frozen=True, slots=True)
class _WeighedTable:
    """A question over one table, as far as it goes without a reader."""

    table: DocumentTable
    laid: LaidTable
    known: frozenset[str]
    """Terms that stand in the table or above it."""
    weighed: WeighedQuestion


def _weighed(question: str, table: DocumentTable, model: ReadingModel) -> _WeighedTable | None:
    laid = laid_out(question, table)
    if laid is None or len(laid.rows) < 2:
        return None
    inside = words_inside([*laid.names, *(cell.text for row in laid.rows for cell in row)])
    above = words_above(table)
    sheet = build_sheet(laid.names, [[cell.text for cell in row] for row in laid.rows])
    weighed = weigh_question(without_context(laid.question, inside, above), sheet, model)
    known = inside | above | words_inside(row.statement.read for row in table.rows)
    return _WeighedTable(table, laid, known, weighed)


def _may_be_sure(one: _WeighedTable) -> bool:
    """Whether any order of the answers could make the computation sure: else the reader need not be asked."""
    best, made = one.weighed.best, one.weighed.made
    computing = any(candidate.op in COMPUTED for candidate in best)
    return computing and any(not unsaid(_left(left_words(made, candidate)), one.known) for candidate in best)


def _left(words: Sequence[str]) -> list[str]:
    return [word for word in words if not says_how(word)]


def _chosen(one: _WeighedTable, model: ReadingModel, reader: PlanReader | None) -> TableComputation | None:
    """The computation that is likeliest over one table. ModelError."""
    read, laid, sheet = choose_reading(one.weighed, model, reader), one.laid, one.weighed.made.asked.sheet
    reading = next((reading for reading in read.readings if reading.op in COMPUTED), None)
    if reading is None:
        return None
    left = _left(read.left)
    measured = {sight.column for sight in sheet.sights} - {0, *reading.columns}
    sure = read.sure and reading is read.readings[0]
    strange = [*unsaid(left, one.known), *named(left, [laid.names[place] for place in sorted(measured)])]
    return TableComputation(one.table, laid, reading, sure and not strange, len(strange), len(left))
