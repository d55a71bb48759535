"""Statements that read. A statement holds names that Kedge makes and question marks; everything else is bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kedge.stores.base import StoredPoint, Vector
from kedge.stores.edge.encode import inner_id, outer_id
from kedge.stores.filters import Filter
from kedge.stores.iris.conditions import condition_of
from kedge.stores.iris.encode import marks, tenant_fact, text_fact, vector_of, vector_text
from kedge.stores.iris.session import Transaction
from kedge.stores.iris.tables import Table

_NEAREST = (
    "SELECT TOP ? id, VECTOR_DOT_PRODUCT(embedding, TO_VECTOR(?, '{type}')) AS score "
    "FROM {table} WHERE embedding IS NOT NULL AND {where} ORDER BY score DESC"
)
_KEYWORDS = (
    "SELECT TOP ? doc_id, SUM(weight * CASE term_id {cases} END) AS score "
    "FROM {table}Terms WHERE term_id IN ({marks}) AND {where} GROUP BY doc_id ORDER BY score DESC"
)
_CASE = "WHEN ? THEN CAST(? AS DOUBLE)"
_COUNT = "SELECT COUNT(*) FROM {table} WHERE {where}"
_PAGE = "SELECT TOP ? doc_id FROM {table}Facts WHERE fact_field = ? AND fact_value = ? AND doc_id > ? ORDER BY doc_id"
_VECTORS = "SELECT id, embedding FROM {table} WHERE id IN ({marks})"
_TERMS = "SELECT doc_id, term_id, weight FROM {table}Terms WHERE doc_id IN ({marks})"
_TEXTS = "SELECT COUNT(*) FROM {table}Facts WHERE fact_field = ?"
_OWN_TEXTS = "SELECT COUNT(*) FROM {table}Facts WHERE fact_field = ? AND fact_value = ?"
_HOLDING = "SELECT term_id, COUNT(*) FROM {table}Terms WHERE term_id IN ({marks}){where} GROUP BY term_id"
_BATCH = 100
"""Ids or terms in one statement."""
_PAGE_SIZE = 1000
_SPARE = 16
"""Hits fetched beyond the limit, to see whether a tie crosses it."""


@dataclass(frozen=True, slots=True)
class Question:
    """One search of either kind."""

    table: Table
    tenant: str
    limit: int
    where: Filter | None
    digits: int
    """Decimals within which scores tie."""


def nearest_hits(work: Transaction, asked: Question, vector: Vector, kind: str) -> list[tuple[str, float]]:
    """Ids with their cosines, best first; more than the limit when there are ties."""
    own = condition_of(asked.table.name, "id", asked.tenant, asked.where)
    statement = _NEAREST.format(type=kind, table=asked.table.name, where=f"({own.sql})")
    return _best(work, asked, statement, [vector_text(vector), *own.parameters])


def keyword_hits(work: Transaction, asked: Question, weights: Mapping[int, float]) -> list[tuple[str, float]]:
    """Ids with their BM25 scores, best first; the weights are those of the question times idf."""
    own = condition_of(asked.table.name, "doc_id", asked.tenant, asked.where)
    statement = _KEYWORDS.format(
        cases=" ".join(_CASE for _ in weights), table=asked.table.name, marks=marks(list(weights)), where=f"({own.sql})"
    )
    cases = [value for term, weight in weights.items() for value in (term, weight)]
    return _best(work, asked, statement, [*cases, *weights, *own.parameters])


def count_rows(work: Transaction, table: Table, tenant: str, where: Filter | None) -> int:
    """How many rows pass."""
    own = condition_of(table.name, "id", tenant, where)
    return int(work.rows(_COUNT.format(table=table.name, where=own.sql), own.parameters)[0][0])


def id_page(work: Transaction, table: Table, tenant: str, last: str) -> tuple[list[str], str]:
    """The next ids, and where to go on."""
    rows = work.rows(_PAGE.format(table=table.name), [_PAGE_SIZE, *tenant_fact(tenant), last])
    return [outer_id(UUID(row[0]), tenant) for row in rows], rows[-1][0] if rows else last


def read_points(work: Transaction, table: Table, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
    """Vectors and terms of the points that are there."""
    inner = [str(inner_id(id, tenant)) for id in ids]
    vectors = {id: vector_of(held) for id, held in _in_batches(work, _VECTORS, table, inner)}
    weights: dict[str, dict[int, float]] = {}
    for id, term, weight in _in_batches(work, _TERMS, table, list(vectors)):
        weights.setdefault(id, {})[int(term)] = float(weight)
    return {outer_id(UUID(id), tenant): StoredPoint(held, weights.get(id, {})) for id, held in vectors.items()}


def text_count(work: Transaction, table: Table, tenant: str | None) -> int:
    """How many points have terms: one tenant's, or all."""
    if tenant is None:
        rows = work.rows(_TEXTS.format(table=table.name), text_fact("")[:1])
    else:
        rows = work.rows(_OWN_TEXTS.format(table=table.name), text_fact(tenant))
    return int(rows[0][0])


def term_counts(work: Transaction, table: Table, terms: Sequence[int], tenant: str | None) -> dict[int, int]:
    """How many points hold each of the terms: one tenant's, or all. Terms that none holds are left out."""
    where, parameters = "", ()
    if tenant is not None:
        own = condition_of(table.name, "doc_id", tenant, None)
        where, parameters = f" AND {own.sql}", own.parameters
    found = _in_batches(work, _HOLDING.replace("{where}", where), table, list(dict.fromkeys(terms)), parameters)
    return {int(term): int(count) for term, count in found}


def _best(work: Transaction, asked: Question, statement: str, parameters: Sequence[Any]) -> list[tuple[str, float]]:
    """Fetches on for as long as the last one fetched ties with the last one wanted."""
    fetch = asked.limit + _SPARE
    while True:
        rows = work.rows(statement, [fetch, *parameters])
        if len(rows) < fetch or not _tied(rows, asked):
            break
        fetch *= 4
    return [(outer_id(UUID(id), asked.tenant), float(score)) for id, score in rows]


def _tied(rows: Sequence[tuple[Any, ...]], asked: Question) -> bool:
    last, wanted = (round(float(row[1]), asked.digits) for row in (rows[-1], rows[asked.limit - 1]))
    return last >= wanted


def _in_batches(
    work: Transaction, statement: str, table: Table, values: Sequence[Any], parameters: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(values), _BATCH):
        batch = values[start : start + _BATCH]
        rows += work.rows(statement.format(table=table.name, marks=marks(batch)), [*batch, *parameters])
    return rows
