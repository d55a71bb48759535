"""How payloads and filters look inside Qdrant's engine, so that filters mean exactly what `evaluate()` says.

The same form is used in the process (`edge`) and on a server (`qdrant`); only the words of conditions differ, see
`FilterDialect`.

- Field names are always quoted in paths; `%`, `"` and the name `text` are escaped, so `%tenant` and `text` can be no
  user's fields.
- Numbers are matched by ranges, so 1 and 1.0 are equal. The binding takes `True` for 1 in a match, so booleans are
  stored as marked strings. What no filter can match (objects, nested lists, NaN) is stored as a bare mark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from kedge.core.values import Json
from kedge.core.values.filters import And, Eq, Filter, In, Not, Or, Range, Scalar
from kedge.stores.vectors.rules import double

DENSE = "dense"
"""Name of a point's embedding."""
TERMS = "terms"
"""Name of a point's BM25 terms, a sparse vector."""
TENANT = "%tenant"
TEXT = "text"
"""Where the text stands, for people and other programs; no filter leads there (C-14)."""
Joined: TypeAlias = Literal["must", "should", "must_not"]
"""All, any or none of the conditions."""
_MARK = "\x01"
_EXACT = 1 << 53
"""Integers up to here are exact as doubles."""
_WORD = 1 << 63


def field_name(name: str) -> str:
    """A payload field as stored."""
    return "%74ext" if name == TEXT else name.replace("%", "%25").replace('"', "%22").replace("\\", "%5C")


def field_path(name: str) -> str:
    """The path that leads to the field in conditions and indexes."""
    return f'"{field_name(name)}"'


def payload_of(tenant: str, payload: Mapping[str, Json], text: str) -> dict[str, Any]:
    """The payload as stored, with the text beside it."""
    stored: dict[str, Any] = {field_name(name): _stored(value) for name, value in payload.items()}
    stored[TENANT] = tenant
    stored[TEXT] = text
    return stored


class FilterDialect(Protocol):
    """The words that conditions are made of."""

    def group(self, joined: Joined, conditions: Sequence[Any]) -> Any:
        """All, any or none of the conditions."""

    def all_and_one_of(self, every: Sequence[Any], some: Sequence[Any]) -> Any:
        """All of the first, and any of the others, in one group: engines take longer for a group in a group."""

    def nothing(self) -> Any:
        """What no point meets."""

    def tenant(self, tenant: str) -> Any:
        """The point is of this tenant."""

    def among(self, path: str, texts: Sequence[str]) -> Any:
        """The field is one of the texts."""

    def whole(self, path: str, number: int) -> Any:
        """The field is this integer of 64 bits."""

    def between(self, path: str, bounds: Mapping[str, float]) -> Any:
        """The field is a number within gte, gt, lte, lt."""

    def missing(self, path: str) -> Sequence[Any]:
        """The field is not there or empty; the field is null or holds a null."""


def compiled(words: FilterDialect, tenant: str, where: Filter | None) -> Any:
    """The filter for `where` within one tenant."""
    own = words.tenant(tenant)
    if where is None:
        return words.group("must", [own])
    made = _Compiler(words)
    if isinstance(where, Or) and where.parts:
        return words.all_and_one_of([own], made.some(where.parts))
    return words.group("must", [own, made.condition(where)])


def _stored(value: Json) -> Any:
    if isinstance(value, list):
        return [_MARK if isinstance(item, (list, dict)) else _stored(item) for item in value]
    if isinstance(value, bool):
        return _text(value)
    if isinstance(value, (int, float)):
        return _MARK if math.isnan(value) else _number(value)
    if isinstance(value, dict):
        return _MARK
    return value if value is None else _text(value)


def _text(value: str | bool) -> str:
    if isinstance(value, bool):
        return f"{_MARK}{value}"
    return f"{_MARK}{value}" if value.startswith(_MARK) else value


def _number(value: int | float) -> int | float:
    """Whole numbers of 64 bits as integers, all others as doubles; infinity is the largest double."""
    if isinstance(value, int) and -_WORD <= value < _WORD:
        return value
    held = double(value)
    return int(held) if held.is_integer() and -_WORD <= held < _WORD else held


class _Compiler:
    """From the filter's tree to conditions."""

    def __init__(self, words: FilterDialect) -> None:
        self._words = words

    def some(self, parts: Sequence[Filter]) -> list[Any]:
        """What one of is enough."""
        found: list[Any] = []
        for part in parts:
            if isinstance(part, Eq) and part.value is None:
                found += self._words.missing(field_path(part.field))
            else:
                found.append(self.condition(part))
        return found

    def condition(self, where: Filter) -> Any:
        match where:
            case Eq(field, value):
                return self._equal(field_path(field), value)
            case In(field, values):
                return self._any(self._one_of(field_path(field), values))
            case Range():
                return self._between(where)
            case And(parts):
                return self._words.group("must", [self.condition(part) for part in parts])
            case Or(parts):
                return self._any([self.condition(part) for part in parts])
            case Not(part):
                return self._words.group("must_not", [self.condition(part)])

    def _any(self, conditions: Sequence[Any]) -> Any:
        return self._words.group("should", conditions) if conditions else self._words.nothing()

    def _one_of(self, path: str, values: Sequence[Scalar]) -> list[Any]:
        texts = [_text(value) for value in values if isinstance(value, (str, bool))]
        others = [self._equal(path, value) for value in values if not isinstance(value, (str, bool))]
        return [self._words.among(path, texts), *others] if texts else others

    def _equal(self, path: str, value: Scalar) -> Any:
        if value is None:
            return self._words.group("should", self._words.missing(path))
        if isinstance(value, (str, bool)):
            return self._words.among(path, [_text(value)])
        if math.isnan(value):
            return self._words.nothing()
        return self._same_number(path, _number(value))

    def _same_number(self, path: str, number: int | float) -> Any:
        near = self._words.between(path, {"gte": float(number), "lte": float(number)})
        if isinstance(number, float) or abs(number) <= _EXACT:
            return near
        return self._words.group("must", [near, self._words.whole(path, number)])

    def _between(self, where: Range) -> Any:
        bounds = {name: getattr(where, name) for name in ("gte", "lte", "gt", "lt")}
        given = {name: double(bound) for name, bound in bounds.items() if bound is not None}
        if any(math.isnan(bound) for bound in given.values()):
            return self._words.nothing()
        return self._words.between(field_path(where.field), given)
