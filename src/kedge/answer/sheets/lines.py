"""A reading in one short line for the reader: `Name with highest Points where Nation is France (5 rows) → Prost.`

The reader sees a dozen of them at once together with the question, so they are compact, each says all by which it
differs from the others, and an operation is worded the same way wherever it comes up. Training (`python -m
benchmarks.table_plans.wordings`) and use word readings by this module.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kedge.answer.sheets.candidates import Candidate
from kedge.answer.sheets.rowsets import Condition, RowSet
from kedge.answer.sheets.sheet import Sheet, rows_of

MOST_READ = 12
"""Readings that are read at once."""
_LONGEST_NAME, _LONGEST_CELL, _LONGEST_RESULT, _LONGEST_LINE = 28, 32, 60, 130
_LONGEST_IDENTITY = 160
_ROOM = 245
"""Pieces of words that fit into one window beside a question of usual length and the identity."""
_PIECE = re.compile(r"[^\W\d_]{1,6}|\d{1,3}|[^\w\s]")
_SIGNS = {">": ">", ">=": ">=", "<": "<", "<=": "<=", "=": "="}
_KINDS = {
    "second": "second number of {}",
    "both": "both numbers of {} together",
    "margin": "margin in {}",
    "span": "years spanned by {}",
    "parts": "entries in {}",
    "year": "year of {}",
    "length": "years from {} on",
}
_PARTS = {
    "year": "year of {}",
    "first": "first number of {}",
    "second": "second number of {}",
    "bracket1": "{} in brackets",
}
_SHAPES = {
    "select": "{answer}{where}",
    "count": "number of rows{where}",
    "distinct": "number of different {sight}{where}",
    "sum": "total {sight}{where}",
    "mean": "average {sight}{where}",
    "median": "median {sight}{where}",
    "range": "highest minus lowest {sight}{where}",
    "first": "{answer} of first row{where}",
    "last": "{answer} of last row{where}",
    "nth": "{answer} of row number {number}{where}",
    "next": "{answer} in the row after the one{where}",
    "previous": "{answer} in the row before the one{where}",
    "after the first": "{answer} in the row after the first{where}",
    "before the last": "{answer} in the row before the last{where}",
    "next by value": "{answer} with next higher {sight} than the one{where}",
    "previous by value": "{answer} with next lower {sight} than the one{where}",
    "count before": "number of rows before the one{where}",
    "count after": "number of rows after the one{where}",
    "rank": "place in the table of the row{where}",
    "most frequent": "most frequent {answer}{where}",
    "least frequent": "least frequent {answer}{where}",
    "highest frequency": "how often the most frequent {answer} comes up{where}",
    "so frequent": "{answer} that comes up {number} times{where}",
    "repeated": "{answer} that comes up more than once{where}",
    "count repeated": "number of {answer} that come up more than once{where}",
    "difference of counts": "rows{where} minus rows{other}",
    "sum of counts": "rows{where} plus rows{other}",
    "larger count": "{answer} with more rows:{where} or{other}",
    "smaller count": "{answer} with fewer rows:{where} or{other}",
    "rows between": "number of rows between{where} and{other}",
    "rows apart": "steps from{where} to{other}",
    "difference": "difference of {sight} between{where} and{other}",
    "difference from number": "difference of {sight}{where} from {number}",
    "more rows?": "more rows{where} than{other}?",
    "fewer rows?": "fewer rows{where} than{other}?",
    "same cell?": "same {sight}{where} and{other}?",
    "more?": "{sight} more{where} than{other}?",
    "less?": "{sight} less{where} than{other}?",
    "equal?": "{sight} equal{where} and{other}?",
    "more than number?": "{sight}{where} more than {number}?",
    "less than number?": "{sight}{where} less than {number}?",
    "equal to number?": "{sight}{where} equal to {number}?",
    "more rows than?": "more than {number} rows{where}?",
    "exists": "is there a row{where}?",
    "yes": "nothing found, say yes",
    "no": "nothing found, say no",
    "word by order": "which word fits the order of{where} and{other}",
    "word by value": "which word fits {sight} of{where} against{other}",
    "word by number": "which word fits {sight}{where} against {number}",
    "word by count": "which word fits the number of rows{where} against {number}",
    "difference of columns": "difference of {sight} and {second}{where}",
    "columns together": "{sight} plus {second}{where}",
    "growth between columns": "percent growth from {sight} to {second}{where}",
    "ratio of columns": "{sight} divided by {second}{where}",
    "column with more": "which is more, {sight} or {second}{where}",
    "column with less": "which is less, {sight} or {second}{where}",
    "more in first column?": "{sight} more than {second}{where}?",
    "less in first column?": "{sight} less than {second}{where}?",
    "more often than": "{answer} that comes up more than {number} times{where}",
    "at least so often": "{answer} that comes up at least {number} times{where}",
    "count more often than": "number of {sight} that come up more than {number} times{where}",
    "count at least so often": "number of {sight} that come up at least {number} times{where}",
    "longest run": "most rows in a row{where}",
    "longest run of one": "most rows in a row with the same {sight}{where}",
    "in a row": "{answer} that comes up {number} times in a row{where}",
    "share of rows": "percentage of rows{where}",
    "share of total": "percentage of total {sight}{where}",
    "first and last": "{answer} of first and last row{where}",
    "both neighbours": "{answer} in the rows before and after the one{where}",
    "difference of sums": "difference of total {sight} between{where} and{other}",
    "larger sum": "{answer} with higher total {sight}:{where} or{other}",
    "smaller sum": "{answer} with lower total {sight}:{where} or{other}",
    "days between": "days of {sight} between{where} and{other}",
    "cell span + 1": "{sight}, both ends counted{where}",
}
_MOST = frozenset(("most", "most of two", "most by total", "most by mean", "most total", "highest column"))
_COUNTED = frozenset(("select", "sum", "mean", "median", "range", "most", "distinct"))
"""Operations whose line says how many rows they are over."""


def identity_of(sheet: Sheet) -> str:
    """What the reader is told of the table: how many rows it has, and its headings."""
    names = ", ".join(_short(name, _LONGEST_NAME) for name in sheet.names)
    return _short(f"Table of {sheet.count} rows: {names}", _LONGEST_IDENTITY)


class Wordings:
    """Words the readings of one question over one sheet."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._known: dict[int, tuple[RowSet, str]] = {}

    def line(self, one: Candidate, values: Sequence[str]) -> str:
        """The reading and its values, as one line."""
        where = self._where(one.rows)
        if one.op in _MOST:
            told = self._most(one, where)
        else:
            shape = _SHAPES.get(one.op) or ("{sight}{where}" if one.op.startswith("cell") else "{op}{where}")
            told = shape.format(
                op=one.op,
                answer=self._name(one.column) if one.column >= 0 else "",
                sight=self._name(one.sight, one.kind) if one.sight >= 0 else "",
                where=where,
                other=self._where(one.other) if one.other is not None else "",
                number=f"{one.number:g}" if one.number is not None else "",
                second=self._name(one.second) if one.second >= 0 else "",
            )
        size = one.rows.rows.bit_count()
        counted = f" ({size} rows)" if where and one.op in _COUNTED and size > 1 else ""
        return f"{_short(told, _LONGEST_LINE)}{counted} → {result_text(values)}."

    def _most(self, one: Candidate, where: str) -> str:
        timed = one.kind in ("date", "year")
        rank = ("latest" if timed else "highest") if one.sign > 0 else ("earliest" if timed else "lowest")
        if one.op == "highest column":
            return f"heading with the {rank} number{where}"
        sight = self._name(one.sight, one.kind)
        if one.op == "most total":
            return f"{rank} total {sight} of one {self._name(one.second)}{where}"
        sight = {"most by total": "total ", "most by mean": "average "}.get(one.op, "") + sight
        if one.column == one.sight:
            return f"{rank} {sight}{where}"
        asked = self._name(one.column) if one.column >= 0 else "which of the two"
        return f"{asked} with {rank} {sight}{where}"

    def _name(self, place: int, kind: str = "") -> str:
        column = self._sheet.columns[place]
        name = _short(column.name, _LONGEST_NAME) or f"column {place + 1}"
        form = _PARTS.get(column.part) or ("part of {}" if column.part else _KINDS.get(kind, "{}"))
        return form.format(name)

    def _where(self, rows: RowSet) -> str:
        known = self._known.get(id(rows))
        if known is None:
            told = " and ".join(self._condition(one) for one in rows.conditions)
            known = self._known[id(rows)] = (rows, f" where {told}" if told else "")
        return known[1]

    def _condition(self, one: Condition) -> str:  # noqa: PLR0911 (one line per kind)
        if one.kind in ("first", "last"):
            return f"among {one.kind} {one.values[0]:g} rows"
        if one.kind in ("top", "bottom"):
            most = "highest" if one.kind == "top" else "lowest"
            return f"among {one.values[0]:g} {most} {self._name(one.column)}"
        if one.kind == "either":
            return " or ".join(self._condition(other) for other in one.others)
        name = self._name(one.column, one.text if one.kind in ("compare", "between") else "")
        match one.kind:
            case "is" | "not":
                return f"{name} {self._cell(one)}"
            case "same":
                return f"{name} same as of {one.text}"
            case "compare":
                return f"{name} {_SIGNS[one.sign]} {_number(one)}"
            case "than":
                return f"{name} {one.sign} that of {_short(one.text, _LONGEST_CELL)}"
            case "between":
                return f"{name} from {one.values[0]:g} to {one.values[1]:g}"
            case "blank" | "filled":
                return f"{name} {'not ' if one.kind == 'filled' else ''}empty"
        return f"{name} {'= 0' if one.kind == 'zero' else '> 0'}"

    def _cell(self, one: Condition) -> str:
        column = self._sheet.columns[one.column]
        rows = rows_of(column.exact.get(one.text, 0))
        negated = one.kind == "not"
        if len({column.plain[row] for row in rows}) == 1:
            return f"{'is not' if negated else 'is'} {_short(column.texts[rows[0]], _LONGEST_CELL)}"
        return f"{'without' if negated else 'has'} {_short(one.text, _LONGEST_CELL)}"


def fitting(lines: Sequence[str]) -> Sequence[str]:
    """The first lines, as many as are read at once: twelve, or fewer where they are long."""
    room = _ROOM
    for count, line in enumerate(lines[:MOST_READ]):
        room -= len(_PIECE.findall(line))
        if room < 0:
            return lines[: max(1, count)]
    return lines[:MOST_READ]


def result_text(values: Sequence[str]) -> str:
    """As many values as fit into few characters, one at least, and how many more there are."""
    shown: list[str] = []
    for value in values:
        one = _short(value, _LONGEST_CELL)
        if shown and sum(map(len, shown)) + len(one) > _LONGEST_RESULT:
            break
        shown.append(one)
    more = len(values) - len(shown)
    return (", ".join(shown) or "nothing") + (f" and {more} more" if more else "")


def _number(one: Condition) -> str:
    value = one.values[0]
    if one.text == "date" and value > 400:
        key = int(value)
        return "-".join(f"{part:02d}" for part in (key // 400, key % 400 // 32, key % 32) if part)
    return f"{value:g}"


def _short(text: str, longest: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= longest else plain[: longest - 1].rstrip() + "…"
