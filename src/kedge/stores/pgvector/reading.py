"""Searching and counting. Each function runs in one transaction that sees one moment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from psycopg.sql import SQL
from sqlalchemy import Connection

from kedge.stores.base import StoredPoint
from kedge.stores.filters import Filter
from kedge.stores.pgvector import postings
from kedge.stores.pgvector.conditions import Conditions
from kedge.stores.pgvector.encode import text, vector_of, weights_of
from kedge.stores.pgvector.tables import Index, execute, load
from kedge.stores.rules import KEYWORD_DIGITS, is_id, ranked
from kedge.types import Scored

_COUNT = SQL("SELECT count(*) FROM {points} WHERE tenant = %(tenant)s AND {where}")
_IDS = SQL(
    "SELECT id::text FROM {points} WHERE tenant = %(tenant)s AND id > %(after)s::uuid ORDER BY id LIMIT %(limit)s"
)
_FIRST_IDS = SQL("SELECT id::text FROM {points} WHERE tenant = %(tenant)s ORDER BY id LIMIT %(limit)s")
_READ = SQL(
    "SELECT id::text, vector_send(vector), terms FROM {points} WHERE tenant = %(tenant)s AND id = ANY(%(ids)s::uuid[])"
)
_TEXTS = SQL(
    "SELECT coalesce(sum(texts), 0)::bigint FROM kedge_vector_tenants"
    " WHERE name = %(name)s AND (tenant = %(tenant)s OR %(tenant)s::text IS NULL)"
)
_ACCEPTED = SQL("SELECT string_agg(int4send(number), '') FROM {points} WHERE tenant = %(tenant)s AND {where}")
_NAMES = SQL("SELECT number, id::text FROM {points} WHERE number = ANY(%(numbers)s::int4[])")


def count(connection: Connection, name: str, tenant: str, where: Filter | None) -> int:
    """Points of the tenant that pass."""
    index, conditions = load(connection, name), Conditions()
    statement = _COUNT.format(points=index.points, where=conditions.of(where))
    return int(execute(connection, statement, {"tenant": text(tenant), **conditions.values}).scalar_one())


def ids(connection: Connection, name: str, tenant: str, after: str | None, limit: int) -> list[str]:
    """The next ids behind `after`."""
    statement = (_FIRST_IDS if after is None else _IDS).format(points=load(connection, name).points)
    return list(execute(connection, statement, {"tenant": text(tenant), "after": after, "limit": limit}).scalars())


def read(connection: Connection, name: str, tenant: str, wanted: Sequence[str]) -> dict[str, StoredPoint]:
    """Vectors and terms of these points."""
    statement = _READ.format(points=load(connection, name).points)
    values = {"tenant": text(tenant), "ids": [id for id in wanted if is_id(id)]}
    return {
        id: StoredPoint(vector_of(sent), weights_of(packed))
        for id, sent, packed in execute(connection, statement, values)
    }


def keyword_search(
    connection: Connection, name: str, tenant: str, asked: Mapping[int, float], *, limit: int, where: Filter | None
) -> list[Scored]:
    """The best by BM25, weighed by how rare each term is among the tenant's points."""
    index = load(connection, name)
    held = postings.read(connection, index, tenant, list(asked)) if asked else {}
    if not held:
        return []
    weights = _idf(_texts(connection, index, tenant), {term: len(pairs) for term, pairs in held.items()})
    numbers = np.concatenate([pairs["point"] for pairs in held.values()])
    parts = np.concatenate([pairs["weight"] * (asked[term] * weights[term]) for term, pairs in held.items()])
    if where is not None:
        passing = np.isin(numbers, _accepted(connection, index, tenant, where))
        numbers, parts = numbers[passing], parts[passing]
    found, places = np.unique(numbers, return_inverse=True)
    sums = np.bincount(places, parts, len(found)).astype(np.float64)
    best = _best(np.round(sums, KEYWORD_DIGITS), limit)
    names = _names(connection, index, found[best])
    scored = zip(found[best].tolist(), sums[best].tolist(), strict=True)
    return ranked(((names[number], score) for number, score in scored), limit, KEYWORD_DIGITS)


def _best(scores: npt.NDArray[np.float64], limit: int) -> npt.NDArray[np.bool_]:
    """The `limit` highest and all that tie with the last of them."""
    if limit >= len(scores):
        return np.ones(len(scores), dtype=np.bool_)
    return np.asarray(scores >= np.partition(scores, -limit)[-limit], dtype=np.bool_)


def _accepted(connection: Connection, index: Index, tenant: str, where: Filter) -> npt.NDArray[np.int32]:
    """Numbers of the points that pass, packed by the server: there may be many."""
    conditions = Conditions()
    statement = _ACCEPTED.format(points=index.points, where=conditions.of(where))
    packed = execute(connection, statement, {"tenant": text(tenant), **conditions.values}).scalar_one()
    return np.frombuffer(packed or b"", dtype=">i4").astype(np.int32)


def _names(connection: Connection, index: Index, numbers: npt.NDArray[np.int32]) -> dict[int, str]:
    found = execute(connection, _NAMES.format(points=index.points), {"numbers": numbers.tolist()})
    return {row[0]: row[1] for row in found}


def term_idf(connection: Connection, name: str, term_ids: Sequence[int]) -> list[float]:
    """How rare each term is in the index, over all tenants."""
    index = load(connection, name)
    weights = _idf(_texts(connection, index, None), postings.counts(connection, index, term_ids))
    return [weights.get(term, 0.0) for term in term_ids]


def _texts(connection: Connection, index: Index, tenant: str | None) -> int:
    """Points that have terms at all."""
    values = {"name": text(index.name), "tenant": None if tenant is None else text(tenant)}
    return int(execute(connection, _TEXTS, values).scalar_one())


def _idf(texts: int, holding: Mapping[int, int]) -> dict[int, float]:
    """`ln(1 + (N - n + 0.5) / (n + 0.5))`."""
    return {term: math.log(1 + (texts - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
