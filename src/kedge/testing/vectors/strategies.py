"""Hypothesis strategies for what vector stores hold: vectors, payloads, filters, points and sequences of operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

import numpy as np
from hypothesis import strategies as st

from kedge.core.values import DEFAULT_TENANT, Json
from kedge.core.values.filters import And, Eq, Filter, In, Not, Or, Range, Scalar
from kedge.stores.ports import Point, Vector

DIMENSION = 4
TENANTS = (DEFAULT_TENANT, "acme")
IDS = tuple(str(UUID(int=(n * 0x9E3779B97F4A7C15F39CC0605CEDC835) % (1 << 128))) for n in range(1, 9))
"""Few, so that points are replaced and deleted often; their order is not the order of writing."""
INDEXED = {"topic": "keyword", "page": "integer", "rating": "float", "flag": "bool", "changed": "datetime"}
FIELDS = (*INDEXED, "note", 'a.b["c"] % d', "%tenant", "ключ")
"""Indexed fields, an unindexed one, and names that a path language could trip over."""
WORDS = "suffix tree graph graphs Straße café 東京 東京大学 自动机 деревья 3.14 C++ O(n) the".split()

TEXTS = ("", "a", "b", "1", "1.0", "true", "True", "null", "\x01", "\x01True", IDS[0], "2024-05-01T00:00:00Z", "日本")
NUMBERS = (0, 1, 2, -1, 10**12, 2**53, 0.0, -0.0, 1.0, 1.5, 0.1, -2.5, 1e-9, 3.0e10)
_LISTS: list[list[Json]] = [[], [None], ["a", None], [1, "1", True], [1.5], [False]]
VALUES: tuple[Json, ...] = (*TEXTS, *NUMBERS, True, False, None, *_LISTS)
"""Values that a store could take for one another."""

texts = st.sampled_from(TEXTS) | st.text(max_size=4)
numbers = st.sampled_from(NUMBERS) | st.integers(-5, 5) | st.floats(-5, 5, width=32)
filled: st.SearchStrategy[str | int | float | bool] = texts | numbers | st.booleans()
scalars: st.SearchStrategy[Scalar] = filled | st.none()
payload_values: st.SearchStrategy[Json] = scalars | st.lists(scalars, max_size=3).map(list[Json])
payloads: st.SearchStrategy[dict[str, Json]] = st.dictionaries(st.sampled_from(FIELDS), payload_values, max_size=5)

passages = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
vectors: st.SearchStrategy[Vector] = st.lists(st.integers(-2, 2), min_size=DIMENSION, max_size=DIMENSION).map(
    lambda values: np.array(values, dtype=np.float32)
)
points: st.SearchStrategy[Point] = st.builds(
    Point, id=st.sampled_from(IDS), vector=vectors, text=passages, payload=payloads
)


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    """A range with any of its four bounds."""
    bounds = draw(st.dictionaries(st.sampled_from(("gte", "lte", "gt", "lt")), numbers, max_size=2))
    return Range(draw(st.sampled_from(FIELDS)), **bounds)


_leaves: st.SearchStrategy[Filter] = st.one_of(
    st.builds(Eq, st.sampled_from(FIELDS), scalars),
    st.builds(In, st.sampled_from(FIELDS), st.lists(filled, max_size=3).map(tuple)),
    ranges(),
)


def _grow(parts: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(parts, max_size=3).map(tuple)
    return st.builds(And, several) | st.builds(Or, several) | st.builds(Not, parts)


filters: st.SearchStrategy[Filter] = st.recursive(_leaves, _grow, max_leaves=6)


# ---------------------------------------------------------------- operations


@dataclass(frozen=True, slots=True)
class Upsert:
    """Write points of a tenant."""

    tenant: str
    points: list[Point]


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove points of a tenant."""

    tenant: str
    ids: list[str]


@dataclass(frozen=True, slots=True)
class Reopen:
    """Close the store and open it again."""


@dataclass(frozen=True, slots=True)
class Look:
    """Search by vector and by words, and count."""

    tenant: str
    vector: Vector
    words: str
    limit: int
    where: Filter | None


Operation: TypeAlias = Upsert | Delete | Reopen | Look

_tenants = st.sampled_from(TENANTS)
looks = st.builds(Look, _tenants, vectors, passages, st.integers(1, 9), st.none() | filters)
operations: st.SearchStrategy[list[Operation]] = st.lists(
    st.one_of(
        st.builds(Upsert, _tenants, st.lists(points, max_size=8)),
        st.builds(Delete, _tenants, st.lists(st.sampled_from(IDS), max_size=3)),
        st.builds(Reopen),
        looks,
        looks,
    ),
    min_size=2,
    max_size=10,
)
