"""Filters as SQL conditions over the column `payload`: the text is ours, every name and value is bound.

A condition may be unknown (NULL) where a field is missing, which a WHERE takes for false; `Not` says so explicitly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from psycopg.sql import SQL, Composable, Placeholder

from kedge.core.values import Json
from kedge.core.values.filters import And, Eq, Filter, In, Not, Or, Range, Scalar
from kedge.stores.vectors.pgvector.encode import dumps, number, scalar, text

_TRUE, _FALSE = SQL("TRUE"), SQL("FALSE")
_AND, _OR = SQL(" AND "), SQL(" OR ")
_SIGNS = {"gte": SQL(">="), "lte": SQL("<="), "gt": SQL(">"), "lt": SQL("<")}
_PATHS = {"gte": "@ >= $gte", "lte": "@ <= $lte", "gt": "@ > $gt", "lt": "@ < $lt"}


class FilterCompiler:
    """Compiles filters and gathers the values to bind."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def of(self, where: Filter | None) -> Composable:  # noqa: PLR0911 (one for each kind of filter)
        """The condition that a row's payload passes the filter."""
        match where:
            case None:
                return _TRUE
            case Eq(field, value):
                return self._equal(field, value)
            case In(field, values):
                return _any([self._equal(field, value) for value in values])
            case Range():
                return self._between(where)
            case And(parts):
                return _joined(_AND, [self.of(part) for part in parts], _TRUE)
            case Or(parts):
                return _any([self.of(part) for part in parts])
            case Not(part):
                return SQL("({} IS NOT TRUE)").format(self.of(part))

    def _equal(self, field: str, value: Scalar) -> Composable:
        name = text(field)
        if value is None:
            holds = SQL("payload @> {}::jsonb").format(self._bind(dumps({name: [None]})))
            return SQL("(NOT payload ? {}::text OR {})").format(self._bind(name), holds)
        if isinstance(value, float) and math.isnan(value):
            return _FALSE
        wanted = scalar(value)
        one, listed = self._bind(dumps({name: wanted})), self._bind(dumps({name: [wanted]}))
        return SQL("(payload @> {}::jsonb OR payload @> {}::jsonb)").format(one, listed)

    def _between(self, where: Range) -> Composable:
        """The first half can use the index over numbers, the second the one over lists (`tables.index_field`)."""
        given = {name: getattr(where, name) for name in _SIGNS}
        bounds: dict[str, Json] = {name: bound for name, bound in given.items() if bound is not None}
        if any(isinstance(bound, float) and math.isnan(bound) for bound in bounds.values()):
            return _FALSE
        numbers = {name: number(bound) for name, bound in bounds.items() if isinstance(bound, (int, float))}
        field = SQL("payload -> {}::text").format(self._bind(text(where.field)))
        compared = [
            SQL("{} {} {}::jsonb").format(field, _SIGNS[name], self._bind(dumps(bound)))
            for name, bound in numbers.items()
        ]
        path = " && ".join(_PATHS[name] for name in numbers) or '@.type() == "number"'
        return SQL(
            "((jsonb_typeof({field}) = 'number' AND {compared}) OR (jsonb_typeof({field}) = 'array'"
            " AND jsonb_path_exists({field}, {path}::jsonpath, {bounds}::jsonb)))"
        ).format(
            field=field,
            compared=_joined(_AND, compared, _TRUE),
            path=self._bind(f"$[*] ? ({path})"),
            bounds=self._bind(dumps(dict(numbers))),
        )

    def _bind(self, value: object) -> Placeholder:
        name = f"w{len(self.values)}"
        self.values[name] = value
        return Placeholder(name)


def _any(parts: Sequence[Composable]) -> Composable:
    return _joined(_OR, parts, _FALSE)


def _joined(sign: SQL, parts: Sequence[Composable], empty: Composable) -> Composable:
    if not parts:
        return empty
    return SQL("({})").format(sign.join(parts))
