"""A plan in words: one line, its steps, and the headings of its result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from kedge.kinds.tables.plans.plan import (
    Arithmetic,
    DatePart,
    Filter,
    Func,
    Group,
    Having,
    Measure,
    Op,
    Scalar,
    TablePlan,
    Task,
)
from kedge.kinds.tables.schema import Table

WEEKDAYS = ("", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = "  January February March April May June July August September October November December".split(" ")[1:]
_SIGNS = {Arithmetic.TIMES: "×", Arithmetic.MINUS: "−", Arithmetic.PLUS: "+", Arithmetic.OVER: "÷"}
_WORDS = {
    Op.IS: "is",
    Op.NOT: "is not",
    Op.IN: "is",
    Op.NOT_IN: "is not",
    Op.LESS: "is less than",
    Op.AT_MOST: "is at most",
    Op.MORE: "is more than",
    Op.AT_LEAST: "is at least",
    Op.CONTAINS: "contains",
    Op.EMPTY: "is empty",
    Op.FILLED: "is not empty",
}
_FUNCS = {
    Func.SUM: "sum of {}",
    Func.AVERAGE: "average of {}",
    Func.MIN: "lowest {}",
    Func.MAX: "highest {}",
    Func.MEDIAN: "median of {}",
    Func.DISTINCT: "number of different {}",
    Func.COUNT: "number of rows with {}",
}


def column_name(table: Table, field: str) -> str:
    """A column's name, or its place when the name is empty."""
    column = table.column(field)
    return column.name.strip() or f"column {list(table.columns).index(column) + 1}"


def value_text(value: Scalar) -> str:
    """One value as people write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:,.10g}" if abs(value) < 1e15 else f"{value:g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else value


def part_text(value: object, part: DatePart | None) -> str:  # noqa: PLR0911 (one line per part)
    """A part of a date as people write it: 2017-03, 2017 Q2, Monday."""
    if value is None:
        return "none"
    if isinstance(value, int):
        if part is DatePart.WEEKDAY and 1 <= value <= 7:
            return WEEKDAYS[value]
        if part is DatePart.MONTH_OF_YEAR and 1 <= value <= 12:
            return MONTHS[value]
        return (
            f"Q{value}"
            if part is DatePart.QUARTER_OF_YEAR
            else f"{value:02d}:00"
            if part is DatePart.HOUR
            else str(value)
        )
    if isinstance(value, date):
        if part is DatePart.QUARTER:
            return f"{value.year} Q{(value.month + 2) // 3}"
        return value.isoformat()[: {DatePart.YEAR: 4, DatePart.MONTH: 7}.get(part or DatePart.DAY, 10)]
    return str(value)


def filter_text(item: Filter, table: Table) -> str:
    """`brand is National`, `price is more than 5`."""
    name = column_name(table, item.column)
    if item.part:
        name = f"{item.part.value} of {name}"
        values = [part_text(round(value), item.part) for value in item.values if isinstance(value, int | float)]
    else:
        values = [value_text(value) for value in item.values]
    if table.column(item.column).yearly and not item.part:
        values = [_year(value) for value in item.values]
        if item.op is Op.BETWEEN and values[0] == values[1]:
            return f"{name} is {values[0]}"
    if item.op is Op.BETWEEN:
        return f"{name} is from {values[0]} to {values[1]}"
    several = ", ".join(values[:-1]) + " or " + values[-1] if len(values) > 1 else "".join(values)
    return f"{name} {_WORDS[item.op]} {several}".strip()


def _year(value: Scalar) -> str:
    if isinstance(value, date):
        return str(value.year)
    return str(int(value)) if isinstance(value, int | float) and value == int(value) else value_text(value)


def measure_text(measure: Measure, table: Table) -> str:
    """`sum of sales_value`, `average per basket_id of the sum of sales_value`."""
    if measure.per and measure.inner:
        inner = measure_text(Measure(measure.inner, measure.column, measure.arithmetic, measure.other), table)
        per = group_text(Group(measure.per, measure.per_part), table)
        return f"{_FUNCS[measure.func].format(f'the {inner}')} per {per}"
    if measure.column is None:
        return "number of rows"
    name = column_name(table, measure.column)
    if measure.arithmetic and measure.other:
        name = f"{name} {_SIGNS[measure.arithmetic]} {column_name(table, measure.other)}"
    return _FUNCS[measure.func].format(name)


def group_text(group: Group, table: Table) -> str:
    """`brand`, `month of order_date`."""
    name = column_name(table, group.column)
    return f"{group.part.value} of {name}" if group.part else name


def steps(plan: TablePlan, table: Table) -> list[str]:
    """What is done, one step a line, in order."""
    if plan.task is Task.DESCRIBE:
        return ["the columns of the table"]
    out = []
    if plan.filters:
        out.append("rows where " + " and ".join(filter_text(item, table) for item in plan.filters))
    else:
        out.append("all rows")
    if plan.task is Task.LIST:
        shown = ", ".join(column_name(table, field) for field in plan.columns) or "all columns"
        out.append(f"{'different values of' if plan.distinct else 'show'} {shown}")
    else:
        out.append(_computed(plan, table))
    if plan.having:
        out.append("keep those where it " + having_text(plan))
    if plan.tally:
        out.append("number of those")
    if plan.order:
        by = f" by {column_name(table, plan.order.column)}" if plan.order.column else ""
        out.append(f"{'highest' if plan.order.descending else 'lowest'} first{by}")
    if plan.limit is not None:
        out.append("the first" if plan.limit == 1 else f"the first {plan.limit}")
    return out


def plan_text(plan: TablePlan, table: Table) -> str:
    """The steps in one line."""
    return "; ".join(steps(plan, table))


def headings(plan: TablePlan, table: Table) -> Sequence[str]:
    """Names of the result's columns."""
    if plan.task is Task.DESCRIBE:
        return ("column", "type", "different values", "empty")
    if plan.task is Task.LIST:
        fields = plan.columns or tuple(column.field for column in table.columns)
        return tuple(column_name(table, field) for field in fields)
    measures = [measure_text(measure, table) for measure in plan.measures]
    if plan.task is Task.COMPARE:
        return ("side", *measures, "difference from the first", "percent")
    groups = [group_text(group, table) for group in plan.groups]
    if plan.task is Task.SHARE:
        return (*groups, *(["part", "whole"] if plan.part else measures), "percent")
    return ("number of " + ", ".join(groups),) if plan.tally else (*groups, *measures)


def _computed(plan: TablePlan, table: Table) -> str:
    figures = ", ".join(measure_text(measure, table) for measure in plan.measures)
    groups = ", ".join(group_text(group, table) for group in plan.groups)
    if plan.task is Task.COMPARE:
        return f"{figures} for " + " against ".join(
            " and ".join(filter_text(item, table) for item in side.filters) or side.label for side in plan.sides
        )
    by = f" by {groups}" if groups else ""
    if plan.task is Task.SHARE:
        where = " where " + " and ".join(filter_text(item, table) for item in plan.part) if plan.part else ""
        return f"percent of the {figures}{where}{by}"
    return figures + by


def having_text(plan: TablePlan) -> str:
    """`is more than 5`."""
    return " and ".join(_having_text(item) for item in plan.having)


def _having_text(item: Having) -> str:
    values = [value_text(value) for value in item.values]
    return f"is from {values[0]} to {values[1]}" if item.op is Op.BETWEEN else f"{_WORDS[item.op]} {values[0]}"
