"""Filters as SQL over the facts. Only names that Kedge makes stand in the text; all values are bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kedge.core.values.filters import And, Eq, Filter, In, Not, Or, Range, Scalar
from kedge.stores.vectors.iris.encode import field_digest, marks, tenant_fact, value_digest
from kedge.stores.vectors.rules import double

_NEVER, _ALWAYS = "1 = 0", "1 = 1"
_OPERATORS = {"gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}


@dataclass(frozen=True, slots=True)
class SqlCondition:
    """A piece of SQL with its parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()


def condition_of(table: str, column: str, tenant: str, where: Filter | None) -> SqlCondition:
    """Rows of one tenant that pass `where`; `column` holds their ids."""
    making = _Conditions(table, column)
    own = making.having(tenant_fact(tenant))
    return own if where is None else _joined("AND", [own, making.of(where)])


@dataclass(frozen=True, slots=True)
class _Conditions:
    table: str
    column: str

    def having(self, fact: tuple[str, str]) -> SqlCondition:
        """The row has this fact."""
        return self._in("fact_field = ? AND fact_value = ?", fact)

    def of(self, where: Filter) -> SqlCondition:
        match where:
            case Eq(field, value):
                return self._missing(field) if value is None else self._one_of(field, (value,))
            case In(field, values):
                return self._one_of(field, values)
            case Range():
                return self._between(where)
            case And(parts):
                return _joined("AND", [self.of(part) for part in parts])
            case Or(parts):
                return _joined("OR", [self.of(part) for part in parts])
            case Not(part):
                inner = self.of(part)
                return SqlCondition(f"NOT ({inner.sql})", inner.parameters)

    def _in(self, test: str, parameters: Sequence[Any]) -> SqlCondition:
        return SqlCondition(
            f"{self.column} IN (SELECT doc_id FROM {self.table}Facts WHERE {test})",  # noqa: S608 (names of our own)
            tuple(parameters),
        )

    def _missing(self, field: str) -> SqlCondition:
        present = self._in("fact_field = ?", [field_digest(field)])
        absent = SqlCondition(f"NOT ({present.sql})", present.parameters)
        return _joined("OR", [absent, self.having((field_digest(field), value_digest(None)))])

    def _one_of(self, field: str, values: Sequence[Scalar]) -> SqlCondition:
        digests = [found for found in (value_digest(value) for value in values) if found != "-"]
        if not digests:
            return SqlCondition(_NEVER)
        return self._in(f"fact_field = ? AND fact_value IN ({marks(digests)})", [field_digest(field), *digests])

    def _between(self, where: Range) -> SqlCondition:
        bounds = {name: getattr(where, name) for name in _OPERATORS}
        given = {name: double(bound) for name, bound in bounds.items() if bound is not None}
        if any(math.isnan(bound) for bound in given.values()):
            return SqlCondition(_NEVER)
        tests = ["fact_field = ?", "fact_number IS NOT NULL", *(f"fact_number {_OPERATORS[name]} ?" for name in given)]
        return self._in(" AND ".join(tests), [field_digest(where.field), *given.values()])


def _joined(word: str, parts: Sequence[SqlCondition]) -> SqlCondition:
    if not parts:
        return SqlCondition(_ALWAYS if word == "AND" else _NEVER)
    text = f" {word} ".join(f"({part.sql})" for part in parts)
    return SqlCondition(text, tuple(value for part in parts for value in part.parameters))
