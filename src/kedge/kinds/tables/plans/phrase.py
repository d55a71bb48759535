"""A result in a sentence, with numbers as people write them, and the chart that would show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from kedge.kinds.tables.asking.words import name_words
from kedge.kinds.tables.plans.execute import PlanResult
from kedge.kinds.tables.plans.plan import CUTS, DatePart, Func, Measure, Order, TablePlan, Task
from kedge.kinds.tables.plans.plan_text import (
    column_name,
    filter_text,
    group_text,
    having_text,
    measure_text,
    part_text,
)
from kedge.kinds.tables.schema import Table

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Chart:
    """How a result is best drawn: headings of the columns to use."""

    type: str
    """`bar` for categories, `line` for time."""
    x: str
    y: str


def chart(plan: TablePlan, table: Table, result: PlanResult) -> Chart | None:
    """The chart for a result with one figure for each of several things; None when there is nothing to draw."""
    if len(result.rows) < 2 or plan.tally or plan.task in (Task.LIST, Task.DESCRIBE) or not result.columns:
        return None
    if plan.task is Task.COMPARE:
        return Chart("bar", result.columns[0], result.columns[1])
    if not plan.groups:
        return None
    timed = plan.groups[0].part in CUTS or table.column(plan.groups[0].column).type.dated
    y = result.columns[-1] if plan.task is Task.SHARE else result.columns[len(plan.groups)]
    return Chart("line" if timed and plan.order is None else "bar", result.columns[0], y)


def number_text(value: object) -> str:  # noqa: PLR0911 (one line per type)
    """A figure: whole numbers with thousands, others with two places, small ones with three digits."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return f"{value:,.0f}"
        return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"
    if isinstance(value, datetime):
        return (
            value.isoformat(sep=" ", timespec="minutes")
            if value.time() != value.min.time()
            else value.date().isoformat()
        )
    return value.isoformat() if isinstance(value, date) else str(value)


def phrase(plan: TablePlan, table: Table, result: PlanResult) -> str:  # noqa: PLR0911 (one line per task)
    """The answer in words."""
    if plan.task is Task.DESCRIBE:
        names = ", ".join(f"{row[0] or 'without name'} ({row[1]})" for row in result.rows)
        return f"The table has {result.row_count:,} rows and {len(result.rows)} columns: {names}."
    if result.row_count == 0:
        return f"No rows match{_where(plan, table)}."
    if plan.task is Task.LIST:
        return _listed(plan, table, result)
    if plan.task is Task.COMPARE:
        return _compared(plan, table, result)
    if plan.task is Task.SHARE:
        return _shared(plan, table, result)
    if plan.tally:
        what = ", ".join(group_text(group, table) for group in plan.groups)
        kept = f" whose {measure_text(plan.measures[0], table)} " + having_text(plan) if plan.having else ""
        return f"{number_text(result.rows[0][0])} different {what}{kept}{_where(plan, table)}."
    if not plan.groups and [measure.func for measure in plan.measures] == [Func.COUNT] and not plan.measures[0].column:
        return f"{_rows(result.rows[0][0])}{_where(plan, table) or ' in all'}."
    if not plan.groups:
        figures = " and ".join(
            f"{measure_text(measure, table)} is {number_text(cell)}"
            for measure, cell in zip(plan.measures, result.rows[0], strict=True)
        )
        return f"The {figures}{_where(plan, table)}."
    return _grouped(plan, table, result)


def _grouped(plan: TablePlan, table: Table, result: PlanResult) -> str:
    if not result.rows:
        return f"No {group_text(plan.groups[0], table)} fits{_where(plan, table)}."
    figure = measure_text(plan.measures[0], table)
    lines = [f"{_name(plan, row, table)}: {_figures(plan, row)}" for row in result.rows[:_SHOWN]]
    if plan.limit == 1 and plan.order:
        first = result.rows[0]
        rank = _rank(plan.measures[0], plan.order)
        names = _joined([_name(plan, row, table) for row in result.rows])
        many = "have" if len(result.rows) > 1 else "has"
        return f"{names} {many} the {rank}{figure}: {_figures(plan, first)}{_where(plan, table)}."
    more = f" and {len(result.rows) - _SHOWN:,} more" if len(result.rows) > _SHOWN else ""
    by = ", ".join(group_text(group, table) for group in plan.groups)
    return f"The {figure} by {by}{_where(plan, table)}: {'; '.join(lines)}{more}."


def _joined(names: Sequence[str]) -> str:
    """All names, or how many more there are."""
    if len(names) > _SHOWN:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _rank(measure: Measure, order: Order) -> str:
    if measure.func in (Func.MIN, Func.MAX):
        return ""
    return "highest " if order.descending else "lowest "


def _rows(count: object) -> str:
    return "1 row" if count == 1 else f"{number_text(count)} rows"


def _cells(row: Sequence[object], fields: Sequence[str], table: Table) -> str:
    """The cells of one row; years without day or thousands sign."""
    out = []
    for cell, column in zip(row, (table.column(field) for field in fields), strict=True):
        figure = column.type.measured and not column.yearly
        out.append(_year(cell) if column.yearly else number_text(cell) if figure else _plain(cell))
    return ", ".join(out)


def _year(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell.year) if isinstance(cell, date) else _plain(cell)


def _listed(plan: TablePlan, table: Table, result: PlanResult) -> str:
    fields = plan.columns or tuple(column.field for column in table.columns)
    rows = [_cells(row, fields, table) for row in result.rows[:_SHOWN]]
    if not rows:
        names = ", ".join(column_name(table, field) for field in fields)
        return f"There is no {names}{_where(plan, table)}."
    if plan.order and plan.order.column in plan.columns and plan.limit:
        return _first_rows(plan, table, result)
    more = f" and {len(result.rows) - _SHOWN:,} more" if len(result.rows) > _SHOWN else ""
    many = f"{len(result.rows):,}{'+' if result.truncated else ''}"
    one = len(result.rows) == 1
    if plan.distinct:
        what = " ".join(column_name(table, field) for field in fields[:1])
        return (
            f"{what}{_where(plan, table)}: {'; '.join(rows)}{more}."
            if one
            else (f"{many} different values of {what}{_where(plan, table)}: {'; '.join(rows)}{more}.")
        )
    return f"{many} {'row' if one else 'rows'}{_where(plan, table)}: {'; '.join(rows)}{more}."


def _first_rows(plan: TablePlan, table: Table, result: PlanResult) -> str:
    """Rows that come first by a figure: what names them, and the figure."""
    by = plan.order.column if plan.order and plan.order.column else ""
    rank = "highest" if plan.order and plan.order.descending else "lowest"
    place = plan.columns.index(by)
    others = [field for field in plan.columns if field != by]
    lines = []
    for row in result.rows[:_SHOWN]:
        named = _cells([cell for number, cell in enumerate(row) if number != place], others, table)
        named = named.replace(", ", " ", 1) if _full_name(others, table) else named
        lines.append((named, _cells(row[place : place + 1], [by], table)))
    figure = f"the {rank} {column_name(table, by)}"
    if plan.limit == 1 and others:
        names = (
            _joined([named for named, _ in lines])
            if len(result.rows) <= _SHOWN
            else ("; ".join(named for named, _ in lines) + f" and {len(result.rows) - _SHOWN:,} more")
        )
        many = "have" if len(result.rows) > 1 else "has"
        return f"{names} {many} {figure}: {lines[0][1]}{_where(plan, table)}."
    more = f" and {len(result.rows) - _SHOWN:,} more" if len(result.rows) > _SHOWN else ""
    cells = "; ".join(f"{named}: {value}" if named else value for named, value in lines)
    return f"The {_rows(len(result.rows))} with {figure}{_where(plan, table)}: {cells}{more}."


def _full_name(fields: Sequence[str], table: Table) -> bool:
    """Whether the first two columns are the two parts of a person's name."""
    return len(fields) > 1 and all("name" in name_words(column_name(table, field)) for field in fields[:2])


def _compared(plan: TablePlan, table: Table, result: PlanResult) -> str:
    sides = "; ".join(f"{row[0]}: {number_text(row[1])}" for row in result.rows)
    text = f"The {measure_text(plan.measures[0], table)}{_where(plan, table)}: {sides}"
    first, last = result.rows[0], result.rows[-1]
    difference, percent = last[-2], last[-1]
    if len(result.rows) != 2 or not isinstance(difference, float):
        return text + "."
    if difference == 0:
        return f"{text}. They are equal."
    higher = last[0] if difference > 0 else first[0]
    change = f" ({percent:+.1f} % from {first[0]} to {last[0]})" if isinstance(percent, float) else ""
    return f"{text}. {higher} is higher by {number_text(abs(difference))}{change}."


def _shared(plan: TablePlan, table: Table, result: PlanResult) -> str:
    figure = measure_text(plan.measures[0], table)
    if plan.groups:
        lines = [f"{_name(plan, row, table)}: {_percent(row[-1])}" for row in result.rows[:_SHOWN]]
        return f"Share of the {figure}{_where(plan, table)}: {'; '.join(lines)}."
    part, whole, share = result.rows[0][-3:]
    what = " and ".join(filter_text(item, table) for item in plan.part)
    both = f"{number_text(part)} of {number_text(whole)}"
    return f"{_percent(share)} of the {figure}{_where(plan, table)} is where {what}: {both}."


def _percent(value: object) -> str:
    return f"{float(str(value)):.2f} %" if value is not None else "none"


def _name(plan: TablePlan, row: Sequence[object], table: Table) -> str:
    cells = []
    for cell, group in zip(row, plan.groups, strict=False):
        yearly = table.column(group.column).yearly and group.part in (
            None,
            DatePart.DAY,
            DatePart.MONTH,
            DatePart.QUARTER,
        )
        empty = "(empty)" if cell is None and not group.part else ""
        cells.append(empty or (_year(cell) if yearly else part_text(cell, group.part) if group.part else _plain(cell)))
    return cells[0] if len(cells) == 1 else f"{cells[0]} ({', '.join(cells[1:])})"


def _plain(cell: object) -> str:
    """Ids and years have no thousands sign."""
    return str(cell) if isinstance(cell, int) else number_text(cell)


def _figures(plan: TablePlan, row: Sequence[object]) -> str:
    return ", ".join(number_text(cell) for cell in row[len(plan.groups) :])


def _where(plan: TablePlan, table: Table) -> str:
    if not plan.filters:
        return ""
    return " where " + " and ".join(filter_text(item, table) for item in plan.filters)


__all__ = ["Chart", "DatePart", "chart", "number_text", "phrase"]
