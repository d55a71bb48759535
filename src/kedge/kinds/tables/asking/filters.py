"""Filters from what a question names: values of a column together, periods, numbers with their unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kedge.kinds.tables.asking.mentions import TableMention
from kedge.kinds.tables.asking.periods import AskedPeriod
from kedge.kinds.tables.plans.plan import DatePart, Filter, Op, Scalar
from kedge.kinds.tables.schema import Column


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
    if period.day_of_year:
        return None
    if column.type.measured:
        return _of_years(period, column)
    if period.part:
        op = Op.IS if len(period.values) == 1 else Op.IN
        return Filter(column.field, op, period.values, period.part)
    op, values = period.op()
    return Filter(column.field, op, values)


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


_EACH = {DatePart.WEEKDAY: range(1, 8), DatePart.MONTH_OF_YEAR: range(1, 13), DatePart.QUARTER_OF_YEAR: range(1, 5)}


def _of_all(periods: Sequence[AskedPeriod]) -> tuple[int, ...]:
    """The weekdays, months … of all that are asked for; of those to leave out, all others."""
    kept = {value for period in periods if not period.negated for value in period.values}
    out = {value for period in periods if period.negated for value in period.values}
    return tuple(sorted((kept or set(_EACH.get(periods[0].part or DatePart.DAY, ()))) - out if out else kept))


def months_together(periods: Sequence[AskedPeriod]) -> AskedPeriod | None:
    """Several periods as one: months in a row, or parts that recur."""
    if len({period.part for period in periods}) == 1 and periods[0].part:
        return replace(periods[0], values=_of_all(periods))
    ordered = sorted((p for p in periods if p.first and p.last), key=lambda p: str(p.first))
    if len(ordered) != len(periods):
        return None
    for one, two in pairwise(ordered):
        if one.last is None or two.first is None or (two.first - one.last).days != 1:
            return None
    return replace(ordered[0], last=ordered[-1].last)
