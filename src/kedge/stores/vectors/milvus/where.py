"""Filters as Milvus expressions that mean exactly what `evaluate()` says.

A point's payload is stored as it is (`metadata`), and for filters in two forms that have no room for confusion:

- `facets`: one hash for each (field, type, value), so `Eq` and `In` are `array_contains_any`. A field without None in
  it has a facet that says so, which answers `Eq(field, None)`.
- `numbers`: the least and the greatest number of each field. They answer every range that is open at one end, and
  every other for up to two numbers. Of longer lists that reach beyond both ends of a range they cannot tell: those
  points are the difference between `sure` and `maybe`, and the store asks `evaluate()` about them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kedge.core.values import Json
from kedge.core.values.filters import And, Eq, Filter, In, Not, Or, Range, Scalar
from kedge.stores.vectors.milvus.names import hashed
from kedge.stores.vectors.rules import double

EVERYTHING = 'id != ""'
NOTHING = 'id == ""'


@dataclass(frozen=True, slots=True)
class ServerCondition:
    """A filter on the server."""

    sure: str
    """What passes for sure."""
    maybe: str
    """What may pass; the same where numbers in lists leave no doubt."""


def facets_of(payload: Mapping[str, Json]) -> list[int]:
    """Hashes of all that `Eq` and `In` can ask about."""
    found: set[int] = set()
    for name, value in payload.items():
        items = _items(value)
        if None not in items:
            found.add(_filled(name))
        numbers = _numbers(items)
        if numbers:
            found.add(_numeric(name))
        if len(numbers) > 2:
            found.add(_many(name))
        found.update(_facet(name, item) for item in items if _can_equal(item))
    return sorted(found)


def numbers_of(payload: Mapping[str, Json]) -> dict[str, float]:
    """Least and greatest number of each field that has any."""
    found: dict[str, float] = {}
    for name, value in payload.items():
        numbers = _numbers(_items(value))
        if numbers:
            low, high = _keys(name)
            found[low], found[high] = min(numbers), max(numbers)
    return found


def compiled(where: Filter) -> ServerCondition:
    """The expressions for a filter."""
    match where:
        case Eq(field, value):
            return _plain(_equal(field, value))
        case In(field, values):
            return _plain(_one_of(field, values))
        case Range():
            return _between(where)
        case And(parts):
            return _joined(" and ", EVERYTHING, [compiled(part) for part in parts])
        case Or(parts):
            return _joined(" or ", NOTHING, [compiled(part) for part in parts])
        case Not(part):
            inner = compiled(part)
            return ServerCondition(f"not ({inner.maybe})", f"not ({inner.sure})")


# ---------------------------------------------------------------- what is stored


def _items(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value or [None]
    return [value]


def _numbers(items: list[Json]) -> set[float]:
    numbers = [item for item in items if isinstance(item, (int, float)) and not isinstance(item, bool)]
    return {_double(number) for number in numbers if not math.isnan(number)}


def _double(number: int | float) -> float:
    """As a double of which there is one zero."""
    return double(number) + 0.0


def _can_equal(item: Json) -> bool:
    return isinstance(item, (str, int)) or (isinstance(item, float) and not math.isnan(item))


def _facet(field: str, item: Json) -> int:
    if isinstance(item, str):
        return hashed(field, "text", item)
    if isinstance(item, bool):
        return hashed(field, "bool", str(item))
    if isinstance(item, float) and item.is_integer():
        item = int(item)
    return hashed(field, "number", repr(item))


def _filled(field: str) -> int:
    return hashed(field, "filled")


def _numeric(field: str) -> int:
    return hashed(field, "numeric")


def _many(field: str) -> int:
    return hashed(field, "many")


def _keys(field: str) -> tuple[str, str]:
    name = f"{hashed(field):016x}"
    return f"l{name}", f"h{name}"


# ---------------------------------------------------------------- what is asked


def _plain(expression: str) -> ServerCondition:
    return ServerCondition(expression, expression)


def _joined(word: str, empty: str, parts: list[ServerCondition]) -> ServerCondition:
    if not parts:
        return _plain(empty)
    sure, maybe = [f"({part.sure})" for part in parts], [f"({part.maybe})" for part in parts]
    return ServerCondition(word.join(sure), word.join(maybe))


def _equal(field: str, value: Scalar) -> str:
    if value is None:
        return f"not ({_has(_filled(field))})"
    return _one_of(field, (value,))


def _one_of(field: str, values: tuple[str | int | float | bool, ...]) -> str:
    facets = [_facet(field, value) for value in values if _can_equal(value)]
    return f"array_contains_any(facets, {facets})" if facets else NOTHING


def _has(facet: int) -> str:
    return f"array_contains(facets, {facet})"


def _between(where: Range) -> ServerCondition:
    low, high = (f'numbers["{key}"]' for key in _keys(where.field))
    floors = {">=": where.gte, ">": where.gt}
    ceilings = {"<=": where.lte, "<": where.lt}
    if any(bound is not None and math.isnan(bound) for bound in (*floors.values(), *ceilings.values())):
        return _plain(NOTHING)
    above, below = _compared(high, floors), _compared(low, ceilings)
    # Servers differ in what `not` makes of a comparison with something missing; so nothing missing is compared.
    there = _has(_numeric(where.field))
    if not above or not below:
        return _plain(f"{there} and {above or below}" if above or below else there)
    either_end = f"({_compared(low, floors)} and {below}) or ({above} and {_compared(high, ceilings)})"
    around = f"{_has(_many(where.field))} and {above} and {below}"
    return ServerCondition(f"{there} and ({either_end})", f"{there} and ({either_end} or ({around}))")


def _compared(path: str, bounds: Mapping[str, float | None]) -> str:
    given = {sign: _double(bound) for sign, bound in bounds.items() if bound is not None}
    return " and ".join(f"{path} {sign} {bound!r}" for sign, bound in given.items())
