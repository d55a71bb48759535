"""Filters on columns, as DuckDB takes them: the tree of `stores.filters` with columns by their names in the file."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from kedge.core.errors import FilterError
from kedge.core.values.filters import And, Eq, Filter, In, Not, Or, Range
from kedge.kinds.tables.schema import ROW, Column, ColumnType, Table


def condition(where: Filter, table: Table) -> tuple[str, list[Any]]:
    """SQL with its bound values. FilterError for a column that the table does not have."""
    match where:
        case And(parts) | Or(parts):
            return _joined(where, parts, table)
        case Not(part):
            inner, values = condition(part, table)
            return f"NOT coalesce(({inner}), false)", values
        case Eq(name, None):
            return f"{_place(name, table)[0]} IS NULL", []
        case Eq(name, value):
            return _equal(name, [value], table)
        case In(name, values):
            return _equal(name, list(values), table)
        case Range():
            return _range(where, table)


def _joined(where: And | Or, parts: tuple[Filter, ...], table: Table) -> tuple[str, list[Any]]:
    word, alone = (" AND ", "true") if isinstance(where, And) else (" OR ", "false")
    made = [condition(part, table) for part in parts]
    return word.join(f"({text})" for text, _ in made) or alone, [value for _, values in made for value in values]


def _place(name: str, table: Table) -> tuple[str, Column | None]:
    if name == ROW:
        return ROW, None
    column = column_named(name, table)
    return column.field, column


def column_named(name: str, table: Table) -> Column:
    """The column with this name, upper and lower case alike. FilterError."""
    wanted = name.casefold()
    exact = [column for column in table.columns if column.name == name]
    close = exact or [column for column in table.columns if column.name.casefold() == wanted]
    if not close:
        raise FilterError(
            f"The table has no column {name!r}.",
            hint=f"Columns: {', '.join(column.name for column in table.columns)}.",
        )
    return close[0]


def _equal(name: str, values: list[Any], table: Table) -> tuple[str, list[Any]]:
    field, column = _place(name, table)
    if column is None or column.type.measured:
        return f"{field} IN (SELECT unnest(?::DOUBLE[]))", [[_number(name, value) for value in values]]
    if column.type is ColumnType.BOOLEAN:
        return f"{field} IN (SELECT unnest(?::BOOLEAN[]))", [
            [value is True or str(value).lower() == "true" for value in values]
        ]
    if column.type.dated:
        return f"CAST({field} AS DATE) IN (SELECT unnest(?::DATE[]))", [[_date(name, value) for value in values]]
    return f"lower({field}::VARCHAR) IN (SELECT unnest(?::VARCHAR[]))", [[str(value).lower() for value in values]]


def _range(where: Range, table: Table) -> tuple[str, list[Any]]:
    field, column = _place(where.field, table)
    if column is not None and not column.type.measured and column.type is not ColumnType.ID:
        raise FilterError(f"{where.field!r} holds no numbers, so it has no range.", hint="Compare it with = or !=.")
    bounds = ((">=", where.gte), ("<=", where.lte), (">", where.gt), ("<", where.lt))
    given = [(sign, value) for sign, value in bounds if value is not None]
    return " AND ".join(f"TRY_CAST({field} AS DOUBLE) {sign} ?" for sign, _ in given), [value for _, value in given]


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise FilterError(f"{name!r} holds numbers; {value!r} is none.", hint=f"For instance {name}=3.") from error


def _date(name: str, value: Any) -> date:
    try:
        return datetime.fromisoformat(str(value)).date()
    except ValueError as error:
        raise FilterError(
            f"{name!r} holds dates; {value!r} is none.", hint=f"For instance {name}=2024-12-31."
        ) from error
