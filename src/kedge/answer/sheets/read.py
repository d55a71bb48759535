"""A question over a small table, read: the likeliest readings with their values and chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.answer.sheets.candidates import Candidate
from kedge.answer.sheets.choice import Ranked, described, ranked, with_reader
from kedge.answer.sheets.enumerate import Enumerated, enumerate_linked
from kedge.answer.sheets.lines import Wordings, fitting, identity_of
from kedge.answer.sheets.linking import LinkedQuestion, link
from kedge.answer.sheets.model import ReadingModel
from kedge.answer.sheets.sheet import Sheet, rows_of
from kedge.answer.sheets.support import PlanReader
from kedge.answer.sheets.telling import answer_texts, reading_steps, sentence
from kedge.answer.sheets.weigher import Floats, feature_scores, weighable

SHOWN = 3
"""Readings that are given."""
LEAST = 0.05
"""Chance below which a reading is not worth showing."""


@dataclass(frozen=True, slots=True)
class SheetReading:
    """One way to read a question, run."""

    chance: float
    """Calibrated: how likely this is what was asked."""
    values: Sequence[str]
    """The answer: cells as they are written, or a figure."""
    text: str
    """The answer in a sentence."""
    steps: Sequence[str]
    rows: Sequence[int]
    """Rows that the answer was read or computed from, from 0."""
    op: str
    heading: str
    """Name of the answer's column; of a figure, what it is."""
    columns: Sequence[int] = ()
    """Columns of the table that the answer was read or computed from, the answer's own first."""
    against: Sequence[int] = ()
    """Rows of the second side of a comparison."""


@dataclass(frozen=True, slots=True)
class SheetAnswer:
    """What came of a question: readings with different values, likeliest first."""

    readings: Sequence[SheetReading]
    sure: bool
    """Whether the first is the answer, rather than one of those to be picked from."""
    left: Sequence[str]
    """Words that the first reading does not use; of none, all words of the question that name something."""


@dataclass(frozen=True, slots=True)
class WeighedQuestion:
    """A question over a sheet with its likeliest answers, weighed without a reader."""

    question: str
    made: Enumerated
    best: Sequence[Candidate]
    """The best candidate of each answer that is considered; none where the question has no reading."""
    chances: Floats
    """Of each, as the weights alone have it."""


def weigh_question(question: str, linked: LinkedQuestion, sheet: Sheet, model: ReadingModel) -> WeighedQuestion:
    """Enumerate and weigh: all that is done without a reader behind `link`."""
    made = enumerate_linked(linked, sheet, model.common)
    if not made.candidates:
        return WeighedQuestion(question, made, (), np.zeros(0))
    found, rows = weighed_lines(made, model)
    return WeighedQuestion(question, made, [made.candidates[int(place)] for place in found.best], model.trees(rows))


def read_question(question: str, sheet: Sheet, model: ReadingModel, reader: PlanReader | None = None) -> SheetAnswer:
    """Link, enumerate, weigh and choose, by the reader too where there is one. ModelError where that fails."""
    return choose_reading(weigh_question(question, link(question, sheet), sheet, model), model, reader)


def choose_reading(weighed: WeighedQuestion, model: ReadingModel, reader: PlanReader | None = None) -> SheetAnswer:
    """The likeliest readings, by the reader too where there is one. ModelError where that fails."""
    made, chances, least = weighed.made, weighed.chances, model.sure
    if not weighed.best:
        return SheetAnswer((), False, left_words(made, None))
    sheet = made.asked.sheet
    if reader is not None and model.mixed is not None and model.reader == reader.digest:
        support = reader.support(weighed.question, identity_of(sheet), worded_lines(sheet, weighed.best))
        chances, least = with_reader(chances, support, model.mixed), model.sure_read
    order = [int(place) for place in np.argsort(-chances, kind="stable")]
    readings = [
        _reading(weighed.best[place], sheet, float(chances[place])) for place in order if chances[place] >= LEAST
    ]
    told = [one for one in readings if any(one.values)][:SHOWN]
    sure = bool(told) and told[0].chance >= least
    return SheetAnswer(told, sure, left_words(made, weighed.best[order[0]]))


def weighed_lines(made: Enumerated, model: ReadingModel) -> tuple[Ranked, Floats]:
    """The best answers and the figures by which they are weighed again."""
    arrays = weighable(made, model.vocabulary)
    ops = [one.op for one in made.candidates]
    found = ranked(arrays, feature_scores(arrays, model.weights), ops, len(made.asked.linked.words))
    told = [described([made.features[number] for number in made.candidates[best].features]) for best in found.best]
    flags = [float(word in made.grams) for word in model.words]
    rows = np.concatenate([found.rows, np.array(told), np.tile(flags, (len(told), 1))], axis=1)
    return found, rows


def worded_lines(sheet: Sheet, best: Sequence[Candidate]) -> Sequence[str]:
    """The best answers as the reader sees them, as many as it reads at once."""
    wordings = Wordings(sheet)
    return fitting([wordings.line(one, answer_texts(one, sheet)) for one in best])


def _reading(one: Candidate, sheet: Sheet, chance: float) -> SheetReading:
    texts = answer_texts(one, sheet)
    steps = reading_steps(one, sheet)
    rows = one.chosen or tuple(rows_of(one.rows.rows))
    heading = sheet.columns[one.column].name if one.column >= 0 else steps[-1]
    columns = dict.fromkeys(sheet.columns[place].base for place in (one.column, one.sight, one.second) if place >= 0)
    against = tuple(rows_of(one.other.rows)) if one.other is not None else ()
    told = sentence(one, sheet, texts)
    return SheetReading(chance, texts, told, steps, rows, one.op, heading, tuple(columns), against)


def left_words(made: Enumerated, best: Candidate | None) -> list[str]:
    """Words of the question that neither a condition nor a column of the reading is named by."""
    asked = made.asked
    covered = best.rows.cover if best else frozenset()
    if best is not None:
        for place in (best.column, best.sight):
            covered |= asked.covers[place] if place >= 0 else frozenset()
    unknown = sorted(asked.content - covered - asked.common.keys())
    return list(dict.fromkeys(asked.linked.words[place] for place in unknown))
