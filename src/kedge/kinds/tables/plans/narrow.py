"""Filters of a request as filters of a plan, so that exact answers keep to them too."""

from __future__ import annotations

from kedge.core.values.filters import And, Eq, Filter, In, Not, Range, fields
from kedge.kinds.tables.finding.where import column_named
from kedge.kinds.tables.plans.plan import Filter as PlanFilter
from kedge.kinds.tables.plans.plan import Op, Scalar
from kedge.kinds.tables.schema import ROW, Table


def plan_filters(where: Filter | None, table: Table) -> tuple[PlanFilter, ...] | None:
    """The same conditions, or None where a plan cannot say them. FilterError for an unknown column."""
    if where is None:
        return ()
    if ROW in fields(where):
        return None
    parts = where.parts if isinstance(where, And) else (where,)
    made = [_one(part, table) for part in parts]
    return None if None in made else tuple(one for part in made for one in part or ())


def _one(where: Filter, table: Table) -> tuple[PlanFilter, ...] | None:
    def made(name: str, op: Op, *values: Scalar) -> tuple[PlanFilter, ...]:
        return (PlanFilter(column_named(name, table).field, op, values),)

    match where:
        case Eq(name, value):
            return made(name, Op.EMPTY) if value is None else made(name, Op.IS, value)
        case In(name, values):
            return made(name, Op.IN, *values)
        case Not(Eq(name, value)):
            return made(name, Op.FILLED) if value is None else made(name, Op.NOT, value)
        case Not(In(name, values)):
            return made(name, Op.NOT_IN, *values)
        case Range(name):
            bounds = ((Op.AT_LEAST, where.gte), (Op.AT_MOST, where.lte), (Op.MORE, where.gt), (Op.LESS, where.lt))
            return tuple(one for op, value in bounds if value is not None for one in made(name, op, value))
    return None
