"""Readings over two sets of rows, or one set and a number: differences, comparisons, yes and no."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

import numpy as np

from kedge.answer.sheets.asked import Asked, SeenSight
from kedge.answer.sheets.candidates import Candidates
from kedge.answer.sheets.cells import written
from kedge.answer.sheets.linking import AskedNumber
from kedge.answer.sheets.rowsets import Feature, RowSet, RowSets
from kedge.answer.sheets.sheet import rows_of

MOST_PAIRS = 14
MOST_SUMMED = 3
FEW = 3
"""Rows of a side of which the first is taken for all."""


class DoubleReadings:
    """Makes the readings that compare."""

    def __init__(self, asked: Asked, sets: RowSets, out: Candidates) -> None:
        self._asked = asked
        self._sheet = asked.sheet
        self._sets = sets
        self._out = out
        self._how_many = asked.cues["how many"]
        self._yes_no = asked.yes_no and not asked.opposites

    def all(self) -> None:
        """Every pair of sets that do not overlap, and every set against the question's numbers."""
        for one, two in self._pairs():
            self._against(one, two)
        for rows in self._sets.named[:6] + self._sets.pairs[:8]:
            self._with_number(rows)
        if self._yes_no:
            everything = self._sets.all[0]
            found = (min(2, len(self._sets.pairs)), min(3, len(self._sets.named)))
            self._out.add("yes", ["yes"], everything, [("nothing found", "yes", *found)])
            self._out.add("no", ["no"], everything, [("nothing found", "no", *found)])
            for pair in self._sets.pairs[:3]:
                self._out.add("exists", ["yes"], pair, chosen=rows_of(pair.rows))

    def _pairs(self) -> list[tuple[RowSet, RowSet]]:
        sets = self._sets.named[:8] + self._sets.pairs[:10]
        out = []
        for number, one in enumerate(sets):
            for two in sets[:number]:
                if (one.cover & two.cover and one.depth == two.depth == 1) or one.rows & two.rows:
                    continue
                ordered = min(one.cover, default=0) < min(two.cover, default=0)
                out.append((one, two) if ordered else (two, one))
        out.sort(key=lambda pair: -len(pair[0].cover | pair[1].cover))
        return out[:MOST_PAIRS]

    def _against(self, one: RowSet, two: RowSet) -> None:
        asked, out = self._asked, self._out
        form = "two same" if one.main == two.main else "two other"
        both = RowSet(
            one.rows,
            one.cover | two.cover,
            one.features + two.features,
            form,
            one.columns + two.columns,
            2,
            one.main,
            one.conditions,
        )
        first, second = rows_of(one.rows), rows_of(two.rows)
        sizes = len(first), len(second)
        chosen = (*first, *second)

        def add(op: str, value: str, *told: Feature) -> None:
            out.add(op, [value], both, told, other=two, chosen=chosen)

        if asked.cues["difference"] and self._how_many:
            add("difference of counts", written(abs(sizes[0] - sizes[1])))
        if max(sizes) > 1:
            self._two_sums(both, two, first, second)
        if self._how_many:
            add("sum of counts", written(sum(sizes)))
        text = asked.linked.text
        if (asked.either or "more" in text or "most" in text) and one.main == two.main and sizes[0] != sizes[1]:
            more, less = (one, two) if sizes[0] > sizes[1] else (two, one)
            for op, side in (("larger count", more), ("smaller count", less)):
                rows = rows_of(side.rows)
                values = {self._sheet.columns[side.main].canonical[row] for row in rows}
                out.add(op, values, both, column=side.main, chosen=rows, other=two)
        if self._yes_no:
            add("more rows?", _yes(sizes[0] > sizes[1]), ("way", *asked.signs))
            add("fewer rows?", _yes(sizes[0] < sizes[1]), ("way not", *asked.signs))
            for place, column in enumerate(self._sheet.columns[: self._sheet.whole]):
                same = column.plain[first[0]] == column.plain[second[0]]
                told: list[Feature] = [("one each", asked.levels[place], "same" in asked.linked.words)]
                cover, pair = asked.covers[place], (first[0], second[0])
                out.add("same cell?", [_yes(same)], both, told, cover, sight=place, other=two, chosen=pair)
        if max(sizes) <= FEW:
            self._two_rows(both, two, first[0], second[0])

    def _two_sums(self, rows: RowSet, two: RowSet, first: Sequence[int], second: Sequence[int]) -> None:
        """What two sets of rows add up to, against each other."""
        asked, out = self._asked, self._out
        text = asked.linked.text
        for seen in [one for one in asked.by_nearness if one.sight.summed][:MOST_SUMMED]:
            sums = [float(np.nansum(seen.sight.values[np.array(side)])) for side in (first, second)]
            chosen = (*first, *second)
            if asked.cues["difference"]:
                value = [written(abs(sums[0] - sums[1]))]
                out.add("difference of sums", value, rows, seen=seen, other=two, chosen=chosen)
            if (asked.either or "more" in text or "most" in text) and rows.main == two.main and sums[0] != sums[1]:
                sides = (first, second) if sums[0] > sums[1] else (second, first)
                for op, side in zip(("larger sum", "smaller sum"), sides, strict=True):
                    names = {self._sheet.columns[two.main].canonical[row] for row in side}
                    out.add(op, names, rows, column=two.main, seen=seen, chosen=side, other=two)

    def _two_rows(self, joined: RowSet, two: RowSet, first: int, second: int) -> None:
        asked, out = self._asked, self._out
        apart = abs(first - second)
        pair = (first, second)
        words = asked.linked.words
        if (self._how_many or "long" in words or "difference" in words) and asked.cues["order"]:
            out.add("rows between", [written(apart - 1)], joined, other=two, chosen=pair)
            out.add("rows apart", [written(apart)], joined, other=two, chosen=pair)
        for more, less in asked.opposites:
            way, back = ("either word", more, less), ("either word not", more, less)
            out.add("word by order", [more if first < second else less], joined, [way], other=two, chosen=pair)
            out.add("word by order", [less if first < second else more], joined, [back], other=two, chosen=pair)
        for seen in asked.by_nearness:
            a, b = float(seen.sight.values[first]), float(seen.sight.values[second])
            if math.isfinite(a) and math.isfinite(b):
                self._two_cells(joined, two, seen, pair, (a, b))

    def _two_cells(
        self, rows: RowSet, two: RowSet, seen: SeenSight, pair: tuple[int, int], cells: tuple[float, float]
    ) -> None:
        asked, (a, b), sight = self._asked, cells, seen.sight

        def add(op: str, value: str, *told: Feature) -> None:
            self._out.add(op, [value], rows, told, seen=seen, other=two, chosen=pair)

        if asked.cues["difference"]:
            if sight.kind == "date":
                add("difference", written(abs(a // 400 - b // 400)))
                days = _days_between(a, b) if "day" in asked.linked.stems else None
                if days is not None:
                    add("days between", written(days))
            else:
                add("difference", written(abs(a - b)), ("one each", rows.rows.bit_count() + two.rows.bit_count() == 2))
        if self._yes_no:
            add("more?", _yes(a > b), ("way", *asked.signs), ("way", *asked.signs, sight.kind))
            add("less?", _yes(a < b), ("way not", *asked.signs), ("way not", *asked.signs, sight.kind))
            add("equal?", _yes(a == b))
        for more, less in asked.opposites:
            add("word by value", more if a > b else less, ("either word", more, less, sight.kind))
            add("word by value", less if a > b else more, ("either word not", more, less, sight.kind))

    def _with_number(self, rows: RowSet) -> None:
        asked, out = self._asked, self._out
        chosen = rows_of(rows.rows)
        for number in asked.linked.numbers[:2]:
            if number.place in rows.cover:
                continue
            for seen in asked.by_nearness[:6]:
                self._cell_with_number(rows, chosen, number, seen)
            cover = frozenset([number.place])
            size = len(chosen)
            for more, less in asked.opposites:
                told: list[Feature] = [("either word", more, less)]
                word = more if size > number.value else less
                out.add("word by count", [word], rows, told, cover, chosen=chosen, number=number.value)
            if asked.yes_no:
                told = [("way", *asked.signs)]
                told_more = _yes(size > number.value)
                out.add("more rows than?", [told_more], rows, told, cover, chosen=chosen, number=number.value)

    def _cell_with_number(self, rows: RowSet, chosen: Sequence[int], number: AskedNumber, seen: SeenSight) -> None:
        asked, sight = self._asked, seen.sight
        cell = float(sight.values[chosen[0]])
        cell = cell // 400 if sight.kind == "date" else cell
        if math.isnan(cell):
            return
        cover, asked_for, row = frozenset([number.place]), number.value, chosen[:1]

        def add(op: str, value: str, *told: Feature) -> None:
            self._out.add(op, [value], rows, told, cover, seen=seen, chosen=row, number=asked_for)

        if asked.cues["difference"] and len(chosen) == 1 and not asked.yes_no:
            add("difference from number", written(abs(cell - number.value)))
        if len(chosen) > FEW:
            return
        if self._yes_no:
            add("more than number?", _yes(cell > number.value), ("way", *asked.signs))
            add("less than number?", _yes(cell < number.value), ("way not", *asked.signs))
            add("equal to number?", _yes(cell == number.value))
        for more, less in asked.opposites:
            add("word by number", more if cell > number.value else less, ("either word", more, less, sight.kind))


def _days_between(one: float, two: float) -> int | None:
    """Days from one date key to another; None where a day, month or year is not written or there is no such day."""
    days = []
    for key in (int(one), int(two)):
        try:
            days.append(date(key // 400, key % 400 // 32, key % 32).toordinal())
        except ValueError:
            return None
    return abs(days[0] - days[1])


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
