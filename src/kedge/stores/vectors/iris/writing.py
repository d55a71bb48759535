"""Statements that write points. An existing point is replaced whole, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kedge.stores.ports import Point
from kedge.stores.queries import filled, load_queries
from kedge.stores.vectors.ids import inner_id
from kedge.stores.vectors.iris.encode import facts_of, metadata_text, vector_text
from kedge.stores.vectors.iris.session import IrisTransaction
from kedge.stores.vectors.iris.tables import IrisTable

QUERIES = load_queries(__package__, "queries.sql")


def write_points(
    work: IrisTransaction, table: IrisTable, tenant: str, rows: Sequence[tuple[Point, Mapping[int, float]]]
) -> None:
    """Replace these points."""
    held = [(str(inner_id(point.id, tenant)), point, weights) for point, weights in rows]
    delete_points(work, table, [id for id, _, _ in held])
    work.run_many(
        filled(QUERIES["add_document"], table=table.name),
        [(id, point.text, vector_text(point.vector), metadata_text(point.payload)) for id, point, _ in held],
    )
    work.run_many(
        filled(QUERIES["add_fact"], table=table.name),
        [(id, *fact) for id, point, weights in held for fact in facts_of(tenant, point.payload, bool(weights))],
    )
    work.run_many(
        filled(QUERIES["add_term"], table=table.name),
        [(id, term, weight) for id, _, weights in held for term, weight in weights.items()],
    )


def delete_points(work: IrisTransaction, table: IrisTable, ids: Sequence[str]) -> None:
    """Remove these rows with their facts and terms."""
    for statement in (QUERIES["remove_facts"], QUERIES["remove_terms"], QUERIES["remove_document"]):
        work.run_many(filled(statement, table=table.name), [(id,) for id in ids])
