"""Searching and counting. Each function runs in one transaction that sees one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from kedge.core.values import Scored
from kedge.core.values.filters import Filter
from kedge.stores.ports import StoredPoint
from kedge.stores.queries import load_queries
from kedge.stores.vectors.pgvector import postings
from kedge.stores.vectors.pgvector.conditions import FilterCompiler
from kedge.stores.vectors.pgvector.encode import text, vector_of, weights_of
from kedge.stores.vectors.pgvector.tables import PgIndex, execute, load
from kedge.stores.vectors.rules import KEYWORD_DIGITS, idf, is_id, ranked

QUERIES = load_queries(__package__, "queries.sql")


def count(connection: Connection, name: str, tenant: str, where: Filter | None) -> int:
    """Points of the tenant that pass."""
    index, conditions = load(connection, name), FilterCompiler()
    parts = {"points": index.points, "where": conditions.of(where)}
    values = {"tenant": text(tenant), **conditions.values}
    return int(execute(connection, QUERIES["count_points"], values, **parts).scalar_one())


def ids(connection: Connection, name: str, tenant: str, after: str | None, limit: int) -> list[str]:
    """The next ids behind `after`."""
    statement = QUERIES["first_ids"] if after is None else QUERIES["following_ids"]
    values = {"tenant": text(tenant), "after": after, "limit": limit}
    return list(execute(connection, statement, values, points=load(connection, name).points).scalars())


def read(connection: Connection, name: str, tenant: str, wanted: Sequence[str]) -> dict[str, StoredPoint]:
    """Vectors and terms of these points."""
    values = {"tenant": text(tenant), "ids": [id for id in wanted if is_id(id)]}
    found = execute(connection, QUERIES["read_points"], values, points=load(connection, name).points)
    return {id: StoredPoint(vector_of(sent), weights_of(packed)) for id, sent, packed in found}


def keyword_search(
    connection: Connection, name: str, tenant: str, asked: Mapping[int, float], *, limit: int, where: Filter | None
) -> list[Scored]:
    """The best by BM25, weighed by how rare each term is among the tenant's points."""
    index = load(connection, name)
    held = postings.read(connection, index, tenant, list(asked)) if asked else {}
    if not held:
        return []
    texts = _texts(connection, index, tenant)
    weights = {term: idf(texts, len(pairs)) for term, pairs in held.items()}
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


def _accepted(connection: Connection, index: PgIndex, tenant: str, where: Filter) -> npt.NDArray[np.int32]:
    """Numbers of the points that pass, packed by the server: there may be many."""
    conditions = FilterCompiler()
    parts = {"points": index.points, "where": conditions.of(where)}
    values = {"tenant": text(tenant), **conditions.values}
    packed = execute(connection, QUERIES["numbers_that_pass"], values, **parts).scalar_one()
    return np.frombuffer(packed or b"", dtype=">i4").astype(np.int32)


def _names(connection: Connection, index: PgIndex, numbers: npt.NDArray[np.int32]) -> dict[int, str]:
    values = {"numbers": numbers.tolist()}
    found = execute(connection, QUERIES["ids_of_numbers"], values, points=index.points)
    return {row[0]: row[1] for row in found}


def term_idf(connection: Connection, name: str, term_ids: Sequence[int]) -> list[float]:
    """How rare each term is in the index, over all tenants."""
    index = load(connection, name)
    texts, holding = _texts(connection, index, None), postings.counts(connection, index, term_ids)
    return [idf(texts, holding.get(term, 0)) for term in term_ids]


def _texts(connection: Connection, index: PgIndex, tenant: str | None) -> int:
    """Points that have terms at all."""
    values = {"name": text(index.name), "tenant": None if tenant is None else text(tenant)}
    return int(execute(connection, QUERIES["count_texts"], values).scalar_one())
