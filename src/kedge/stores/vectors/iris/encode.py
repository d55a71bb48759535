"""How ids, vectors and payloads look in the tables.

IRIS compares strings without regard to case by default and has its own idea of empty strings, so no text of a user is
ever compared by the server: a payload becomes *facts*, rows of a field and a value that are both hexadecimal digests.
Numbers are kept beside as doubles, for ranges. So filters mean exactly what `evaluate()` says.

Ids are shifted by a mask of the tenant (`ids`), so the same id under two tenants is two rows.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from kedge.core.values import Json
from kedge.core.values.filters import Scalar
from kedge.stores.ports import Vector
from kedge.stores.vectors.rules import double, unit

Fact: TypeAlias = tuple[str, str, float | None]
"""Digest of the field, digest of the value, the value as a number."""

_PAYLOAD, _TENANT, _TEXT = "p", "t", "x"


def facts_of(tenant: str, payload: Mapping[str, Json], has_text: bool) -> set[Fact]:
    """All facts of a point: whose it is, whether it has terms, and what its payload holds."""
    facts: set[Fact] = {(*tenant_fact(tenant), None)}
    if has_text:
        facts.add((*text_fact(tenant), None))
    for name, value in payload.items():
        facts.update((field_digest(name), value_digest(item), _number(item)) for item in _items(value))
    return facts


def tenant_fact(tenant: str) -> tuple[str, str]:
    """Field and value that say whose a point is."""
    return _digest(_TENANT, ""), _digest(_TENANT, tenant)


def text_fact(tenant: str) -> tuple[str, str]:
    """Field and value that say that a tenant's point has terms."""
    return _digest(_TEXT, ""), _digest(_TEXT, tenant)


def field_digest(name: str) -> str:
    """The field of a fact."""
    return _digest(_PAYLOAD, name)


def value_digest(value: Json) -> str:
    """The value of a fact: equal exactly for what `evaluate()` takes for equal; what nothing equals is `-`."""
    if value is None:
        return _digest("null", "")
    if isinstance(value, bool):
        return _digest("bool", str(value))
    if isinstance(value, str):
        return _digest("text", value)
    if isinstance(value, (int, float)) and not math.isnan(value):
        return _digest("number", _canonical(value))
    return "-"


def digest(text: str) -> str:
    """Digest of an index's name."""
    return _digest("index", text)


def vector_text(vector: Vector) -> str:
    """The vector in length 1 as `TO_VECTOR` reads it, without exponents; the zero vector stays."""
    return "[" + ",".join(f"{value:.9f}" for value in unit(vector).tolist()) + "]"


def vector_of(held: Any) -> Vector:
    """A stored vector as the driver gives it back: text, with or without brackets."""
    numbers = held.strip("[]").split(",") if isinstance(held, str) else held
    return np.array([float(number) for number in numbers], dtype=np.float32)


def metadata_text(payload: Mapping[str, Json]) -> str:
    """The payload as JSON, for people and other programs; filters do not read it."""
    return json.dumps(payload, default=str)


def marks(values: Sequence[Scalar]) -> str:
    """As many question marks as values."""
    return ", ".join("?" for _ in values)


def _items(value: Json) -> Iterator[Json]:
    if isinstance(value, list):
        yield from value or [None]
    else:
        yield value


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        return None
    return double(value)


def _canonical(value: int | float) -> str:
    """One spelling for 1 and 1.0."""
    whole = isinstance(value, int) or (math.isfinite(value) and value.is_integer())
    return str(int(value)) if whole else repr(value)


def _digest(kind: str, text: str) -> str:
    return hashlib.blake2b(f"{kind}\x1f{text}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
