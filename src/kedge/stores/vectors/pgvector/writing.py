"""Adding and removing points. One writer at a time (`Database.write`), so counts stay exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from psycopg.sql import SQL
from sqlalchemy import Connection

from kedge.stores.batches import batches
from kedge.stores.ports import Point
from kedge.stores.queries import load_queries
from kedge.stores.vectors.pgvector import postings
from kedge.stores.vectors.pgvector.encode import TERM, Terms, payload_json, terms_of, text
from kedge.stores.vectors.pgvector.tables import PgIndex, execute, load
from kedge.stores.vectors.rules import check_points, is_id, unit
from kedge.text.analyze import SparseTerms

_BATCH = 1000
_TERMS = SparseTerms()
QUERIES = load_queries(__package__, "queries.sql")


def upsert(connection: Connection, name: str, tenant: str, points: Sequence[Point]) -> None:
    """Replace what has these ids; the last of equal ids wins."""
    index = load(connection, name)
    check_points(points, index.dimension, name)
    latest = {point.id: point for point in points}
    for some in batches(latest.values(), _BATCH):
        gone, texts_gone = _remove(connection, index, tenant, [point.id for point in some])
        named = {"name": text(name), "count": len(some)}
        first = int(execute(connection, QUERIES["take_numbers"], named).scalar_one()) - len(some)
        held = [terms_of(_TERMS.term_weights(point.text)) for point in some]
        rows = [_row(tenant, point, first + place, held[place]) for place, point in enumerate(some)]
        connection.exec_driver_sql(SQL(QUERIES["add_points"]).format(points=index.points).as_string(), rows)
        postings.add(connection, index, tenant, first, held)
        _count(connection, index, tenant, len(rows) - gone, sum(1 for terms in held if len(terms)) - texts_gone)


def delete(connection: Connection, name: str, tenant: str, ids: Sequence[str]) -> None:
    """Remove what has these ids."""
    index = load(connection, name)
    for some in batches((id for id in dict.fromkeys(ids) if is_id(id)), _BATCH):
        gone, texts_gone = _remove(connection, index, tenant, some)
        _count(connection, index, tenant, -gone, -texts_gone)


def _row(tenant: str, point: Point, number: int, terms: Terms) -> tuple[Any, ...]:
    return (text(tenant), point.id, number, unit(point.vector), payload_json(point.payload), terms.tobytes())


def _remove(connection: Connection, index: PgIndex, tenant: str, ids: list[str]) -> tuple[int, int]:
    """How many were there, and how many of them had a text."""
    values = {"tenant": text(tenant), "ids": ids}
    found = execute(connection, QUERIES["remove_points"], values, points=index.points)
    gone = [(number, np.frombuffer(packed, dtype=TERM)) for number, packed in found]
    postings.remove(connection, index, tenant, gone)
    return len(gone), sum(1 for _, terms in gone if len(terms))


def _count(connection: Connection, index: PgIndex, tenant: str, points: int, texts: int) -> None:
    if points or texts:
        values = {"name": text(index.name), "tenant": text(tenant), "points": points, "texts": texts}
        execute(connection, QUERIES["add_to_counts"], values)
