"""Searching and counting. Each function runs in one transaction that sees one moment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.sql import SQL
from sqlalchemy import Connection

from kedge.stores.base import StoredPoint
from kedge.stores.filters import Filter
from kedge.stores.pgvector.conditions import Conditions
from kedge.stores.pgvector.encode import text, vector_of
from kedge.stores.pgvector.tables import Index, execute, load
from kedge.stores.pgvector.writing import signed, unsigned
from kedge.stores.rules import KEYWORD_DIGITS, is_id, ranked
from kedge.types import Scored

_STEPS = 10.0**KEYWORD_DIGITS
_COUNT = SQL("SELECT count(*) FROM {points} WHERE tenant = %(tenant)s AND {where}")
_IDS = SQL(
    "SELECT id::text FROM {points} WHERE tenant = %(tenant)s AND id > %(after)s::uuid ORDER BY id LIMIT %(limit)s"
)
_FIRST_IDS = SQL("SELECT id::text FROM {points} WHERE tenant = %(tenant)s ORDER BY id LIMIT %(limit)s")
_READ = SQL(
    "SELECT id::text, vector_send(vector), terms, weights FROM {points}"
    " WHERE tenant = %(tenant)s AND id = ANY(%(ids)s::uuid[])"
)
_HOLDING = SQL(
    "SELECT term, count(*) FROM {postings} WHERE term = ANY(%(terms)s::int4[]) AND tenant = %(tenant)s GROUP BY term"
)
_HOLDING_ALL = SQL("SELECT term, count(*) FROM {postings} WHERE term = ANY(%(terms)s::int4[]) GROUP BY term")
_TEXTS = SQL(
    "SELECT coalesce(sum(texts), 0)::bigint FROM kedge_vector_tenants"
    " WHERE name = %(name)s AND (tenant = %(tenant)s OR %(tenant)s::text IS NULL)"
)
# Scores are rounded before they are ordered, so that noise is never an order and ties go by id.
_KEYWORDS = SQL(
    "SELECT id::text AS point, score / %(steps)s FROM"
    " (SELECT p.id, round(sum(p.weight * asked.weight) * %(steps)s) AS score"
    " FROM unnest(%(terms)s::int4[], %(weights)s::float8[]) AS asked (term, weight)"
    " JOIN {postings} AS p ON p.term = asked.term AND p.tenant = %(tenant)s {narrowed} GROUP BY p.id) AS found"
    " ORDER BY score DESC, id LIMIT %(limit)s"
)
# Found once and kept: looked up for each posting it would cost a hundred times as much.
_ACCEPTED = SQL("WITH accepted AS MATERIALIZED (SELECT id FROM {points} WHERE tenant = %(tenant)s AND {where}) ")
_NARROWED = SQL("WHERE p.id IN (SELECT id FROM accepted)")


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
        id: StoredPoint(vector_of(sent), dict(zip(map(unsigned, terms), weights, strict=True)))
        for id, sent, terms, weights in execute(connection, statement, values)
    }


def keyword_search(
    connection: Connection, name: str, tenant: str, asked: Mapping[int, float], *, limit: int, where: Filter | None
) -> list[Scored]:
    """The best by BM25, weighed by how rare each term is among the tenant's points."""
    index, conditions = load(connection, name), Conditions()
    weights = _idf(connection, index, list(asked), tenant)
    terms = [term for term in asked if weights.get(term)]
    if not terms:
        return []
    statement = _KEYWORDS.format(postings=index.postings, narrowed=SQL("") if where is None else _NARROWED)
    if where is not None:
        statement = _ACCEPTED.format(points=index.points, where=conditions.of(where)) + statement
    values: dict[str, Any] = {
        "terms": [signed(term) for term in terms],
        "weights": [asked[term] * weights[term] for term in terms],
        "tenant": text(tenant),
        "steps": _STEPS,
        "limit": limit,
    }
    found = execute(connection, statement, {**values, **conditions.values})
    return ranked(((row[0], row[1]) for row in found), limit, KEYWORD_DIGITS)


def term_idf(connection: Connection, name: str, term_ids: Sequence[int]) -> list[float]:
    """How rare each term is in the index, over all tenants."""
    weights = _idf(connection, load(connection, name), term_ids, None)
    return [weights.get(term, 0.0) for term in term_ids]


def _idf(connection: Connection, index: Index, terms: Sequence[int], tenant: str | None) -> dict[int, float]:
    """`ln(1 + (N - n + 0.5) / (n + 0.5))` over those points that have terms at all."""
    if not terms:
        return {}
    values = {"name": text(index.name), "tenant": None if tenant is None else text(tenant)}
    texts = int(execute(connection, _TEXTS, values).scalar_one())
    holding = (_HOLDING_ALL if tenant is None else _HOLDING).format(postings=index.postings)
    asked = {"terms": [signed(term) for term in terms], "tenant": values["tenant"]}
    return {
        unsigned(term): math.log(1 + (texts - n + 0.5) / (n + 0.5)) for term, n in execute(connection, holding, asked)
    }
