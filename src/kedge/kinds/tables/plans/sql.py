"""From a plan to one SELECT, made of our own names alone (`c0`, the relation, `row_number`); every value is bound."""

# ruff: noqa: S608 - no text from outside reaches a statement: names pass `_safe`, values are bound.

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from kedge.core.errors import PlanError
from kedge.kinds.tables.plans.plan import CUTS, DatePart, Filter, Func, Group, Measure, Op, Scalar, TablePlan, Task
from kedge.kinds.tables.schema import ROW, ColumnType, Table

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_FUNCS = {
    Func.COUNT: "count({})",
    Func.DISTINCT: "count(DISTINCT {})",
    Func.SUM: "sum({})",
    Func.AVERAGE: "avg({})",
    Func.MIN: "min({})",
    Func.MAX: "max({})",
    Func.MEDIAN: "median({})",
}
_PARTS = {
    DatePart.QUARTER_OF_YEAR: "quarter({})",
    DatePart.MONTH_OF_YEAR: "month({})",
    DatePart.WEEKDAY: "isodow({})",
    DatePart.HOUR: "hour({})",
}
_COMPARED = {Op.IS: "=", Op.NOT: "<>", Op.LESS: "<", Op.AT_MOST: "<=", Op.MORE: ">", Op.AT_LEAST: ">="}
SAMPLES = 5


@dataclass(slots=True)
class SqlStatement:
    """SQL with a `?` for every value, and the values in their order."""

    text: str
    values: list[Scalar] = field(default_factory=list)


class PlanSql:
    """Writes the statements of one plan over one table."""

    def __init__(self, table: Table) -> None:
        self._types = {column.field: column.type for column in table.columns}
        self._relation = _safe(table.relation)

    def statement(self, plan: TablePlan, rows: int) -> SqlStatement:
        """The plan's SELECT, which gives at most `rows` rows."""
        if plan.task is Task.LIST:
            return self._list(plan, rows)
        if plan.task is Task.COMPARE:
            return self._compare(plan)
        if plan.task is Task.SHARE and plan.part:
            return self._share(plan)
        return self._aggregate(plan, rows)

    def facts(self, plan: TablePlan) -> SqlStatement:
        """How many rows counted, how many of them have no value in the measured column, and the first few."""
        out = SqlStatement("")
        where = self._where(plan.filters, out)
        if plan.task is Task.COMPARE:
            sides = [f"({self._all(side.filters, out)})" for side in plan.sides if side.filters]
            if len(sides) == len(plan.sides):
                where += (" AND " if where else " WHERE ") + f"({' OR '.join(sides)})"
        if plan.task is Task.SHARE and plan.part:
            where += (" AND " if where else " WHERE ") + self._all(plan.part, out)
        measured = plan.measures[0] if plan.measures and plan.task is not Task.LIST else Measure(Func.COUNT)
        cell = self._expression(measured) if measured.column else "1"
        out.text = f"SELECT count(*), count(*) - count({cell}), min({ROW}, {SAMPLES}) FROM {self._relation}{where}"
        return out

    def _aggregate(self, plan: TablePlan, rows: int) -> SqlStatement:
        out = SqlStatement("")
        keys = [self._key(group) for group in plan.groups]
        names = [f"g{number}" for number in range(len(keys))]
        nested = next((measure for measure in plan.measures if measure.per), None)
        source = f"{self._relation}{self._where(plan.filters, out)}"
        if nested is not None:
            inner = _FUNCS[nested.inner or Func.COUNT].format(self._expression(nested) if nested.column else "*")
            per = self._key(Group(nested.per or "", nested.per_part))
            heads = [f"{key} AS {name}" for key, name in zip(keys, names, strict=True)]
            group_by = ", ".join([*(str(number + 1) for number in range(len(keys))), per])
            kept = (" AND " if plan.filters else " WHERE ") + f"{per} IS NOT NULL"
            source = f"(SELECT {', '.join([*heads, f'{inner} AS v'])} FROM {source}{kept} GROUP BY {group_by})"
            keys = list(names)
            figures = [f"{_FUNCS[nested.func].format('v')} AS m0"]
        else:
            figures = [f"{self._figure(measure)} AS m{number}" for number, measure in enumerate(plan.measures)]
        heads = [f"{key} AS {name}" for key, name in zip(keys, names, strict=True)]
        text = f"SELECT {', '.join([*heads, *figures])} FROM {source}"
        if keys:
            text += f" GROUP BY {', '.join(str(number + 1) for number in range(len(keys)))}"
        if plan.task is Task.SHARE:
            text = f"SELECT *, 100.0 * m0 / nullif(sum(m0) OVER (), 0) AS share FROM ({text})"
        having = [self._having(item.op, item.values, out) for item in plan.having]
        if plan.limit is not None and plan.order:
            # What has no value of the entity asked for is no answer to "which".
            having += [f"{name} IS NOT NULL" for name in names] + ["m0 IS NOT NULL"]
        if having and plan.task is Task.SHARE:
            text = f"SELECT * FROM ({text}) WHERE {' AND '.join(having)}"
        elif having and keys:
            text += f" HAVING {' AND '.join(having)}"
        if plan.tally:
            kept = " AND ".join(f"{name} IS NOT NULL" for name in names)
            out.text = f"SELECT count(*) FROM ({text}) WHERE {kept}"
            return out
        return self._ordered(text, plan, names, rows, out)

    def _ordered(self, text: str, plan: TablePlan, names: Sequence[str], rows: int, out: SqlStatement) -> SqlStatement:
        order = plan.order
        terms = list(names)
        if order:
            by = "m0"
            if order.column:
                by = next(name for group, name in zip(plan.groups, names, strict=True) if group.column == order.column)
            way = "DESC NULLS LAST" if order.descending else "ASC NULLS LAST"
            if plan.limit == 1 and names:
                ranked = f"SELECT *, rank() OVER (ORDER BY {by} {way}) AS place FROM ({text})"
                text = f"SELECT * EXCLUDE (place) FROM ({ranked}) WHERE place = 1"
            terms = [f"{by} {way}", *names]
        if terms:
            text += f" ORDER BY {', '.join(terms)}"
        limit = min(plan.limit, rows) if plan.limit is not None and not (plan.limit == 1 and order) else rows
        out.text = f"{text} LIMIT ?"
        out.values.append(limit)
        return out

    def _list(self, plan: TablePlan, rows: int) -> SqlStatement:
        out = SqlStatement("")
        fields = [self._field(name) for name in plan.columns or tuple(self._types)]
        head = f"DISTINCT {', '.join(fields)}" if plan.distinct else ", ".join([ROW, *fields])
        text = f"SELECT {head} FROM {self._relation}{self._where(plan.filters, out)}"
        if plan.distinct:
            text = f"SELECT * FROM ({text}) WHERE {' OR '.join(f'{name} IS NOT NULL' for name in fields)}"
        terms = list(fields) if plan.distinct else [ROW]
        limit = plan.limit or rows
        if plan.order and plan.order.column:
            by = f"{self._field(plan.order.column)} {'DESC' if plan.order.descending else 'ASC'} NULLS LAST"
            terms.insert(0, by)
            if plan.limit == 1 and not plan.distinct:
                text += f" QUALIFY rank() OVER (ORDER BY {by}) = 1"
                limit = rows
        out.text = f"{text} ORDER BY {', '.join(terms)} LIMIT ?"
        out.values.append(min(limit, rows))
        return out

    def _compare(self, plan: TablePlan) -> SqlStatement:
        out = SqlStatement("")
        selects = []
        for number, side in enumerate(plan.sides):
            both = TablePlan(filters=(*plan.filters, *side.filters), measures=plan.measures)
            inner = self._aggregate(both, 1)
            selects.append(f"SELECT {number} AS side, * FROM ({inner.text})")
            out.values += inner.values
        out.text = " UNION ALL ".join(selects) + " ORDER BY side"
        return out

    def _share(self, plan: TablePlan) -> SqlStatement:
        out = SqlStatement("")
        measure = self._figure(plan.measures[0])
        part = f"{measure} FILTER (WHERE {self._all(plan.part, out)})"
        keys = [self._key(group) for group in plan.groups]
        heads = [f"{key} AS g{number}" for number, key in enumerate(keys)]
        text = f"SELECT {', '.join([*heads, f'{part} AS m0', f'{measure} AS m1'])} FROM {self._relation}"
        text += self._where(plan.filters, out)
        if keys:
            text += f" GROUP BY {', '.join(str(number + 1) for number in range(len(keys)))}"
        out.text = f"SELECT *, 100.0 * m0 / nullif(m1, 0) AS share FROM ({text}) ORDER BY ALL LIMIT ?"
        out.values.append(10_000)
        return out

    def _figure(self, measure: Measure) -> str:
        if measure.column is None:
            return "count(*)"
        return _FUNCS[measure.func].format(self._expression(measure))

    def _expression(self, measure: Measure) -> str:
        cell = self._field(measure.column or "")
        if measure.arithmetic and measure.other:
            other = self._field(measure.other)
            if measure.arithmetic.value == "/":
                other = f"nullif({other}, 0)"
            return f"({cell} {measure.arithmetic.value} {other})"
        return cell

    def _key(self, group: Group) -> str:
        cell = self._field(group.column)
        if group.part is None:
            return cell
        return (
            f"CAST(date_trunc('{group.part.value}', {cell}) AS DATE)"
            if group.part in CUTS
            else _PARTS[group.part].format(cell)
        )

    def _having(self, op: Op, values: Sequence[float], out: SqlStatement) -> str:
        out.values += values
        return "m0 BETWEEN ? AND ?" if op is Op.BETWEEN else f"m0 {_COMPARED[op]} ?"

    def _where(self, filters: Sequence[Filter], out: SqlStatement) -> str:
        return f" WHERE {self._all(filters, out)}" if filters else ""

    def _all(self, filters: Sequence[Filter], out: SqlStatement) -> str:
        return " AND ".join(self._condition(item, out) for item in filters) or "true"

    def _condition(self, item: Filter, out: SqlStatement) -> str:
        cell, kind = self._field(item.column), self._types[item.column]
        if item.op in (Op.EMPTY, Op.FILLED):
            blank = f"({cell} IS NULL OR trim({cell}) = '')" if kind.worded else f"{cell} IS NULL"
            return blank if item.op is Op.EMPTY else f"NOT {blank}"
        if item.part is not None:
            cell = f"{item.part.value}({cell})" if item.part is DatePart.YEAR else self._part(cell, item.part)
        elif kind.dated:
            return self._dated(cell, item, out)
        elif not kind.compared and kind is not ColumnType.BOOLEAN:
            cell = f"CAST({cell} AS VARCHAR)"
        if item.op is Op.CONTAINS:
            out.values.append(str(item.values[0]))
            return f"contains(lower({cell}), lower(?))"
        out.values += item.values
        if item.op is Op.BETWEEN:
            return f"{cell} BETWEEN ? AND ?"
        if item.op in (Op.IN, Op.NOT_IN):
            return f"{cell} {'NOT IN' if item.op is Op.NOT_IN else 'IN'} ({', '.join('?' * len(item.values))})"
        return f"{cell} {_COMPARED[item.op]} ?"

    def _part(self, cell: str, part: DatePart) -> str:
        return f"{part.value}({cell})" if part in CUTS else _PARTS[part].format(cell)

    def _dated(self, cell: str, item: Filter, out: SqlStatement) -> str:
        """Days are whole days, also in a column with clock times."""
        if item.op in (Op.IN, Op.NOT_IN):
            days = " OR ".join(self._dated(cell, Filter(item.column, Op.IS, (value,)), out) for value in item.values)
            return f"NOT ({days})" if item.op is Op.NOT_IN else f"({days})"
        first, last = item.values[0], item.values[-1]
        if item.op is Op.BETWEEN or (item.op in (Op.IS, Op.NOT) and _is_day(first)):
            out.values += [first, _after(last)]
            ends = f"{cell} >= ? AND {cell} {'<' if _is_day(last) else '<='} ?"
            return f"NOT ({ends})" if item.op is Op.NOT else f"({ends})"
        if _is_day(first) and item.op in (Op.AT_MOST, Op.MORE):
            out.values.append(_after(first))
            return f"{cell} {'<' if item.op is Op.AT_MOST else '>='} ?"
        out.values.append(first)
        return f"{cell} {_COMPARED[item.op]} ?"

    def _field(self, name: str) -> str:
        if name not in self._types:
            raise PlanError(f"The table has no column {name!r}.")
        return _safe(name)


def _safe(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise PlanError("A name inside the table store is not one of ours.", details={"name": name})
    return name


def _is_day(value: Scalar) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _after(value: Scalar) -> Scalar:
    if _is_day(value) and isinstance(value, date) and value < date.max:
        return value + timedelta(days=1)
    return value
