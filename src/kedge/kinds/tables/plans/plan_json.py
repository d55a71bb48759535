"""Plans in and out of JSON, checked against the table: the port where a language model may propose one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import TypeVar, cast

from kedge.core.errors import PlanError
from kedge.core.values import Json
from kedge.kinds.tables.plans.plan import (
    Arithmetic,
    DatePart,
    Filter,
    Func,
    Group,
    Having,
    Measure,
    Op,
    Order,
    Scalar,
    Side,
    TablePlan,
    Task,
)
from kedge.kinds.tables.schema import Column, ColumnType, Table

MOST_VALUES = 1000
MOST_PARTS = 50
MOST_ROWS = 10_000
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_COUNT_OF_VALUES = {Op.EMPTY: (0, 0), Op.FILLED: (0, 0), Op.BETWEEN: (2, 2)} | dict.fromkeys(
    (Op.IN, Op.NOT_IN), (1, MOST_VALUES)
)
_ORDERING = (Op.LESS, Op.AT_MOST, Op.MORE, Op.AT_LEAST, Op.BETWEEN)
Choice = TypeVar("Choice", bound=StrEnum)


def plan_to_json(plan: TablePlan) -> dict[str, Json]:
    """A plan as JSON that `plan_from_json` reads back to an equal plan; what is at its default is left out."""
    out: dict[str, Json] = {"task": plan.task.value}
    if plan.filters:
        out["filters"] = [_filter_out(item) for item in plan.filters]
    out["measures"] = [_bare(item, "func column arithmetic other per inner per_part") for item in plan.measures]
    if plan.groups:
        out["groups"] = [_bare(item, "column part") for item in plan.groups]
    if plan.having:
        out["having"] = [{"op": item.op.value, "values": list(item.values)} for item in plan.having]
    if plan.order:
        out["order"] = _bare(plan.order, "column descending")
    if plan.limit is not None:
        out["limit"] = plan.limit
    if plan.tally:
        out["tally"] = True
    if plan.columns:
        out["columns"] = list(plan.columns)
    if plan.distinct:
        out["distinct"] = True
    if plan.sides:
        out["sides"] = [
            {"label": side.label, "filters": [_filter_out(item) for item in side.filters]} for side in plan.sides
        ]
    if plan.part:
        out["part"] = [_filter_out(item) for item in plan.part]
    return out


def _bare(item: object, names: str) -> dict[str, Json]:
    values = {name: getattr(item, name) for name in names.split()}
    return {name: value for name, value in values.items() if value is not None}


def _filter_out(item: Filter) -> dict[str, Json]:
    values: list[Json] = [value.isoformat() if isinstance(value, date) else value for value in item.values]
    return {"op": item.op.value, "values": values} | _bare(item, "column part")


def plan_from_json(value: Json, table: Table) -> TablePlan:
    """Read a plan and check it against the table. A column may be named by its field or, if no two share it, its name.

    Raises PlanError, which says what is wrong and what would be right.
    """
    reader = _Reader(table)
    raw = reader.mapping(value, "the plan")
    known = "task filters measures groups having order limit tally columns distinct sides part".split()
    reader.only(raw, known, "the plan")
    plan = TablePlan(
        task=reader.choice(Task, raw.get("task", "aggregate"), "task"),
        filters=reader.filters(raw.get("filters", []), "filters"),
        measures=tuple(
            reader.measure(item) for item in reader.items(raw.get("measures", [{"func": "count"}]), "measures")
        ),
        groups=tuple(reader.group(item) for item in reader.items(raw.get("groups", []), "groups")),
        having=tuple(reader.having(item) for item in reader.items(raw.get("having", []), "having")),
        order=reader.order(raw.get("order")),
        limit=reader.limit(raw.get("limit")),
        tally=raw.get("tally", False) is True,
        columns=tuple(reader.column(item, "columns").field for item in reader.items(raw.get("columns", []), "columns")),
        distinct=raw.get("distinct", False) is True,
        sides=tuple(reader.side(item) for item in reader.items(raw.get("sides", []), "sides")),
        part=reader.filters(raw.get("part", []), "part"),
    )
    check_plan(plan, table)
    return plan


def check_plan(plan: TablePlan, table: Table) -> None:
    """That the parts of a plan fit each other and the table. Raises PlanError."""
    reader = _Reader(table)
    for item in (*plan.filters, *plan.part, *(inner for side in plan.sides for inner in side.filters)):
        reader.check_filter(item)
    for measure in plan.measures:
        reader.check_measure(measure)
    for group in plan.groups:
        column = reader.column(group.column, "groups")
        if group.part and not column.type.dated:
            raise PlanError(f"Column {column.name!r} holds no dates, so it has no {group.part.value}.")
    for field in plan.columns:
        reader.column(field, "columns")
    groups = {group.column for group in plan.groups}
    if plan.order and plan.order.column and plan.task is not Task.LIST and plan.order.column not in groups:
        raise PlanError("The order names a column that is no group.", hint="Order by a group, or leave `column` out.")
    if not plan.measures and plan.task in (Task.AGGREGATE, Task.COMPARE, Task.SHARE):
        raise PlanError("The plan computes nothing.", hint='Give at least one measure, such as {"func": "count"}.')
    if plan.task is Task.COMPARE and len(plan.sides) < 2:
        raise PlanError("A comparison needs two sides.", hint="Give `sides` with a label and filters each.")
    if plan.tally and (plan.task is not Task.AGGREGATE or not plan.groups or plan.limit is not None):
        raise PlanError("Only the groups of a plain computation can be counted.", hint="Leave `tally` or `limit` out.")
    if plan.task is Task.SHARE and not plan.part and not plan.groups:
        raise PlanError("A share needs its part.", hint="Give filters as `part`, or `groups`.")
    if any(measure.per for measure in plan.measures) and (len(plan.measures) > 1 or plan.task is Task.SHARE):
        raise PlanError("A figure per entity stands alone in its plan.")


class _Reader:
    def __init__(self, table: Table) -> None:
        self._table = table
        self._fields = {column.field: column for column in table.columns}
        names: dict[str, list[Column]] = {}
        for column in table.columns:
            names.setdefault(column.name, []).append(column)
        self._names = {name: columns[0] for name, columns in names.items() if len(columns) == 1}

    def mapping(self, value: Json, where: str) -> Mapping[str, Json]:
        if not isinstance(value, Mapping):
            raise PlanError(f"{where} must be an object, not {type(value).__name__}.")
        return cast("Mapping[str, Json]", value)

    def only(self, raw: Mapping[str, Json], known: Sequence[str], where: str) -> None:
        if unknown := sorted(set(raw) - set(known)):
            raise PlanError(f"Unknown in {where}: {', '.join(map(repr, unknown))}.", hint=f"Known: {', '.join(known)}.")

    def items(self, value: Json, where: str) -> Sequence[Json]:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise PlanError(f"{where} must be a list.")
        if len(value) > MOST_PARTS:
            raise PlanError(f"{where} has {len(value)} entries; {MOST_PARTS} is the most.")
        return cast("Sequence[Json]", value)

    def choice(self, kind: type[Choice], value: Json, where: str) -> Choice:
        for member in kind:
            if member.value == value:
                return member
        raise PlanError(f"{where} cannot be {value!r}.", hint=f"One of: {', '.join(member.value for member in kind)}.")

    def column(self, value: Json, where: str) -> Column:
        if isinstance(value, str):
            if value in self._fields:
                return self._fields[value]
            if value in self._names:
                return self._names[value]
        some = ", ".join(repr(column.name) for column in self._table.columns[:20])
        raise PlanError(
            f"{where} names the column {value!r}, which the table has not (or twice).", hint=f"Columns: {some}."
        )

    def filters(self, value: Json, where: str) -> tuple[Filter, ...]:
        return tuple(self.filter(item, where) for item in self.items(value, where))

    def filter(self, value: Json, where: str) -> Filter:
        raw = self.mapping(value, where)
        self.only(raw, ("column", "op", "values", "part"), where)
        column = self.column(raw.get("column"), where)
        part = self.choice(DatePart, raw["part"], "part") if raw.get("part") is not None else None
        values = raw.get("values", [])
        if not isinstance(values, list):
            raise PlanError(f"The values of a filter on {column.name!r} must be a list.")
        return Filter(
            column.field,
            self.choice(Op, raw.get("op", "="), "op"),
            tuple(_scalar(item, column, part) for item in values),
            part,
        )

    def measure(self, value: Json) -> Measure:
        raw = self.mapping(value, "measures")
        self.only(raw, ("func", "column", "arithmetic", "other", "per", "inner", "per_part"), "measures")
        names = {
            key: self.column(raw[key], key).field for key in ("column", "other", "per") if raw.get(key) is not None
        }
        return Measure(
            self.choice(Func, raw.get("func"), "func"),
            names.get("column"),
            self.choice(Arithmetic, raw["arithmetic"], "arithmetic") if raw.get("arithmetic") is not None else None,
            names.get("other"),
            names.get("per"),
            self.choice(Func, raw["inner"], "inner") if raw.get("inner") is not None else None,
            self.choice(DatePart, raw["per_part"], "per_part") if raw.get("per_part") is not None else None,
        )

    def group(self, value: Json) -> Group:
        raw = self.mapping({"column": value} if isinstance(value, str) else value, "groups")
        self.only(raw, ("column", "part"), "groups")
        part = self.choice(DatePart, raw["part"], "part") if raw.get("part") is not None else None
        return Group(self.column(raw.get("column"), "groups").field, part)

    def having(self, value: Json) -> Having:
        raw = self.mapping(value, "having")
        self.only(raw, ("op", "values"), "having")
        op = self.choice(Op, raw.get("op"), "op")
        values = raw.get("values", [])
        if op not in (*_ORDERING, Op.IS, Op.NOT) or not isinstance(values, list):
            raise PlanError(
                "`having` compares the first measure with numbers.", hint='For example {"op": ">", "values": [5]}.'
            )
        if len(values) != (2 if op is Op.BETWEEN else 1):
            raise PlanError(f"`having` with {op.value!r} has {len(values)} values.")
        return Having(op, tuple(_number(item, "having") for item in values))

    def order(self, value: Json) -> Order | None:
        if value is None:
            return None
        raw = self.mapping(value, "order")
        self.only(raw, ("column", "descending"), "order")
        column = self.column(raw["column"], "order").field if raw.get("column") is not None else None
        return Order(column, raw.get("descending", True) is True)

    def limit(self, value: Json) -> int | None:
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_ROWS:
            raise PlanError(f"limit must be a whole number from 1 to {MOST_ROWS}, not {value!r}.")
        return value

    def side(self, value: Json) -> Side:
        raw = self.mapping(value, "sides")
        self.only(raw, ("label", "filters"), "sides")
        return Side(str(raw.get("label", "")), self.filters(raw.get("filters", []), "sides"))

    def check_filter(self, item: Filter) -> None:
        column = self.column(item.column, "filters")
        fewest, most = _COUNT_OF_VALUES.get(item.op, (1, 1))
        if not fewest <= len(item.values) <= most:
            raise PlanError(f"A filter with {item.op.value!r} on {column.name!r} has {len(item.values)} values.")
        if item.part and not column.type.dated:
            raise PlanError(f"Column {column.name!r} holds no dates, so it has no {item.part.value}.")
        if item.op in _ORDERING and not (column.type.compared or column.type.dated):
            raise PlanError(
                f"Column {column.name!r} is {column.type.value}: it cannot be compared with {item.op.value!r}."
            )
        if item.op is Op.CONTAINS and (column.type.compared or column.type.dated or column.type is ColumnType.BOOLEAN):
            raise PlanError(f"Column {column.name!r} is {column.type.value}: it contains no text.")

    def check_measure(self, measure: Measure) -> None:
        for field in (measure.column, measure.other):
            if field is None:
                continue
            column = self.column(field, "measures")
            computed = measure.arithmetic is not None
            numeric = measure.func in (Func.SUM, Func.AVERAGE, Func.MEDIAN) or measure.inner in (Func.SUM, Func.AVERAGE)
            if (
                computed or (numeric and measure.inner not in (Func.COUNT, Func.DISTINCT))
            ) and not column.type.measured:
                raise PlanError(
                    f"Column {column.name!r} is {column.type.value}: no {measure.func.value} can be computed of it.",
                    hint="Numbers: " + ", ".join(repr(c.name) for c in self._table.columns if c.type.measured)[:400],
                )
            if (measure.inner or measure.func) is Func.SUM and not computed and not column.added:
                raise PlanError(
                    f"Column {column.name!r} holds years, parts of a date, places or ranks: their sum means nothing.",
                    hint="Count the rows, or ask for the least, the most or the average.",
                )
        if measure.per_part and not (measure.per and self.column(measure.per, "per").type.dated):
            raise PlanError("`per_part` needs a column of dates in `per`.")
        if measure.column is None and (measure.inner or measure.func) is not Func.COUNT:
            raise PlanError(f"{measure.func.value!r} needs a column.")
        if (measure.arithmetic is None) != (measure.other is None) or (measure.per is None) != (measure.inner is None):
            raise PlanError("`arithmetic` goes with `other`, and `per` with `inner`.")


def _scalar(value: Json, column: Column, part: DatePart | None) -> Scalar:
    if part is not None or column.type.compared:
        return _number(value, repr(column.name))
    if column.type is ColumnType.BOOLEAN:
        if not isinstance(value, bool):
            raise PlanError(f"Column {column.name!r} holds true and false, not {value!r}.")
        return value
    if column.type.dated:
        try:
            text = str(value)
            return date.fromisoformat(text) if _DAY.fullmatch(text) else datetime.fromisoformat(text)
        except ValueError as error:
            raise PlanError(f"{value!r} is no date for column {column.name!r}.", hint="Write 2017-03-31.") from error
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise PlanError(f"{value!r} is no value for column {column.name!r}.")
    return str(value)


def _number(value: Json, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or math.isnan(value):
        raise PlanError(f"{where} needs a number, not {value!r}.")
    return value
