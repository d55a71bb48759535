"""A reading in words: the steps that it takes, and its answer in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.answer.sheets.candidates import Candidate
from kedge.answer.sheets.cells import canonical
from kedge.answer.sheets.rowsets import Condition, RowSet
from kedge.answer.sheets.sheet import Sheet, rows_of

_SIGNS = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most", "=": "equal to"}
_KINDS = {
    "second": "the second number of {}",
    "both": "the two numbers of {} together",
    "margin": "the difference of the two numbers of {}",
    "span": "the years from first to last in {}",
    "parts": "the number of entries in {}",
    "year": "the year of {}",
    "length": "the years from {} on",
}
_PARTS = {"year": "the year of {}", "first": "the first number of {}", "second": "the second number of {}"}
_STEPS = {
    "count": "count them",
    "distinct": "count the different values of {sight}",
    "sum": "add up {sight}",
    "mean": "average {sight}",
    "median": "median of {sight}",
    "range": "highest less lowest {sight}",
    "first": "the first of them",
    "last": "the last of them",
    "nth": "number {number} of them",
    "next": "the row after them",
    "previous": "the row before them",
    "after the first": "the row after the first of them",
    "before the last": "the row before the last of them",
    "next by value": "the row with the next higher {sight}",
    "previous by value": "the row with the next lower {sight}",
    "count before": "count the rows before them",
    "count after": "count the rows after them",
    "rank": "its place in the table",
    "most frequent": "the value that comes up most often",
    "least frequent": "the value that comes up least often",
    "highest frequency": "how often the most frequent value comes up",
    "so frequent": "the values that come up {number} times",
    "repeated": "the values that come up more than once",
    "count repeated": "count the values that come up more than once",
    "difference of counts": "difference of the two counts",
    "sum of counts": "the two counts together",
    "larger count": "the one with more rows",
    "smaller count": "the one with fewer rows",
    "rows between": "count the rows between them",
    "rows apart": "count the rows from one to the other",
    "difference": "difference of {sight}",
    "difference from number": "difference of {sight} from {number}",
    "more rows?": "whether the first has more rows",
    "fewer rows?": "whether the first has fewer rows",
    "same cell?": "whether both have the same {sight}",
    "more?": "whether the first has more {sight}",
    "less?": "whether the first has less {sight}",
    "equal?": "whether both have the same {sight}",
    "more than number?": "whether {sight} is more than {number}",
    "less than number?": "whether {sight} is less than {number}",
    "equal to number?": "whether {sight} is {number}",
    "more rows than?": "whether there are more than {number} rows",
    "exists": "whether there is such a row",
    "difference of columns": "difference of {sight} and {second}",
    "columns together": "{sight} and {second} together",
    "growth between columns": "growth from {sight} to {second} in percent",
    "ratio of columns": "{sight} divided by {second}",
    "column with more": "which is more, {sight} or {second}",
    "column with less": "which is less, {sight} or {second}",
    "more in first column?": "whether {sight} is more than {second}",
    "less in first column?": "whether {sight} is less than {second}",
    "more often than": "the values that come up more than {number} times",
    "at least so often": "the values that come up at least {number} times",
    "count more often than": "count the values of {sight} that come up more than {number} times",
    "count at least so often": "count the values of {sight} that come up at least {number} times",
    "longest run": "count the longest stretch of rows in a row",
    "longest run of one": "how often one value of {sight} comes up in a row at most",
    "in a row": "the value that comes up {number} times in a row",
    "share of rows": "their share of all rows in percent",
    "share of total": "their share of all {sight} in percent",
    "first and last": "the first and the last of them",
    "both neighbours": "the rows before and after them",
    "difference of sums": "difference of the two totals of {sight}",
    "larger sum": "the one with the higher total of {sight}",
    "smaller sum": "the one with the lower total of {sight}",
    "days between": "days between the two in {sight}",
}

HEADINGS = frozenset(("column with more", "column with less", "highest column"))
"""Operations whose answer is a heading."""


def column_text(sheet: Sheet, place: int, kind: str = "") -> str:
    """What a column is called, or a part of it."""
    column = sheet.columns[place]
    name = " ".join(column.name.split()) or f"column {place + 1}"
    form = _PARTS.get(column.part) or ("a part of {}" if column.part else _KINDS.get(kind, "{}"))
    return form.format(name)


def condition_text(condition: Condition, sheet: Sheet) -> str:  # noqa: PLR0911 (one line per kind)
    """`Nation is France`, `Points is more than 5`."""
    if condition.kind in ("first", "last"):
        return f"{condition.kind} {condition.values[0]:g} rows"
    if condition.kind in ("top", "bottom"):
        most = "highest" if condition.kind == "top" else "lowest"
        return f"{column_text(sheet, condition.column)} is one of the {condition.values[0]:g} {most}"
    if condition.kind == "either":
        return " or ".join(condition_text(one, sheet) for one in condition.others)
    name = column_text(sheet, condition.column, condition.text if condition.kind in ("compare", "between") else "")
    match condition.kind:
        case "is" | "not":
            return f"{name} {'is not' if condition.kind == 'not' else 'is'} {_cell(condition, sheet)}"
        case "same":
            return f"{name} is the same as of {condition.text}"
        case "compare":
            return f"{name} is {_SIGNS[condition.sign]} {_number(condition)}"
        case "than":
            return f"{name} is {_SIGNS[condition.sign]} that of “{condition.text}”"
        case "between":
            return f"{name} is from {condition.values[0]:g} to {condition.values[1]:g}"
        case "blank" | "filled":
            return f"{name} is {'not ' if condition.kind == 'filled' else ''}empty"
    return f"{name} is {'0' if condition.kind == 'zero' else 'more than 0'}"


def _number(condition: Condition) -> str:
    value = condition.values[0]
    if condition.text == "date" and value > 400:
        key = int(value)
        return "-".join(f"{part:02d}" for part in (key // 400, key % 400 // 32, key % 32) if part)
    return f"{value:g}"


def _cell(condition: Condition, sheet: Sheet) -> str:
    """The cell as it is written where there is one, else the words that were looked for."""
    column = sheet.columns[condition.column]
    rows = column.exact.get(condition.text, 0)
    texts = {column.plain[row] for row in rows_of(rows)}
    if len(texts) == 1:
        return " ".join(column.texts[rows_of(rows)[0]].split())
    return f"“{condition.text}”"


def where_text(rows: RowSet, sheet: Sheet) -> str:
    """Which rows."""
    if not rows.conditions:
        return "all rows"
    if rows.conditions[0].kind in ("first", "last") and len(rows.conditions) == 1:
        return f"the {condition_text(rows.conditions[0], sheet)}"
    return "rows where " + " and ".join(condition_text(one, sheet) for one in rows.conditions)


def reading_steps(one: Candidate, sheet: Sheet) -> list[str]:
    """What is done, one step a line."""
    steps = [where_text(one.rows, sheet)]
    if one.other is not None:
        steps.append("against " + where_text(one.other, sheet))
    sight = column_text(sheet, one.sight, one.kind) if one.sight >= 0 else ""
    number = f"{one.number:g}" if one.number is not None else ""
    if one.op in ("most", "most of two"):
        timed = one.kind in ("date", "year")
        rank = ("latest" if timed else "highest") if one.sign > 0 else ("earliest" if timed else "lowest")
        steps.append(f"the {rank} {sight}")
    elif one.op in ("most by total", "most by mean", "most total"):
        rank = "highest" if one.sign > 0 else "lowest"
        figure = "average" if one.op == "most by mean" else "total"
        by = column_text(sheet, one.second if one.op == "most total" else one.column)
        steps.append(f"the {rank} {figure} of {sight} by {by}")
    elif one.op == "highest column":
        steps.append(f"the column with the {'highest' if one.sign > 0 else 'lowest'} number")
    elif one.op.startswith("cell"):
        steps.append(f"show {sight}" + (", both ends counted" if one.op.endswith("+ 1") else ""))
    elif one.op.startswith("word by"):
        steps.append("which of the two words fits")
    elif one.op in _STEPS:
        second = column_text(sheet, one.second) if one.second >= 0 else ""
        steps.append(_STEPS[one.op].format(sight=sight, number=number, second=second))
    if one.column >= 0 and one.op not in ("highest frequency", "count repeated"):
        steps.append(f"show {column_text(sheet, one.column)}")
    return steps


def answer_texts(one: Candidate, sheet: Sheet) -> list[str]:
    """The answers as people write them: cells as they stand in the table, in its order."""
    if one.op in HEADINGS:
        named = {canonical(name): " ".join(name.split()) for name in sheet.names}
        return [named.get(answer, _plain(answer)) for answer in one.answers]
    if one.column < 0 or one.op in ("highest frequency", "count repeated"):
        return [_plain(answer) for answer in one.answers]
    column = sheet.columns[one.column]
    texts: dict[str, str] = {}
    for row in one.chosen:
        if column.canonical[row] in one.answers:
            texts.setdefault(column.canonical[row], " ".join(column.texts[row].split()))
    return [text for text in texts.values() if text] or [_plain(answer) for answer in one.answers]


def _plain(answer: str) -> str:
    return answer.removeprefix("#")


def sentence(one: Candidate, sheet: Sheet, texts: Sequence[str]) -> str:
    """The answer with what it is."""
    shown = ", ".join(texts)
    if one.op == "count":
        rows = "row" if shown == "1" else "rows"
        return f"{shown} {rows}{_suffix(one, sheet)}."
    if one.column >= 0 and one.op not in ("highest frequency", "count repeated"):
        return f"{column_text(sheet, one.column)}: {shown}."
    return f"{shown}."


def _suffix(one: Candidate, sheet: Sheet) -> str:
    where = where_text(one.rows, sheet)
    return " in all" if where == "all rows" else f" {where.removeprefix('rows ').removeprefix('the ')}"
