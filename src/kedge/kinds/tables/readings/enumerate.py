"""All readings of a question over a sheet that can mean something, run."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.kinds.tables.readings.asked import Asked
from kedge.kinds.tables.readings.candidates import Candidate, Candidates
from kedge.kinds.tables.readings.double import DoubleReadings
from kedge.kinds.tables.readings.linking import link
from kedge.kinds.tables.readings.rowsets import Feature, RowSets
from kedge.kinds.tables.readings.sheet import Sheet
from kedge.kinds.tables.readings.single import SingleReadings

MOST_SINGLE = 3000


@dataclass(frozen=True, slots=True)
class Enumerated:
    """The candidates of a question."""

    asked: Asked
    candidates: list[Candidate]
    features: list[Feature]
    """By the numbers that the candidates name them by."""
    grams: set[str]


def enumerate_readings(question: str, sheet: Sheet, common: frozenset[str]) -> Enumerated:
    """Every reading up to a limit, likelier sets of rows first. `common`: words that are frequent in questions."""
    linked = link(question, sheet)
    asked = Asked(linked, sheet, common)
    out = Candidates(asked)
    sets = RowSets(linked, sheet, asked.content)
    single = SingleReadings(asked, out)
    for rows in sets.all:
        if len(out.found) >= MOST_SINGLE:
            break
        single.over(rows)
    DoubleReadings(asked, sets, out).all()
    return Enumerated(asked, out.found, out.features, asked.grams())
