"""Search by vector: exact among few, by HNSW among many.

HNSW finds the nearest of all and drops what the filter does not pass, so it is used only where many points pass; if it
brings fewer than wanted, or the last ones tie, the exact search decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg.sql import SQL, Composable, Literal
from sqlalchemy import Connection

from kedge.core.values import Scored
from kedge.core.values.filters import Filter
from kedge.stores.ports import Vector
from kedge.stores.queries import load_queries
from kedge.stores.vectors.pgvector.conditions import FilterCompiler
from kedge.stores.vectors.pgvector.encode import text
from kedge.stores.vectors.pgvector.tables import HALF_UP_TO, HNSW_UP_TO, PgIndex, execute, load
from kedge.stores.vectors.rules import COSINE_DIGITS, SPARE, check_query, ranked, tied, unit

MOST = 1000
"""pgvector's upper limit of `hnsw.ef_search`."""
_STEPS = 10.0**COSINE_DIGITS
QUERIES = load_queries(__package__, "queries.sql")


@dataclass(frozen=True, slots=True)
class PgSearch:
    """One search."""

    tenant: str
    vector: Vector
    limit: int
    where: Filter | None
    ef: int
    """Candidates that HNSW keeps while it searches."""
    exact_below: int
    """Up to so many points that pass the filter are compared one by one."""


def search(connection: Connection, name: str, asked: PgSearch) -> list[Scored]:
    """The best hits, best first, ties by id."""
    index, conditions = load(connection, name), FilterCompiler()
    check_query(asked.vector, index.dimension, name)
    where = conditions.of(asked.where)
    values = {"tenant": text(asked.tenant), "vector": unit(asked.vector), "limit": asked.limit, "steps": _STEPS}
    values |= conditions.values
    fits = index.hnsw and asked.limit + SPARE <= MOST
    if fits and _passing(connection, index, where, values, asked) > asked.exact_below:
        hits = _near(connection, index, where, values, asked)
        if len(hits) >= asked.limit and not tied(hits[-1][1], hits[asked.limit - 1][1], COSINE_DIGITS):
            return ranked(hits, asked.limit, COSINE_DIGITS)
    found = execute(connection, QUERIES["exact_search"], values, points=index.points, where=where)
    return ranked(((row[0], row[1]) for row in found), asked.limit, COSINE_DIGITS)


def distance(index: PgIndex) -> Composable | None:
    """The expression that HNSW is built over and searched by; None where there are too many dimensions for it."""
    if index.dimension <= HNSW_UP_TO:
        return SQL("vector")
    if index.dimension <= HALF_UP_TO:
        return SQL("(vector::halfvec({}))").format(Literal(index.dimension))
    return None


def _passing(connection: Connection, index: PgIndex, where: Composable, values: dict[str, Any], asked: PgSearch) -> int:
    """How many points pass, counted only as far as it matters."""
    if asked.where is None:
        counted = execute(connection, QUERIES["count_points_of_tenant"], {**values, "name": text(index.name)})
    else:
        values = {**values, "many": asked.exact_below + 1}
        counted = execute(connection, QUERIES["count_up_to"], values, points=index.points, where=where)
    return int(counted.scalar_one())


def _near(
    connection: Connection, index: PgIndex, where: Composable, values: dict[str, Any], asked: PgSearch
) -> list[tuple[str, float]]:
    fetch = asked.limit + SPARE
    execute(connection, QUERIES["tune_search"], {"ef": str(min(MOST, max(asked.ef, fetch)))})
    half = index.dimension > HNSW_UP_TO
    target = (
        SQL("%(vector)s::vector::halfvec({})").format(Literal(index.dimension)) if half else SQL("%(vector)s::vector")
    )
    order = SQL("{} <#> {}").format(distance(index) or SQL("vector"), target)
    parts = {"points": index.points, "where": where, "distance": order}
    found = execute(connection, QUERIES["near_search"], {**values, "fetch": fetch}, **parts)
    return [(row[0], float(row[1])) for row in found]
