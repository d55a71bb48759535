"""Readings over one set of rows: look up, count, add up, the most and the least, order, and how often."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from kedge.answer.sheets.asked import Asked, SeenSight
from kedge.answer.sheets.candidates import Candidates
from kedge.answer.sheets.cells import canonical, written
from kedge.answer.sheets.rowsets import Feature, RowSet
from kedge.answer.sheets.sheet import Sheet

MOST_SHOWN = 60
MOST_VALUES = 12
MOST_TIES = 8
MOST_REPEATED = 6
_OF_A_CELL = ("num", "second", "both", "margin", "span", "parts", "length")
_BOTH_ENDS = re.compile(r"\b(first|earliest) and (\w+ )?(last|final|latest)\b")
_BOTH_SIDES = re.compile(r"\b(above|before|previous|after|below|next) and (\w+ ){0,3}(below|after|next|above|before)\b")


class SingleReadings:
    """Makes the readings over one set at a time."""

    def __init__(self, asked: Asked, out: Candidates) -> None:
        self._asked = asked
        self._sheet: Sheet = asked.sheet
        self._out = out
        numbers = asked.linked.numbers
        self._both_ends = bool(_BOTH_ENDS.search(asked.linked.text))
        self._both_sides = bool(_BOTH_SIDES.search(asked.linked.text))
        self._ordinals = [int(number.value) for number in numbers if number.form == "ordinal" and number.value > 1]

    def over(self, rows: RowSet, chosen: Sequence[int]) -> None:
        """All readings over a set."""
        self._select(rows, chosen)
        self._count(rows, chosen)
        if len(chosen) == 1:
            self._cell(rows, chosen[0])
        if len(chosen) > 1:
            self._aggregate(rows, chosen)
            if self._asked.cues["most"]:
                self._most(rows, chosen)
            if self._asked.cues["frequency"] and rows.depth <= 2:
                self._frequency(rows, chosen)
        self._order(rows, chosen)

    def _texts(self, column: int, chosen: Sequence[int]) -> set[str]:
        cells = self._sheet.columns[column].canonical
        return {cells[row] for row in chosen}

    def _select(self, rows: RowSet, chosen: Sequence[int]) -> None:
        if len(chosen) > MOST_SHOWN:
            return
        for column in self._asked.answers:
            if rows.depth == 0 and len(self._sheet.columns[column].equal) > MOST_TIES:
                continue
            values = self._texts(column, chosen)
            if len(values) <= MOST_VALUES:
                told: list[Feature] = [("shown rows", min(len(chosen), 4))]
                cover = self._asked.covers[column]
                self._out.add("select", values, rows, told, cover, column=column, chosen=chosen)

    def _count(self, rows: RowSet, chosen: Sequence[int]) -> None:
        asked, size = self._asked, len(chosen)
        told: list[Feature] = [("counted", size == self._sheet.count, rows.depth)]
        self._out.add("count", [written(size)], rows, told, chosen=chosen)
        if size < 2:
            return
        for column in asked.answers if rows.depth <= 1 else asked.by_prior[:3]:
            if column in rows.columns and rows.form == "is":
                continue
            cells = self._sheet.columns[column]
            different = len({cells.plain[row] for row in chosen} - {""})
            if different < size:
                told = [("distinct", asked.levels[column], asked.near[column])]
                told += [("distinct heading", word) for word in cells.words[:3]]
                cover = asked.covers[column]
                self._out.add("distinct", [written(different)], rows, told, cover, sight=column, chosen=chosen)

    def _cell(self, rows: RowSet, row: int) -> None:
        """A number inside the one cell: the second of a score, the length of a span of years."""
        for seen in self._asked.sights:
            value = float(seen.sight.values[row])
            if seen.sight.kind in _OF_A_CELL and math.isfinite(value):
                value = value // 1 if seen.sight.kind == "length" else value
                self._measured(f"cell {seen.sight.kind}", abs(value), rows, seen, [], [row])
                if seen.sight.kind == "span":
                    self._measured("cell span + 1", abs(value) + 1, rows, seen, [], [row])

    def _measured(  # noqa: PLR0917 (a reading has this many parts)
        self, op: str, value: float, rows: RowSet, seen: SeenSight, told: Sequence[Feature], chosen: Sequence[int]
    ) -> None:
        self._out.add(op, [written(value)], rows, told, seen=seen, chosen=chosen)

    def _aggregate(self, rows: RowSet, chosen: Sequence[int]) -> None:
        cues, places = self._asked.cues, np.array(chosen)
        for number, seen in enumerate(self._asked.by_nearness):
            sight = seen.sight
            if rows.depth >= 2 and number >= 4:
                break
            values = sight.values[places]
            values = values[~np.isnan(values)]
            if not len(values):
                continue
            if sight.kind == "date":
                values = values // 400
                if cues["difference"] and rows.depth < 2 and len(values) > 1 and values.min() > 0:
                    told: list[Feature] = [("aggregate", "range of dates", "date")]
                    self._measured("range", float(values.max() - values.min()), rows, seen, told, chosen)
                continue
            if cues["sum"] and sight.summed:
                self._measured("sum", float(values.sum()), rows, seen, [("aggregate", "sum", sight.kind)], chosen)
            if cues["mean"] and sight.summed:
                self._measured("mean", float(values.mean()), rows, seen, [("aggregate", "mean", sight.kind)], chosen)
            if cues["median"] and sight.summed:
                median = float(np.median(values))
                self._measured("median", median, rows, seen, [("aggregate", "mean", sight.kind)], chosen)
            if cues["difference"] and len(values) > 1 and rows.depth < 2 and sight.kind != "length":
                wide = float(values.max() - values.min())
                self._measured("range", wide, rows, seen, [("aggregate", "range", sight.kind)], chosen)

    def _most(self, rows: RowSet, chosen: Sequence[int]) -> None:
        asked, places = self._asked, np.array(chosen)
        most = len(asked.sights) if rows.depth == 0 or rows.form == "either" else 6 if rows.depth == 1 else 3
        for seen in asked.by_nearness[:most]:
            sight = seen.sight
            values = sight.values[places]
            if np.isfinite(values).sum() < 2:
                continue
            for sign in (1, -1):
                best = np.nanmax(values * sign)
                top = [chosen[int(place)] for place in np.nonzero(values * sign == best)[0]]
                if len(top) <= MOST_TIES:
                    self._most_by(rows, seen, sign, top)

    def _most_by(self, rows: RowSet, seen: SeenSight, sign: int, top: Sequence[int]) -> None:
        asked, sight, out = self._asked, seen.sight, self._out
        timed = "time" if sight.kind in ("date", "year") else "number"
        headings: list[Feature] = [("most heading", sign, word) for word in self._sheet.columns[sight.column].words[:2]]
        if rows.form in ("either", "either&") and len(top) == 1:
            for words in self._asked_of(rows, top[0]):
                told = [("most", sign, timed), ("most", sign, sight.kind, False), *headings]
                out.add("most of two", [words], rows, told, seen=seen, sign=sign, chosen=top)
        for number, column in enumerate(asked.answers):
            if column not in rows.columns and number >= (8 if rows.depth == 1 else 3 if rows.depth >= 2 else 99):
                continue
            told = [
                ("most", sign, timed),
                ("most", sign, sight.kind, column == sight.column),
                ("most itself", column == sight.column, asked.levels[sight.column]),
                ("tie", len(top) > 1),
                *headings,
            ]
            texts, cover = self._texts(column, top), asked.covers[column]
            out.add("most", texts, rows, told, cover, column=column, seen=seen, sign=sign, chosen=top)

    def _asked_of(self, rows: RowSet, row: int) -> list[str]:
        """The words by which the question names a row whose cell says more than they do."""
        out = []
        for value in self._asked.linked.values:
            inside = value.start >= 0 and rows.cover.issuperset(range(value.start, value.end))
            if value.column == rows.main and value.how >= 2 and (value.rows >> row) & 1 and inside:
                out.append(canonical(" ".join(self._asked.linked.words[value.start : value.end])))
        return out

    def _order(self, rows: RowSet, chosen: Sequence[int]) -> None:
        if not chosen or rows.depth > 3:
            return
        asked = self._asked
        few = 4 if rows.depth >= 2 else len(asked.answers)
        if len(chosen) > 1:
            for op, row in (("first", chosen[0]), ("last", chosen[-1])):
                self._row(op, row, rows, asked.answers[:few], [])
            if self._both_ends:
                ends = (chosen[0], chosen[-1])
                for column in asked.answers[:few]:
                    texts, cover = self._texts(column, ends), asked.covers[column]
                    self._out.add("first and last", texts, rows, (), cover, column=column, chosen=ends)
            for place in self._ordinals:
                if place <= len(chosen):
                    self._row("nth", chosen[place - 1], rows, asked.by_prior[:6], [("nth",)], float(place))
        if rows.depth >= 1 and len(chosen) <= 6 and rows.form not in ("either", "not"):
            self._beside(rows, chosen, few)

    def _row(  # noqa: PLR0917 (a reading has this many parts)
        self, op: str, row: int, rows: RowSet, columns: Sequence[int], told: list[Feature], number: float | None = None
    ) -> None:
        for column in columns:
            cover = self._asked.covers[column]
            text = self._sheet.columns[column].canonical[row]
            self._out.add(op, [text], rows, told, cover, column=column, chosen=[row], number=number)

    def _beside(self, rows: RowSet, chosen: Sequence[int], few: int) -> None:
        """Rows next to the ones named, and how many stand before and after them."""
        asked, sheet, out = self._asked, self._sheet, self._out
        first, last = chosen[0], chosen[-1]
        steps = [("next", last + 1), ("previous", first - 1)]
        if len(chosen) > 1:
            steps += [("after the first", first + 1), ("before the last", last - 1)]
        for op, row in steps:
            if 0 <= row < sheet.count and not (sheet.totals >> row) & 1:
                for column in asked.answers[:few]:
                    told: list[Feature] = [("moved", column in rows.columns)]
                    text = sheet.columns[column].canonical[row]
                    out.add(op, [text], rows, told, asked.covers[column], column=column, chosen=[row])
        if self._both_sides and first > 0 and last + 1 < sheet.count:
            for column in asked.answers[:few]:
                sides, cover = (first - 1, last + 1), asked.covers[column]
                out.add("both neighbours", self._texts(column, sides), rows, (), cover, column=column, chosen=sides)
        if asked.cues["how many"] and asked.cues["order"] and rows.depth == 1:
            after = (sheet.every >> (last + 1)).bit_count()
            out.add("count before", [written(first)], rows, chosen=range(first))
            out.add("count after", [written(after)], rows, chosen=range(last + 1, last + 1 + after))
        if asked.cues["rank"] and rows.depth <= 2 and len(chosen) == 1:
            out.add("rank", [written(first + 1)], rows, chosen=[first])
        if asked.cues["neighbour"] and rows.depth == 1 and len(chosen) == 1:
            self._beside_by_value(rows, first)

    def _beside_by_value(self, rows: RowSet, row: int) -> None:
        asked = self._asked
        for seen in asked.by_nearness[:4]:
            values = seen.sight.values
            own = values[row]
            if math.isnan(own):
                continue
            with np.errstate(invalid="ignore"):
                above, below = np.where(values > own, values, np.inf), np.where(values < own, values, -np.inf)
            steps = (
                ("next by value", int(np.argmin(above)), above),
                ("previous by value", int(np.argmax(below)), below),
            )
            for op, other, ranked in steps:
                if np.isfinite(ranked[other]):
                    for column in asked.by_prior[:4]:
                        text = self._sheet.columns[column].canonical[other]
                        told: list[Feature] = [("moved", column in rows.columns)]
                        cover = asked.covers[column]
                        self._out.add(op, [text], rows, told, cover, column=column, seen=seen, chosen=[other])

    def _frequency(self, rows: RowSet, chosen: Sequence[int]) -> None:
        asked, out = self._asked, self._out
        for number, column in enumerate(asked.answers):
            if rows.depth >= 2 and number >= 3:
                break
            if column in rows.columns and rows.form not in ("either", "either&", "compare", "not"):
                continue
            cells = self._sheet.columns[column]
            counts = Counter(cells.canonical[row] for row in chosen if cells.plain[row])
            if not 2 <= len(counts) < len(chosen):
                continue
            cover = asked.covers[column]
            often, seldom = max(counts.values()), min(counts.values())
            for op, times in (("most frequent", often), ("least frequent", seldom)):
                names = [name for name, count in counts.items() if count == times]
                if len(names) <= 5:
                    where = [row for row in chosen if cells.canonical[row] in names]
                    out.add(op, names, rows, (), cover, column=column, chosen=where)
            if asked.cues["how many"]:
                out.add("highest frequency", [written(often)], rows, (), cover, column=column, chosen=chosen)
            if len(counts) > 30:
                continue
            for asked_number in asked.linked.numbers[:2]:
                names = [name for name, count in counts.items() if count == asked_number.value]
                if 0 < len(names) <= MOST_REPEATED:
                    where = [row for row in chosen if cells.canonical[row] in names]
                    with_number = cover | {asked_number.place}
                    times_asked = asked_number.value
                    out.add(
                        "so frequent", names, rows, (), with_number, column=column, chosen=where, number=times_asked
                    )
            repeated = [name for name, count in counts.items() if count > 1]
            where = [row for row in chosen if cells.canonical[row] in repeated]
            if 0 < len(repeated) <= MOST_REPEATED:
                out.add("repeated", repeated, rows, (), cover, column=column, chosen=where)
            if asked.cues["how many"] and repeated:
                out.add("count repeated", [written(len(repeated))], rows, (), cover, column=column, chosen=where)
