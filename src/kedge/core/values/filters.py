"""Filters: one small tree with a reference `evaluate()`. Each store compiles the tree to its own language.

Semantics, the same everywhere:
- A missing field equals None. `Eq(f, None)` matches a missing or null field; ranges never match it.
- A list field matches `Eq`, `In` and `Range` when any of its elements does.
- Strings, numbers and booleans never equal each other across types (`True` is not `1`); 1 equals 1.0.
- Ranges compare numbers only. Times are numbers: seconds since 1970. Where a bound is written as a date or a time
  (`2026-01-01`, `2026-01-01T12:00:00+01:00`; UTC where no zone is said), it stands for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from kedge.core.errors import FilterError
from kedge.core.moving import MOVING
from kedge.core.untrusted import MAX_INTEGER, MAX_NAME_CHARS, fault_in_line, fault_in_text

if TYPE_CHECKING:
    from kedge.core.values import Json

MAX_DEPTH = 16
MAX_PARTS = 1000
"""Conditions and listed values of one filter."""
MAX_TEXT = 4000
"""Characters of a value."""
Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Eq:
    """The field equals the value."""

    field: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class In:
    """The field equals one of the values (none of which is None)."""

    field: str
    values: tuple[str | int | float | bool, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The field is a number within the given bounds; a bound of None is open."""

    field: str
    gte: float | None = None
    lte: float | None = None
    gt: float | None = None
    lt: float | None = None


@dataclass(frozen=True, slots=True)
class And:
    """All parts match; no parts match everything."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part matches; no parts match nothing."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not match."""

    part: Filter


Filter: TypeAlias = Eq | In | Range | And | Or | Not


def evaluate(where: Filter, payload: Mapping[str, Json]) -> bool:
    """Reference semantics: does the payload pass the filter?"""
    match where:
        case Eq(field, value):
            return any(_equal(item, value) for item in _items(payload, field))
        case In(field, values):
            return any(_equal(item, value) for item in _items(payload, field) for value in values)
        case Range():
            return any(_within(item, where) for item in _items(payload, where.field))
        case And(parts):
            return all(evaluate(part, payload) for part in parts)
        case Or(parts):
            return any(evaluate(part, payload) for part in parts)
        case Not(part):
            return not evaluate(part, payload)


def parse_terms(terms: Sequence[str]) -> Filter | None:
    """Read command-line terms `key=value`, `key!=value`, `key<=value`, `key>=value`, `key=a,b`, ANDed."""
    parts = [_parse_term(term) for term in terms]
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def from_mapping(fields: Mapping[str, Json]) -> Filter | None:
    """Read the HTTP form: `{"topic_tag": "graphs", "page": {"gte": 3}, "language": ["en", "de"]}`, ANDed."""
    parts = tuple(_from_item(field, value) for field, value in fields.items())
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else And(parts)


def from_outside(said: Mapping[str, Json] | Sequence[str]) -> Filter | None:
    """Read either form: conditions by field, or terms as the command line has them."""
    return from_mapping(said) if isinstance(said, Mapping) else parse_terms(said)


def to_terms(where: Filter) -> list[str]:
    """The terms that `parse_terms` reads as this filter. FilterError for one that no terms say."""
    match where:
        case And(parts):
            return [term for part in parts for term in to_terms(part)]
        case Eq(field, value):
            return [f"{field}={_written(value)}"]
        case In(field, values):
            return [f"{field}={','.join(map(_written, values))}"]
        case Not(Eq() | In() as part):
            return [term.replace("=", "!=", 1) for term in to_terms(part)]
        case Range(field, gte, lte, gt, lt):
            bounds = ((">=", gte), ("<=", lte), (">", gt), ("<", lt))
            return [f"{field}{operator}{bound}" for operator, bound in bounds if bound is not None]
    raise FilterError("The filter cannot be said in terms.", hint="Give conditions that must all hold.")


def _written(value: Scalar) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value)


def all_of(*filters: Filter | None) -> Filter | None:
    """AND of those that are given."""
    parts = tuple(part for part in filters if part is not None)
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else And(parts)


def or_moving(where: Filter | None) -> Filter | None:
    """What to ask an index whose passages keep their ids while their payload changes: the catalog decides on those."""
    return None if where is None else Or((where, Eq(MOVING, True)))


def check_filter(where: Filter) -> None:
    """FilterError for a tree that is too deep or too large, or holds what no store can compare."""
    left = MAX_PARTS
    level: list[Filter] = [where]
    for _ in range(MAX_DEPTH):
        deeper: list[Filter] = []
        for part in level:
            left -= len(part.values) if isinstance(part, In) else 1
            match part:
                case And(parts) | Or(parts):
                    deeper.extend(parts)
                case Not(inner):
                    deeper.append(inner)
                case Eq(field, value):
                    _check_field(field)
                    _check_value(field, value)
                case In(field, values):
                    _check_field(field)
                    for value in values:
                        _check_value(field, value)
                case Range(field):
                    _check_field(field)
                    for bound in (part.gte, part.lte, part.gt, part.lt):
                        _check_value(field, bound)
        if left < 0:
            raise FilterError("The filter has too many parts.", hint=f"At most {MAX_PARTS} values and conditions.")
        if not deeper:
            return
        level = deeper
    raise FilterError("The filter is nested too deep.", hint=f"At most {MAX_DEPTH} levels.")


def _check_field(field: str) -> None:
    fault = fault_in_line(field) or ("is empty" if not field.strip() else "")
    if fault or len(field) > MAX_NAME_CHARS:
        raise FilterError(
            f"A field of the filter {fault or 'has too long a name'}.", hint="Name a field of the passages."
        )


def _check_value(field: str, value: Scalar) -> None:
    fault = ""
    if isinstance(value, str):
        fault = fault_in_text(value) or (f"is longer than {MAX_TEXT:,} characters" if len(value) > MAX_TEXT else "")
    elif isinstance(value, float) and value - value != 0:
        fault = "is not finite"
    elif isinstance(value, int) and abs(value) > MAX_INTEGER:
        fault = "has more than 64 bits"
    if fault:
        raise FilterError(f"A value of the filter on {field!r} {fault}.", hint="Give a value that a field can hold.")


def fields(where: Filter) -> set[str]:
    """Every field the filter names."""
    match where:
        case Eq(field) | In(field) | Range(field):
            return {field}
        case And(parts) | Or(parts):
            return set().union(*(fields(part) for part in parts)) if parts else set()
        case Not(part):
            return fields(part)


def _items(payload: Mapping[str, Json], field: str) -> list[Json]:
    value = payload.get(field)
    if isinstance(value, list):
        return value or [None]
    return [value]


def _equal(item: Json, value: Scalar) -> bool:
    if isinstance(item, bool) or isinstance(value, bool):
        return item is value
    if isinstance(item, (int, float)) and isinstance(value, (int, float)):
        return item == value
    return type(item) is type(value) and item == value


def _within(item: Json, bounds: Range) -> bool:
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        return False
    return (
        (bounds.gte is None or item >= bounds.gte)
        and (bounds.lte is None or item <= bounds.lte)
        and (bounds.gt is None or item > bounds.gt)
        and (bounds.lt is None or item < bounds.lt)
    )


def _parse_term(term: str) -> Filter:
    for operator in ("!=", "<=", ">=", "<", ">", "="):
        field, found, raw = term.partition(operator)
        if found and field.strip():
            return _build(field.strip(), operator, raw.strip())
    raise FilterError(
        f"The filter {term!r} cannot be read.",
        hint="Write key=value, key!=value, key<=value, key>=value or key=a,b.",
    )


def _build(field: str, operator: str, raw: str) -> Filter:
    if operator in ("=", "!="):
        values = tuple(_scalar(item) for item in raw.split(","))
        filled = tuple(value for value in values if value is not None)
        positive: Filter = In(field, filled) if len(values) > 1 else Eq(field, values[0])
        return positive if operator == "=" else Not(positive)
    number = _bound(_scalar(raw))
    if number is None:
        raise FilterError(
            f"{field}{operator}{raw}: a range needs a number or a date.",
            hint=f"For instance {field}{operator}3, or ingested_at>=2026-01-01.",
        )
    match operator:
        case "<=":
            return Range(field, lte=number)
        case ">=":
            return Range(field, gte=number)
        case "<":
            return Range(field, lt=number)
        case _:
            return Range(field, gt=number)


def _scalar(raw: str) -> Scalar:
    lowered = raw.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered in ("null", "none", ""):
        return None
    for kind in (int, float):
        try:
            return kind(raw)
        except ValueError:
            continue
    return raw


def _bound(value: Json) -> int | float | None:
    """A bound of a range: the number, or the seconds since 1970 of a date or time; None for what is neither."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if not isinstance(value, str):
        return value
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _from_item(field: str, value: Json) -> Filter:
    if isinstance(value, list):
        scalars = tuple(item for item in value if isinstance(item, (str, int, float, bool)))
        if len(scalars) != len(value) or not scalars:
            raise FilterError(
                f"The filter on {field!r} must list strings, numbers or booleans.",
                hint='For instance {"topic_tag": ["ropes", "knots"]}.',
            )
        return In(field, scalars)
    if isinstance(value, dict):
        return _range(field, value)
    return Eq(field, value)


def _range(field: str, bounds: Mapping[str, Json]) -> Range:
    unknown = set(bounds) - {"gte", "lte", "gt", "lt"}
    numbers = {name: number for name, item in bounds.items() if (number := _bound(item)) is not None}
    if unknown or len(numbers) != len(bounds) or not bounds:
        raise FilterError(
            f"The filter on {field!r} must be a range of numbers or dates: gte, lte, gt, lt.",
            hint='For instance {"page": {"gte": 3}} or {"ingested_at": {"gte": "2026-01-01"}}.',
        )
    for item in numbers.values():
        _check_value(field, item)
    return Range(field, **{name: float(item) for name, item in numbers.items()})
