"""Search by vector: exact among few, by HNSW among many.

HNSW finds the nearest of all and drops what the filter does not pass, so it is used only where many points pass; if it
brings fewer than wanted, or the last ones tie, the exact search decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.sql import SQL, Composable, Literal
from sqlalchemy import Connection

from kedge.stores.base import Vector
from kedge.stores.filters import Filter
from kedge.stores.pgvector.conditions import Conditions
from kedge.stores.pgvector.encode import text, unit
from kedge.stores.pgvector.tables import HALF_UP_TO, HNSW_UP_TO, Index, execute, load
from kedge.stores.rules import COSINE_DIGITS, check_query, ranked
from kedge.types import Scored

SPARE = 16
"""Hits fetched beyond the limit, to see whether a tie crosses it."""
MOST = 1000
"""pgvector's upper limit of `hnsw.ef_search`."""
_STEPS = 10.0**COSINE_DIGITS
_EXACT = SQL(
    "SELECT id::text AS point, score / %(steps)s FROM"
    " (SELECT id, round(-(vector <#> %(vector)s::vector) * %(steps)s) AS score"
    " FROM {points} WHERE tenant = %(tenant)s AND {where}) AS found ORDER BY score DESC, id LIMIT %(limit)s"
)
_NEAR = SQL(
    "SELECT id::text, -(vector <#> %(vector)s::vector) AS score FROM (SELECT id, vector FROM {points}"
    " WHERE tenant = %(tenant)s AND {where} ORDER BY {distance} LIMIT %(fetch)s) AS near ORDER BY score DESC"
)
_ENOUGH = SQL(
    "SELECT count(*) FROM (SELECT 1 FROM {points} WHERE tenant = %(tenant)s AND {where} LIMIT %(many)s) AS enough"
)
_ALL = SQL("SELECT coalesce(sum(points), 0) FROM kedge_vector_tenants WHERE name = %(name)s AND tenant = %(tenant)s")
_TUNE = SQL(
    "SELECT set_config('hnsw.ef_search', %(ef)s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)"
)


@dataclass(frozen=True, slots=True)
class Question:
    """One search."""

    tenant: str
    vector: Vector
    limit: int
    where: Filter | None
    ef: int
    """Candidates that HNSW keeps while it searches."""
    exact_below: int
    """Up to so many points that pass the filter are compared one by one."""


def search(connection: Connection, name: str, asked: Question) -> list[Scored]:
    """The best hits, best first, ties by id."""
    index, conditions = load(connection, name), Conditions()
    check_query(asked.vector, index.dimension, name)
    where = conditions.of(asked.where)
    values = {"tenant": text(asked.tenant), "vector": unit(asked.vector), "limit": asked.limit, "steps": _STEPS}
    values |= conditions.values
    fits = index.hnsw and asked.limit + SPARE <= MOST
    if fits and _passing(connection, index, where, values, asked) > asked.exact_below:
        hits = _near(connection, index, where, values, asked)
        if len(hits) >= asked.limit and not _tied(hits, asked.limit):
            return ranked(hits, asked.limit, COSINE_DIGITS)
    found = execute(connection, _EXACT.format(points=index.points, where=where), values)
    return ranked(((row[0], row[1]) for row in found), asked.limit, COSINE_DIGITS)


def distance(index: Index) -> Composable | None:
    """The expression that HNSW is built over and searched by; None where there are too many dimensions for it."""
    if index.dimension <= HNSW_UP_TO:
        return SQL("vector")
    if index.dimension <= HALF_UP_TO:
        return SQL("(vector::halfvec({}))").format(Literal(index.dimension))
    return None


def _passing(connection: Connection, index: Index, where: Composable, values: dict[str, Any], asked: Question) -> int:
    """How many points pass, counted only as far as it matters."""
    if asked.where is None:
        counted = execute(connection, _ALL, {**values, "name": text(index.name)})
    else:
        enough = _ENOUGH.format(points=index.points, where=where)
        counted = execute(connection, enough, {**values, "many": asked.exact_below + 1})
    return int(counted.scalar_one())


def _near(
    connection: Connection, index: Index, where: Composable, values: dict[str, Any], asked: Question
) -> list[tuple[str, float]]:
    fetch = asked.limit + SPARE
    execute(connection, _TUNE, {"ef": str(min(MOST, max(asked.ef, fetch)))})
    half = index.dimension > HNSW_UP_TO
    target = (
        SQL("%(vector)s::vector::halfvec({})").format(Literal(index.dimension)) if half else SQL("%(vector)s::vector")
    )
    order = SQL("{} <#> {}").format(distance(index) or SQL("vector"), target)
    statement = _NEAR.format(points=index.points, where=where, distance=order)
    return [(row[0], float(row[1])) for row in execute(connection, statement, {**values, "fetch": fetch})]


def _tied(hits: Sequence[tuple[str, float]], limit: int) -> bool:
    last, wanted = (round(score, COSINE_DIGITS) for _, score in (hits[-1], hits[limit - 1]))
    return last >= wanted
