"""A question over a small table, read: the likeliest readings with their values and chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.kinds.tables.readings.candidates import Candidate
from kedge.kinds.tables.readings.choice import Ranked, described, ranked
from kedge.kinds.tables.readings.enumerate import Enumerated, enumerate_readings
from kedge.kinds.tables.readings.model import ReadingModel
from kedge.kinds.tables.readings.sheet import Sheet, rows_of
from kedge.kinds.tables.readings.telling import answer_texts, reading_steps, sentence
from kedge.kinds.tables.readings.weigher import Floats, feature_scores, weighable

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


@dataclass(frozen=True, slots=True)
class SheetAnswer:
    """What came of a question: readings with different values, likeliest first."""

    readings: Sequence[SheetReading]
    sure: bool
    """Whether the first is the answer, rather than one of those to be picked from."""
    left: Sequence[str]
    """Words that the first reading does not use; of none, all words of the question that name something."""


def read_question(question: str, sheet: Sheet, model: ReadingModel) -> SheetAnswer:
    """Link, enumerate, weigh and choose. Never raises for any text."""
    made = enumerate_readings(question, sheet, model.common)
    if not made.candidates:
        return SheetAnswer((), False, _left(made, None))
    found, rows = weighed_lines(made, model)
    chances = model.trees(rows)
    order = [int(place) for place in np.argsort(-chances, kind="stable")]
    candidates = [made.candidates[int(found.best[place])] for place in order]
    readings = [
        _reading(candidate, sheet, float(chances[place]))
        for place, candidate in zip(order, candidates, strict=True)
        if chances[place] >= LEAST
    ]
    told = [one for one in readings if any(one.values)][:SHOWN]
    sure = bool(told) and told[0].chance >= model.sure
    return SheetAnswer(told, sure, _left(made, candidates[0]))


def weighed_lines(made: Enumerated, model: ReadingModel) -> tuple[Ranked, Floats]:
    """The best answers and the figures by which they are weighed again."""
    arrays = weighable(made, model.vocabulary)
    ops = [one.op for one in made.candidates]
    found = ranked(arrays, feature_scores(arrays, model.weights), ops, len(made.asked.linked.words))
    told = [described([made.features[number] for number in made.candidates[best].features]) for best in found.best]
    flags = [float(word in made.grams) for word in model.words]
    rows = np.concatenate([found.rows, np.array(told), np.tile(flags, (len(told), 1))], axis=1)
    return found, rows


def _reading(one: Candidate, sheet: Sheet, chance: float) -> SheetReading:
    texts = answer_texts(one, sheet)
    steps = reading_steps(one, sheet)
    rows = one.chosen or tuple(rows_of(one.rows.rows))
    heading = sheet.columns[one.column].name if one.column >= 0 else steps[-1]
    return SheetReading(chance, texts, sentence(one, sheet, texts), steps, rows, one.op, heading)


def _left(made: Enumerated, best: Candidate | None) -> list[str]:
    """Words of the question that neither a condition nor a column of the reading is named by."""
    asked = made.asked
    covered = best.rows.cover if best else frozenset()
    if best is not None:
        for place in (best.column, best.sight):
            covered |= asked.covers[place] if place >= 0 else frozenset()
    unknown = sorted(asked.content - covered - asked.common.keys())
    return list(dict.fromkeys(asked.linked.words[place] for place in unknown))
