"""Readings between columns: how far two columns are apart in a row, both together, which of them is more."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from kedge.answer.sheets.asked import Asked, SeenSight
from kedge.answer.sheets.candidates import Candidates
from kedge.answer.sheets.cells import canonical, written
from kedge.answer.sheets.rowsets import Feature, RowSet

MOST_COLUMNS = 5
"""Columns that the question names, of which two are computed with."""
LEAST_RIVALS = 3
"""Columns of numbers from which on it makes sense to ask which of them is highest."""


class AcrossReadings:
    """Makes the readings between the columns of one set of rows at a time."""

    def __init__(self, asked: Asked, out: Candidates) -> None:
        self._asked = asked
        self._out = out
        plain = [seen for seen in asked.sights if seen.sight.kind == "num"]
        self._pairs = list(self._named_pairs(plain))
        self._rivals = [seen for seen in plain if seen.sight.summed]
        text = asked.linked.text
        self._which = asked.either or any(word in text.split() for word in ("more", "less", "higher", "lower", "most"))

    def over(self, rows: RowSet, chosen: Sequence[int]) -> None:
        """All readings over a set."""
        if rows.depth > 2 or not chosen:
            return
        places = np.array(chosen)
        for one, two in self._pairs:
            self._between(rows, chosen, one, two, _total(one, places), _total(two, places))
        if rows.depth and len(chosen) == 1 and self._asked.cues["most"] and len(self._rivals) >= LEAST_RIVALS:
            self._highest(rows, chosen)

    def _named_pairs(self, plain: Sequence[SeenSight]) -> Iterator[tuple[SeenSight, SeenSight]]:
        """Two columns that different words of the question name, in the order of these words."""
        named = [seen for seen in plain if seen.cover and self._asked.levels[seen.sight.column] >= 1]
        named.sort(key=lambda seen: -self._asked.levels[seen.sight.column])
        for one, two in combinations(named[:MOST_COLUMNS], 2):
            if not (one.cover <= two.cover or two.cover <= one.cover):
                yield (one, two) if min(one.cover - two.cover) < min(two.cover - one.cover) else (two, one)

    def _between(  # noqa: PLR0917 (two columns and their figures)
        self, rows: RowSet, chosen: Sequence[int], one: SeenSight, two: SeenSight, first: float, second: float
    ) -> None:
        if not (math.isfinite(first) and math.isfinite(second)):
            return
        asked, out = self._asked, self._out
        levels = sorted((asked.levels[one.sight.column], asked.levels[two.sight.column]))
        told: list[Feature] = [("columns", min(len(chosen), 2)), ("columns", *levels)]

        def add(op: str, answer: str, *more: Feature) -> None:
            place = two.sight.column
            out.add(op, [answer], rows, [*told, *more], two.cover, seen=one, chosen=chosen, second=place)

        added = one.sight.summed and two.sight.summed
        if added and asked.cues["difference"]:
            add("difference of columns", written(abs(first - second)))
        if added and asked.cues["sum"]:
            add("columns together", written(first + second))
        if asked.cues["share"] and first:
            add("growth between columns", written(round(100 * (second - first) / abs(first), 2)))
        if (asked.cues["share"] or asked.cues["times"]) and second:
            add("ratio of columns", written(round(first / second, 2)))
        if self._which and first != second and (asked.either or not asked.yes_no):
            more, less = (one, two) if first > second else (two, one)
            add("column with more", self._heading(more))
            add("column with less", self._heading(less))
        if asked.yes_no:
            add("more in first column?", "yes" if first > second else "no", ("way", *asked.signs))
            add("less in first column?", "yes" if first < second else "no", ("way not", *asked.signs))

    def _highest(self, rows: RowSet, chosen: Sequence[int]) -> None:
        values = np.array([seen.sight.values[chosen[0]] for seen in self._rivals])
        if np.isfinite(values).sum() < LEAST_RIVALS:
            return
        for sign in (1, -1):
            best = np.flatnonzero(values * sign == np.nanmax(values * sign))
            if len(best) == 1:
                seen = self._rivals[int(best[0])]
                told: list[Feature] = [("columns", "most", sign)]
                self._out.add("highest column", [self._heading(seen)], rows, told, sign=sign, chosen=chosen)

    def _heading(self, seen: SeenSight) -> str:
        return canonical(self._asked.sheet.columns[seen.sight.column].name)


def _total(seen: SeenSight, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    """What a column adds up to over rows; NaN where none of them says anything, or adding up means nothing."""
    values = seen.sight.values[places]
    known = values[np.isfinite(values)]
    if not len(known) or (len(known) > 1 and not seen.sight.summed):
        return math.nan
    return float(known.sum())
