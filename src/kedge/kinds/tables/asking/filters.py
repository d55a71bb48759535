"""Filters from what a question names: values of a column together, periods, numbers with their unit."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from kedge.kinds.tables.asking.mentions import TableMention
from kedge.kinds.tables.asking.periods import AskedPeriod
from kedge.kinds.tables.plans.plan import DatePart, Filter, Op, Scalar
from kedge.kinds.tables.schema import Column, ColumnType, Table


@dataclass(slots=True)
class NamedRows:
    """Rows that one mention asks for."""

    mention: TableMention
    filter: Filter
    negated: bool = False


def scaled(value: float, unit: str, column: Column) -> float:
    """20 % in a column of fractions is 0.2."""
    fractions = isinstance(column.highest, int | float) and column.highest <= 1 and not isinstance(column.highest, bool)
    return value / 100 if unit == "percent" and fractions else value


def merged(named: Sequence[NamedRows]) -> list[Filter]:
    """Values of one column are joined by or, those to leave out by and."""
    kept: dict[tuple[str, bool], list[Scalar]] = {}
    for item in named:
        kept.setdefault((item.filter.column, item.negated), []).extend(item.filter.values)
    out = []
    for (column, negated), values in kept.items():
        each = tuple(dict.fromkeys(values))
        single, several = (Op.NOT, Op.NOT_IN) if negated else (Op.IS, Op.IN)
        out.append(Filter(column, single if len(each) == 1 else several, each))
    return out


def dated(period: AskedPeriod, column: Column) -> Filter | None:
    """A period as a filter on a date column, or on one of years; None where that cannot tell."""
    if column.type.measured:
        return _of_years(period, column)
    if period.part:
        op = Op.IS if len(period.values) == 1 else Op.IN
        return Filter(column.field, op, period.values, period.part)
    op, values = period.op()
    return Filter(column.field, op, values)


_LOCAL = {DatePart.MONTH_OF_YEAR: ("month", 1, 12), DatePart.HOUR: ("hour", 0, 23)}


def local(period: AskedPeriod, table: Table) -> list[Filter]:
    """A period by whole-number columns for year, month and hour, which say local time where a time stamp may not."""
    if period.part is not None:
        name, low, high = _LOCAL.get(period.part, ("", 0, 0))
        column = _numbered(table, name, low, high)
        op = Op.IS if len(period.values) == 1 else Op.IN
        return [Filter(column.field, op, period.values)] if column else []
    first, last = period.first, period.last
    years = next((column for column in table.columns if _only_year(column)), None)
    if not (first and last and years) or first.day != 1 or last != _month_end(last):
        return []
    if (first.month, last.month) == (1, 12):
        ends = (first.year, last.year)
        return [Filter(years.field, Op.IS, ends[:1]) if ends[0] == ends[1] else Filter(years.field, Op.BETWEEN, ends)]
    months = _numbered(table, "month", 1, 12)
    if months is None or first.year != last.year:
        return []
    return [
        Filter(years.field, Op.IS, (first.year,)),
        Filter(months.field, Op.BETWEEN, (first.month, last.month)),
    ]


def _only_year(column: Column) -> bool:
    """Whether a column of whole numbers is the year of its row, not of an event: year, yearID, but not birthYear."""
    return column.type is ColumnType.INTEGER and column.yearly and column.name.casefold().startswith("year")


def _month_end(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])


def _numbered(table: Table, name: str, low: int, high: int) -> Column | None:
    """The column of whole numbers with this name, all of them inside the bounds."""
    for column in table.columns:
        inside = isinstance(column.lowest, int) and isinstance(column.highest, int)
        if column.name.casefold() == name and column.type is ColumnType.INTEGER and inside:
            return column if low <= int(str(column.lowest)) and int(str(column.highest)) <= high else None
    return None


def _of_years(period: AskedPeriod, column: Column) -> Filter | None:
    first, last = period.first, period.last
    whole = (first is None or (first.month, first.day) == (1, 1)) and (
        last is None or (last.month, last.day) == (12, 31)
    )
    if period.part or not whole:
        return None
    if first and last:
        same = first.year == last.year
        return Filter(column.field, Op.IS if same else Op.BETWEEN, (first.year,) if same else (first.year, last.year))
    if first:
        return Filter(column.field, Op.AT_LEAST, (first.year,))
    return Filter(column.field, Op.AT_MOST, (last.year,)) if last else None


def months_together(periods: Sequence[AskedPeriod]) -> AskedPeriod | None:
    """Several periods as one: months in a row, or parts that recur."""
    if len({period.part for period in periods}) == 1 and periods[0].part:
        values = tuple(sorted({value for period in periods for value in period.values}))
        return replace(periods[0], values=values)
    ordered = sorted((p for p in periods if p.first and p.last), key=lambda p: str(p.first))
    if len(ordered) != len(periods):
        return None
    for one, two in pairwise(ordered):
        if one.last is None or two.first is None or (two.first - one.last).days != 1:
            return None
    return replace(ordered[0], last=ordered[-1].last)
