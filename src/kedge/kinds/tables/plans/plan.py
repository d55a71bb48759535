"""A question over a table as data: what is kept, what is computed, how it is ordered. Frozen, and never any SQL.

Columns are named by their field (`c0`, `c1`, …). `plan_json` reads and checks plans that come from outside,
`plan_text` words them, `execute` runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

Scalar = str | int | float | bool | date | datetime


class Task(StrEnum):
    """What kind of answer is wanted."""

    AGGREGATE = "aggregate"
    """One figure, or one per group."""
    LIST = "list"
    """Rows, or the different values of some columns."""
    COMPARE = "compare"
    """The same figure for two or more sides, and how they differ."""
    SHARE = "share"
    """The part of a total, in percent."""
    DESCRIBE = "describe"
    """The columns of the table."""


class Op(StrEnum):
    """How a filter compares."""

    IS = "="
    NOT = "!="
    IN = "in"
    NOT_IN = "not in"
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    BETWEEN = "between"
    """Both ends belong to it; of dates, the whole last day."""
    CONTAINS = "contains"
    EMPTY = "empty"
    FILLED = "not empty"


class DatePart(StrEnum):
    """A part of a date: the first five cut it (2017-03), the others recur every year, week or day."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    WEEK = "week"
    DAY = "day"
    QUARTER_OF_YEAR = "quarter of the year"
    MONTH_OF_YEAR = "month of the year"
    WEEKDAY = "weekday"
    """1 for Monday … 7 for Sunday."""
    HOUR = "hour"


CUTS = (DatePart.YEAR, DatePart.QUARTER, DatePart.MONTH, DatePart.WEEK, DatePart.DAY)


class Func(StrEnum):
    """How many values become one."""

    COUNT = "count"
    """Of rows, or of filled cells when a column is given."""
    DISTINCT = "count distinct"
    SUM = "sum"
    AVERAGE = "average"
    MIN = "min"
    MAX = "max"
    MEDIAN = "median"


class Arithmetic(StrEnum):
    """Between two columns of a row, before anything is added up."""

    TIMES = "*"
    MINUS = "-"
    PLUS = "+"
    OVER = "/"


@dataclass(frozen=True, slots=True)
class Filter:
    """Rows that are kept. Several values of `in` are joined by or; several filters by and."""

    column: str
    op: Op
    values: tuple[Scalar, ...] = ()
    part: DatePart | None = None
    """Compare this part of a date instead of the date."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure over the rows that are kept."""

    func: Func
    column: str | None = None
    arithmetic: Arithmetic | None = None
    other: str | None = None
    """Second column of the arithmetic."""
    per: str | None = None
    """Compute `inner` for each value of this column first, then `func` over those figures."""
    inner: Func | None = None
    per_part: DatePart | None = None
    """With `per` a date column: for each month, day …"""


@dataclass(frozen=True, slots=True)
class Group:
    """One figure for each value of a column, or of a part of a date."""

    column: str
    part: DatePart | None = None


@dataclass(frozen=True, slots=True)
class Having:
    """Groups that are kept, by the plan's first measure."""

    op: Op
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """Order by the first measure (`column` is None), by a group or, in a list, by a column."""

    column: str | None = None
    descending: bool = True


@dataclass(frozen=True, slots=True)
class Side:
    """One of the things compared: rows that pass these filters and the plan's own."""

    label: str
    filters: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """What to compute. The default is the number of rows."""

    task: Task = Task.AGGREGATE
    filters: tuple[Filter, ...] = ()
    measures: tuple[Measure, ...] = (Measure(Func.COUNT),)
    groups: tuple[Group, ...] = ()
    having: tuple[Having, ...] = ()
    order: Order | None = None
    limit: int | None = None
    """Most groups or rows; with limit 1 all that tie for the first place are given."""
    tally: bool = False
    """Give the number of groups instead of the groups: how many customers have more than 5 orders."""
    columns: tuple[str, ...] = ()
    """What a list shows; empty for all."""
    distinct: bool = False
    """A list of different values instead of rows."""
    sides: tuple[Side, ...] = ()
    """Of a comparison, in the order in which they are subtracted: last against first."""
    part: tuple[Filter, ...] = ()
    """Of a share: which rows are the part; empty with groups for every group's share."""


def used(plan: TablePlan) -> Sequence[str]:
    """Fields of all columns that the plan touches, each once."""
    fields: list[str | None] = [item.column for item in (*plan.filters, *plan.part)]
    fields += [group.column for group in plan.groups]
    for side in plan.sides:
        fields += [item.column for item in side.filters]
    for measure in plan.measures:
        fields += [measure.column, measure.other, measure.per]
    fields += [*plan.columns, plan.order.column if plan.order else None]
    return tuple(dict.fromkeys(field for field in fields if field))
