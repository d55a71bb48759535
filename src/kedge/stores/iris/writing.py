"""Statements that write points. An existing point is replaced whole, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kedge.stores.base import Point
from kedge.stores.edge.encode import inner_id
from kedge.stores.iris.encode import facts_of, metadata_text, vector_text
from kedge.stores.iris.session import Transaction
from kedge.stores.iris.tables import Table

_DELETE = ("DELETE FROM {table}Facts WHERE doc_id = ?", "DELETE FROM {table}Terms WHERE doc_id = ?")
_DELETE_DOCUMENT = "DELETE FROM {table} WHERE id = ?"
_DOCUMENT = "INSERT INTO {table} (id, text_content, embedding, metadata) VALUES (?, ?, TO_VECTOR(?, 'DOUBLE'), ?)"
_FACT = "INSERT INTO {table}Facts (doc_id, fact_field, fact_value, fact_number) VALUES (?, ?, ?, ?)"
_TERM = "INSERT INTO {table}Terms (doc_id, term_id, weight) VALUES (?, ?, ?)"


def write_points(
    work: Transaction, table: Table, tenant: str, rows: Sequence[tuple[Point, Mapping[int, float]]]
) -> None:
    """Replace these points."""
    held = [(str(inner_id(point.id, tenant)), point, weights) for point, weights in rows]
    delete_points(work, table, [id for id, _, _ in held])
    work.run_many(
        _DOCUMENT.format(table=table.name),
        [(id, point.text, vector_text(point.vector), metadata_text(point.payload)) for id, point, _ in held],
    )
    work.run_many(
        _FACT.format(table=table.name),
        [(id, *fact) for id, point, weights in held for fact in facts_of(tenant, point.payload, bool(weights))],
    )
    work.run_many(
        _TERM.format(table=table.name),
        [(id, term, weight) for id, _, weights in held for term, weight in weights.items()],
    )


def delete_points(work: Transaction, table: Table, ids: Sequence[str]) -> None:
    """Remove these rows with their facts and terms."""
    for statement in (*_DELETE, _DELETE_DOCUMENT):
        work.run_many(statement.format(table=table.name), [(id,) for id in ids])
