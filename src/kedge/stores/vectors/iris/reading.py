"""Statements that read. A statement holds names that Kedge makes and question marks; everything else is bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kedge.core.values.filters import Filter
from kedge.stores.batches import batches
from kedge.stores.ports import StoredPoint, Vector
from kedge.stores.queries import filled, load_queries
from kedge.stores.vectors.ids import inner_id, outer_id
from kedge.stores.vectors.iris.conditions import condition_of
from kedge.stores.vectors.iris.encode import marks, tenant_fact, text_fact, vector_of, vector_text
from kedge.stores.vectors.iris.session import IrisTransaction
from kedge.stores.vectors.iris.tables import IrisTable
from kedge.stores.vectors.rules import SPARE, tied, wider_fetch

QUERIES = load_queries(__package__, "queries.sql")
_CASE = "WHEN ? THEN CAST(? AS DOUBLE)"
_BATCH = 100
"""Ids or terms in one statement."""
_PAGE_SIZE = 1000


@dataclass(frozen=True, slots=True)
class IrisSearch:
    """One search of either kind."""

    table: IrisTable
    tenant: str
    limit: int
    where: Filter | None
    digits: int
    """Decimals within which scores tie."""


def nearest_hits(work: IrisTransaction, asked: IrisSearch, vector: Vector, kind: str) -> list[tuple[str, float]]:
    """Ids with their cosines, best first; more than the limit when there are ties."""
    own = condition_of(asked.table.name, "id", asked.tenant, asked.where)
    statement = filled(QUERIES["nearest"], type=kind, table=asked.table.name, where=f"({own.sql})")
    return _best(work, asked, statement, [vector_text(vector), *own.parameters])


def keyword_hits(work: IrisTransaction, asked: IrisSearch, weights: Mapping[int, float]) -> list[tuple[str, float]]:
    """Ids with their BM25 scores, best first; the weights are those of the question times idf."""
    own = condition_of(asked.table.name, "doc_id", asked.tenant, asked.where)
    parts = {"cases": " ".join(_CASE for _ in weights), "marks": marks(list(weights)), "where": f"({own.sql})"}
    statement = filled(QUERIES["best_by_terms"], table=asked.table.name, **parts)
    cases = [value for term, weight in weights.items() for value in (term, weight)]
    return _best(work, asked, statement, [*cases, *weights, *own.parameters])


def count_rows(work: IrisTransaction, table: IrisTable, tenant: str, where: Filter | None) -> int:
    """How many rows pass."""
    own = condition_of(table.name, "id", tenant, where)
    return int(work.rows(filled(QUERIES["count_documents"], table=table.name, where=own.sql), own.parameters)[0][0])


def id_page(work: IrisTransaction, table: IrisTable, tenant: str, last: str) -> tuple[list[str], str]:
    """The next ids, and where to go on."""
    rows = work.rows(filled(QUERIES["following_ids"], table=table.name), [_PAGE_SIZE, *tenant_fact(tenant), last])
    return [outer_id(UUID(row[0]), tenant) for row in rows], rows[-1][0] if rows else last


def read_points(work: IrisTransaction, table: IrisTable, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
    """Vectors and terms of the points that are there."""
    inner = [str(inner_id(id, tenant)) for id in ids]
    vectors = {id: vector_of(held) for id, held in _in_batches(work, QUERIES["read_vectors"], table, inner)}
    weights: dict[str, dict[int, float]] = {}
    for id, term, weight in _in_batches(work, QUERIES["read_terms"], table, list(vectors)):
        weights.setdefault(id, {})[int(term)] = float(weight)
    return {outer_id(UUID(id), tenant): StoredPoint(held, weights.get(id, {})) for id, held in vectors.items()}


def text_count(work: IrisTransaction, table: IrisTable, tenant: str | None) -> int:
    """How many points have terms: one tenant's, or all."""
    if tenant is None:
        rows = work.rows(filled(QUERIES["count_texts"], table=table.name), text_fact("")[:1])
    else:
        rows = work.rows(filled(QUERIES["count_texts_of_tenant"], table=table.name), text_fact(tenant))
    return int(rows[0][0])


def term_counts(work: IrisTransaction, table: IrisTable, terms: Sequence[int], tenant: str | None) -> dict[int, int]:
    """How many points hold each of the terms: one tenant's, or all. Terms that none holds are left out."""
    distinct = list(dict.fromkeys(terms))
    if tenant is None:
        found = _in_batches(work, QUERIES["count_by_term"], table, distinct)
    else:
        own = condition_of(table.name, "doc_id", tenant, None)
        statement = filled(QUERIES["count_by_term_of_tenant"], where=own.sql)
        found = _in_batches(work, statement, table, distinct, own.parameters)
    return {int(term): int(count) for term, count in found}


def _best(
    work: IrisTransaction, asked: IrisSearch, statement: str, parameters: Sequence[Any]
) -> list[tuple[str, float]]:
    """Fetches on for as long as the last one fetched ties with the last one wanted."""
    fetch = asked.limit + SPARE
    while True:
        rows = work.rows(statement, [fetch, *parameters])
        if len(rows) < fetch or not tied(rows[-1][1], rows[asked.limit - 1][1], asked.digits):
            break
        wider = wider_fetch(fetch, asked.limit)
        if wider is None:
            break
        fetch = wider
    return [(outer_id(UUID(id), asked.tenant), float(score)) for id, score in rows]


def _in_batches(
    work: IrisTransaction, statement: str, table: IrisTable, values: Sequence[Any], parameters: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for batch in batches(values, _BATCH):
        rows += work.rows(filled(statement, table=table.name, marks=marks(batch)), [*batch, *parameters])
    return rows
