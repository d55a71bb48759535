"""A question over the tables of the passages that were found: read over each, and answered where one is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kedge.answer.computed.context import named, unsaid, without_context, words_above, words_inside
from kedge.answer.computed.layout import LaidTable, laid_out
from kedge.answer.computed.tables import DocumentTable
from kedge.answer.computed.wanted import COMPUTED, says_how
from kedge.answer.sheets.linking import LinkedQuestion, link, unlinked_words
from kedge.answer.sheets.model import ReadingModel
from kedge.answer.sheets.read import SheetReading, WeighedQuestion, choose_reading, left_words, weigh_question
from kedge.answer.sheets.sheet import Sheet, build_sheet
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
    linked = [one for table in tables[:MOST_TABLES] if (one := _linked(question, table, model)) is not None]
    found = [made for one in _read_over(linked, model, reader) if (made := _chosen(one, model, reader)) is not None]
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
class _LinkedTable:
    """A question over one table, as far as it goes before its readings are made."""

    table: DocumentTable
    laid: LaidTable
    question: str
    """Without the words that only say which table is meant."""
    linked: LinkedQuestion
    sheet: Sheet
    known: frozenset[str]
    """Terms that stand in the table or above it."""
    hopeless: bool
    """Whether a word of the question is said nowhere there and no reading can use it: then none is sure."""


@dataclass(frozen=True, slots=True)
class _WeighedTable:
    """A question over one table, as far as it goes without a reader."""

    at: _LinkedTable
    weighed: WeighedQuestion


def _linked(question: str, table: DocumentTable, model: ReadingModel) -> _LinkedTable | None:
    laid = laid_out(question, table)
    if laid is None or len(laid.rows) < 2:
        return None
    inside = words_inside([*laid.names, *(cell.text for row in laid.rows for cell in row)])
    above = words_above(table)
    known = inside | above | words_inside(row.statement.read for row in table.rows)
    sheet = build_sheet(laid.names, [[cell.text for cell in row] for row in laid.rows])
    asked = without_context(laid.question, inside, above)
    linked = link(asked, sheet)
    hopeless = bool(unsaid(_left(unlinked_words(linked, model.common)), known))
    return _LinkedTable(table, laid, asked, linked, sheet, known, hopeless)


def _read_over(
    tables: Sequence[_LinkedTable], model: ReadingModel, reader: PlanReader | None
) -> Sequence[_WeighedTable]:
    """The tables whose computation may be sure; where there is a reader, those of them that are among the few likeliest
    of all tables. Readings over a hopeless table are made only where its place among them decides."""

    made: dict[int, _WeighedTable] = {}

    def weighed(*, hopeless: bool) -> list[_WeighedTable]:
        for place, one in enumerate(tables):
            if place not in made and (hopeless or not one.hopeless):
                made[place] = _WeighedTable(one, weigh_question(one.question, one.linked, one.sheet, model))
        return [made[place] for place in sorted(made)]

    hopeful = weighed(hopeless=False)
    if reader is None:
        return hopeful
    likely = _likeliest(hopeful, model)
    surely = [one for one, strange in likely if not strange]
    if len(surely) < MOST_READ and any(strange and _may_be_sure(one) for one, strange in likely):
        likely = _likeliest(weighed(hopeless=True), model)
    return [one for one, _ in likely[:MOST_READ] if _may_be_sure(one)]


def _likeliest(tables: Sequence[_WeighedTable], model: ReadingModel) -> list[tuple[_WeighedTable, bool]]:
    """Those that something can be computed from, likeliest first, and whether it leaves strange words."""
    found = [(one, made) for one in tables if (made := _chosen(one, model, None)) is not None]
    found.sort(key=lambda pair: (pair[1].strange, pair[1].left, -pair[1].reading.chance))
    return [(one, bool(made.strange)) for one, made in found]


def _may_be_sure(one: _WeighedTable) -> bool:
    """Whether any order of the answers could make the computation sure: else the reader need not be asked."""
    best, made = one.weighed.best, one.weighed.made
    computing = any(candidate.op in COMPUTED for candidate in best)
    return computing and any(not unsaid(_left(left_words(made, candidate)), one.at.known) for candidate in best)


def _left(words: Sequence[str]) -> list[str]:
    return [word for word in words if not says_how(word)]


def _chosen(one: _WeighedTable, model: ReadingModel, reader: PlanReader | None) -> TableComputation | None:
    """The computation that is likeliest over one table. ModelError."""
    read, laid = choose_reading(one.weighed, model, reader), one.at.laid
    reading = next((reading for reading in read.readings if reading.op in COMPUTED), None)
    if reading is None:
        return None
    left = _left(read.left)
    measured = {sight.column for sight in one.at.sheet.sights} - {0, *reading.columns}
    sure = read.sure and reading is read.readings[0]
    strange = [*unsaid(left, one.at.known), *named(left, [laid.names[place] for place in sorted(measured)])]
    return TableComputation(one.at.table, laid, reading, sure and not strange, len(strange), len(left))
