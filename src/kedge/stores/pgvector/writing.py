"""Adding and removing points. One writer at a time (`Database.write`), so counts stay exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg.sql import SQL
from sqlalchemy import Connection

from kedge.stores.base import Point
from kedge.stores.catalog.database import batches
from kedge.stores.pgvector.encode import payload_json, text, unit
from kedge.stores.pgvector.tables import Index, execute, load
from kedge.stores.rules import check_points, is_id
from kedge.text.analyze import SparseTerms

_BATCH = 1000
_TERMS = SparseTerms()
_ADD = SQL(
    "INSERT INTO {points} (tenant, id, vector, payload, terms, weights) VALUES"
    " (%s, %s::uuid, %s::vector, %s::jsonb, %s::int4[], %s::real[])"
)
# In the order of the index that they go into.
_ADD_POSTINGS = SQL(
    "INSERT INTO {postings} (term, tenant, id, weight) SELECT listed.term, p.tenant, p.id, listed.weight"
    " FROM {points} AS p, unnest(p.terms, p.weights) AS listed (term, weight)"
    " WHERE p.tenant = %(tenant)s AND p.id = ANY(%(ids)s::uuid[]) ORDER BY 1, 2, 3"
)
_REMOVE = SQL(
    "WITH gone AS (DELETE FROM {points} WHERE tenant = %(tenant)s AND id = ANY(%(ids)s::uuid[]) RETURNING id, terms),"
    " cut AS (DELETE FROM {postings} AS p USING (SELECT gone.id, unnest(gone.terms) AS term FROM gone) AS held"
    " WHERE p.term = held.term AND p.tenant = %(tenant)s AND p.id = held.id)"
    " SELECT count(*), count(*) FILTER (WHERE cardinality(terms) > 0) FROM gone"
)
_COUNT = SQL(
    "INSERT INTO kedge_vector_tenants AS held (name, tenant, points, texts)"
    " VALUES (%(name)s, %(tenant)s, %(points)s, %(texts)s) ON CONFLICT (name, tenant) DO UPDATE"
    " SET points = held.points + excluded.points, texts = held.texts + excluded.texts"
)


def signed(term: int) -> int:
    """A term's id as the server's integers hold it; its own inverse is `unsigned`."""
    return term - (1 << 32) if term >= 1 << 31 else term


def unsigned(term: int) -> int:
    """The way back."""
    return term % (1 << 32)


def upsert(connection: Connection, name: str, tenant: str, points: Sequence[Point]) -> None:
    """Replace what has these ids; the last of equal ids wins."""
    index = load(connection, name)
    check_points(points, index.dimension, name)
    latest = {point.id: point for point in points}
    for some in batches(latest.values(), _BATCH):
        ids = [point.id for point in some]
        gone, texts_gone = _remove(connection, index, tenant, ids)
        rows = [_row(tenant, point) for point in some]
        connection.exec_driver_sql(_ADD.format(points=index.points).as_string(), rows)
        add = _ADD_POSTINGS.format(points=index.points, postings=index.postings)
        execute(connection, add, {"tenant": text(tenant), "ids": ids})
        _count(connection, index, tenant, len(rows) - gone, sum(1 for row in rows if row[4]) - texts_gone)


def delete(connection: Connection, name: str, tenant: str, ids: Sequence[str]) -> None:
    """Remove what has these ids."""
    index = load(connection, name)
    for some in batches((id for id in dict.fromkeys(ids) if is_id(id)), _BATCH):
        gone, texts_gone = _remove(connection, index, tenant, some)
        _count(connection, index, tenant, -gone, -texts_gone)


def _row(tenant: str, point: Point) -> tuple[Any, ...]:
    weights = _TERMS.term_weights(point.text)
    terms = [signed(term) for term in weights]
    return (text(tenant), point.id, unit(point.vector), payload_json(point.payload), terms, list(weights.values()))


def _remove(connection: Connection, index: Index, tenant: str, ids: list[str]) -> tuple[int, int]:
    remove = _REMOVE.format(points=index.points, postings=index.postings)
    points, texts = execute(connection, remove, {"tenant": text(tenant), "ids": ids}).one()
    return int(points), int(texts)


def _count(connection: Connection, index: Index, tenant: str, points: int, texts: int) -> None:
    if points or texts:
        values = {"name": text(index.name), "tenant": text(tenant), "points": points, "texts": texts}
        execute(connection, _COUNT, values)
