"""All readings of a question over a sheet that can mean something, run."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.answer.sheets.across import AcrossReadings
from kedge.answer.sheets.asked import Asked
from kedge.answer.sheets.candidates import Candidate, Candidates
from kedge.answer.sheets.double import DoubleReadings
from kedge.answer.sheets.grouped import GroupedReadings
from kedge.answer.sheets.linking import LinkedQuestion, link
from kedge.answer.sheets.rowsets import Feature, RowSets
from kedge.answer.sheets.sheet import Sheet, rows_of
from kedge.answer.sheets.single import SingleReadings

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
    return enumerate_linked(link(question, sheet), sheet, common)


def enumerate_linked(linked: LinkedQuestion, sheet: Sheet, common: frozenset[str]) -> Enumerated:
    """The same for a question that is linked already."""
    asked = Asked(linked, sheet, common)
    out = Candidates(asked)
    sets = RowSets(linked, sheet, asked.content)
    makers = (SingleReadings(asked, out), AcrossReadings(asked, out), GroupedReadings(asked, out))
    for rows in sets.all:
        if len(out.found) >= MOST_SINGLE:
            break
        chosen = rows_of(rows.rows)
        for maker in makers:
            maker.over(rows, chosen)
    DoubleReadings(asked, sets, out).all()
    return Enumerated(asked, out.found, out.features, asked.grams())
