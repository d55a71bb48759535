"""Rows as sentences: what people read, what citations quote, and what a language model would be given."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from kedge.core.values import Json
from kedge.kinds.tables.schema import ColumnType, Table

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def row_text(table: Table, values: Sequence[Any]) -> str:
    """The fields of a row that have a value, words first, ids last: `department: DELI; sales value: 1.5`."""
    pairs = sorted(zip(table.columns, values, strict=True), key=lambda pair: _place(pair[0].type))
    return "; ".join(f"{column.name.replace('_', ' ')}: {shown(value)}" for column, value in pairs if value is not None)


def _place(kind: ColumnType) -> int:
    return 0 if kind.worded else 2 if kind is ColumnType.ID else 1


def shown(value: Any) -> str:
    """One value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="minutes" if not value.second else "seconds")
    if isinstance(value, float):
        return f"{value:.10g}"
    return " ".join(str(value).split())


def as_json(value: Any) -> Json:
    """One value as JSON."""
    if isinstance(value, float):
        return float(f"{value:.12g}")  # sums of decimal fractions end in noise
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)


def csv_cell(value: Any) -> str:
    """One value as it may stand in a CSV that somebody opens in a spreadsheet: no cell is a formula."""
    if value is None:
        return ""
    if isinstance(value, int | float | Decimal | date) and not isinstance(value, bool):
        return str(as_json(value))
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
