"""How payloads and vectors look in the tables.

- A payload is stored as the JSON that it is, but for what JSON or the server cannot hold: characters 0 and 1 are
  escaped, whole numbers are written whole, infinity is a number above all doubles, and what no filter can match
  (objects, nested lists, NaN) is an empty object. None and empty lists are left out: a missing field means the same.
- Terms are stored packed, each with its weight.
- A vector is stored with norm 1, so that the inner product is the cosine; a zero vector stays zero and scores 0.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format

from kedge.core.values import Json
from kedge.stores.ports import Vector

TERM = np.dtype([("term", "<i4"), ("weight", "<f4")])
"""A term's id, signed as the server's integers are, and its weight in a text."""
Terms = npt.NDArray[Any]
"""Of `TERM`."""
_HEAD = struct.Struct(">HH")
_ABOVE_ALL = 10**400
_NOTHING: dict[str, Json] = {}


class VectorDumper(Dumper):
    """A numpy array in pgvector's binary form. The query says `%s::vector`, so no type has to be looked up."""

    format = Format.BINARY

    def dump(self, obj: Any) -> Buffer:
        return _HEAD.pack(len(obj), 0) + np.asarray(obj, dtype=">f4").tobytes()


def vector_of(sent: bytes) -> Vector:
    """The way back, from what `vector_send` gives."""
    return np.frombuffer(sent, dtype=">f4", offset=_HEAD.size).astype(np.float32)


def terms_of(weights: Mapping[int, float]) -> Terms:
    """Terms with their weights as stored."""
    found = np.empty(len(weights), dtype=TERM)
    found["term"] = np.fromiter(weights, dtype=np.uint32, count=len(weights)).view(np.int32)
    found["weight"] = np.fromiter(weights.values(), dtype=np.float32, count=len(weights))
    return found


def weights_of(packed: bytes) -> dict[int, float]:
    """The way back."""
    found = np.frombuffer(packed, dtype=TERM)
    return dict(zip(found["term"].astype(np.uint32).tolist(), found["weight"].tolist(), strict=True))


def payload_json(payload: Mapping[str, Json]) -> str:
    """The payload as stored."""
    return dumps({text(name): _stored(value) for name, value in payload.items() if value is not None and value != []})


def dumps(value: Json) -> str:
    """JSON as the server reads it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def scalar(value: Json) -> Json:
    """A scalar as stored, and so as filters look for it."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return number(value) if value == value else _NOTHING  # noqa: PLR0124 (NaN alone is unlike itself)
    return _NOTHING


def text(value: str) -> str:
    """Without the character 0, which the server cannot hold.

    >>> text("a\\0b\\1")
    'a\\x01ab\\x01b'
    """
    return value.replace("\x01", "\x01b").replace("\x00", "\x01a") if "\x01" in value or "\x00" in value else value


def number(value: int | float) -> int | float:
    """Whole numbers exactly, as Python compares them; what is beyond all doubles, as infinity."""
    if isinstance(value, float) and math.isinf(value):
        return _ABOVE_ALL if value > 0 else -_ABOVE_ALL
    if isinstance(value, float) and not value.is_integer():
        return value
    return max(-_ABOVE_ALL, min(int(value), _ABOVE_ALL))


def _stored(value: Json) -> Json:
    return [scalar(item) for item in value] if isinstance(value, list) else scalar(value)
