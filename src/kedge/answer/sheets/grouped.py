"""Readings by group: the name with the highest total, names that come up often enough, runs of rows, shares."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from kedge.answer.sheets.asked import Asked, SeenSight
from kedge.answer.sheets.candidates import Candidates
from kedge.answer.sheets.cells import written
from kedge.answer.sheets.rowsets import Feature, RowSet
from kedge.answer.sheets.sheet import rows_of

MOST_TIES = 3
MOST_NAMES = 8
MOST_COLUMNS, MOST_SIGHTS = 4, 4


class GroupedReadings:
    """Makes the readings by group over one set of rows at a time."""

    def __init__(self, asked: Asked, out: Candidates) -> None:
        self._asked = asked
        self._sheet = asked.sheet
        self._out = out
        self._summed = [seen for seen in asked.by_nearness if seen.sight.summed][:MOST_SIGHTS]
        self._all = rows_of(asked.sheet.every)

    def over(self, rows: RowSet, chosen: Sequence[int]) -> None:
        """All readings over a set."""
        cues = self._asked.cues
        if cues["run"]:
            self._runs(rows, chosen)
        if cues["share"] and rows.depth:
            self._shares(rows, chosen)
        if rows.depth > 1 or len(chosen) < 3:
            return
        columns = [column for column in self._asked.answers if column not in rows.columns]
        for column in columns[:MOST_COLUMNS]:
            if cues["most"]:
                self._totals(rows, chosen, column)
            if cues["frequency"]:
                self._often(rows, chosen, column)

    def _totals(self, rows: RowSet, chosen: Sequence[int], column: int) -> None:
        groups = self._groups(chosen, column)
        if not 2 <= len(groups) < len(chosen):
            return
        for seen in self._summed:
            if seen.sight.column == column:
                continue
            self._by_group("total", rows, groups, column, seen)
            if self._asked.cues["mean"]:
                self._by_group("mean", rows, groups, column, seen)

    def _by_group(self, figure: str, rows: RowSet, groups: dict[str, list[int]], column: int, seen: SeenSight) -> None:
        found: dict[str, float] = {}
        for name, own in groups.items():
            values = seen.sight.values[np.array(own)]
            known = values[np.isfinite(values)]
            if len(known):
                found[name] = float(known.sum() if figure == "total" else known.mean())
        if len(found) < 2:
            return
        asked = self._asked
        headings: list[Feature] = [("group heading", word) for word in self._sheet.columns[column].words[:2]]
        for sign in (1, -1):
            best = max(sign * value for value in found.values())
            names = [name for name, value in found.items() if sign * value == best]
            if len(names) > MOST_TIES:
                continue
            where = [row for name in names for row in groups[name]]
            told: list[Feature] = [("by group", figure, sign), ("most", sign, "number"), *headings]
            cover = asked.covers[column]
            op = f"most by {figure}"
            self._out.add(op, names, rows, told, cover, column=column, seen=seen, sign=sign, chosen=where)
            if asked.cues["how many"] and figure == "total":
                told = [("by group", "value", sign), *headings]
                value = [written(sign * best)]
                self._out.add("most total", value, rows, told, cover, seen=seen, sign=sign, chosen=where, second=column)

    def _often(self, rows: RowSet, chosen: Sequence[int], column: int) -> None:
        """Names that come up more than so many times, at least so many times, and how many such names there are."""
        asked = self._asked
        counts = Counter({name: len(own) for name, own in self._groups(chosen, column).items()})
        if not 2 <= len(counts) < len(chosen):
            return
        for number in asked.linked.numbers[:2]:
            if number.place in rows.cover or not 1 <= number.value < max(counts.values()) + 1:
                continue
            cover = asked.covers[column] | {number.place}
            for op, least in (("more often than", number.value + 1), ("at least so often", number.value)):
                names = [name for name, count in counts.items() if count >= least]
                where = [row for row in chosen if self._sheet.columns[column].canonical[row] in names]
                told: list[Feature] = [("by group", op)]
                asked_number = number.value
                if 0 < len(names) <= MOST_NAMES:
                    self._out.add(op, names, rows, told, cover, column=column, chosen=where, number=asked_number)
                if names and asked.cues["how many"]:
                    told = [("by group", "count " + op)]
                    value = [written(len(names))]
                    self._out.add(
                        f"count {op}", value, rows, told, cover, sight=column, chosen=where, number=asked_number
                    )

    def _runs(self, rows: RowSet, chosen: Sequence[int]) -> None:
        asked = self._asked
        if rows.depth:
            longest = _longest_run(chosen)
            self._out.add("longest run", [written(len(longest))], rows, [("run", "rows")], chosen=longest)
        for column in asked.answers[:MOST_COLUMNS] if rows.depth < 2 else ():
            if column in rows.columns:
                continue
            runs = {name: _longest_run(own) for name, own in self._groups(chosen, column).items()}
            longest_of = max(map(len, runs.values()), default=0)
            cover = asked.covers[column]
            wanted = [(longest_of, "longest", cover)]
            wanted += [(int(one.value), "so long", cover | {one.place}) for one in asked.linked.numbers[:2]]
            for length, way, used in wanted:
                names = [name for name, run in runs.items() if len(run) >= length > 1]
                if 0 < len(names) <= MOST_TIES:
                    where = [row for name in names for row in runs[name]]
                    told: list[Feature] = [("run", way)]
                    number = float(length)
                    self._out.add("in a row", names, rows, told, used, column=column, chosen=where, number=number)
            if asked.cues["how many"] and longest_of > 1:
                where = next(run for run in runs.values() if len(run) == longest_of)
                told = [("run", "value")]
                value = [written(longest_of)]
                self._out.add("longest run of one", value, rows, told, cover, sight=column, chosen=where)

    def _shares(self, rows: RowSet, chosen: Sequence[int]) -> None:
        told: list[Feature] = [("share", "rows")]
        value = [written(round(100 * len(chosen) / max(1, len(self._all)), 2))]
        self._out.add("share of rows", value, rows, told, chosen=chosen)
        for seen in self._summed:
            every = float(np.nansum(seen.sight.values[np.array(self._all)]))
            own = float(np.nansum(seen.sight.values[np.array(chosen)])) if chosen else 0.0
            if every > 0 and own > 0:
                told = [("share", "sum")]
                value = [written(round(100 * own / every, 2))]
                self._out.add("share of total", value, rows, told, seen=seen, chosen=chosen)

    def _groups(self, chosen: Sequence[int], column: int) -> dict[str, list[int]]:
        """The rows of each name, names in the order of the table."""
        cells = self._sheet.columns[column]
        out: dict[str, list[int]] = defaultdict(list)
        for row in chosen:
            if cells.plain[row]:
                out[cells.canonical[row]].append(row)
        return out


def _longest_run(rows: Sequence[int]) -> list[int]:
    """The longest stretch of rows that follow each other; the first of equal ones."""
    best: list[int] = []
    run: list[int] = []
    for row in rows:
        run = [*run, row] if run and row == run[-1] + 1 else [row]
        best = run if len(run) > len(best) else best
    return best
