"""Statements that write points. An existing point is replaced whole, in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from kedge.stores.ports import Point
from kedge.stores.queries import filled, load_queries
from kedge.stores.vectors.ids import inner_id
from kedge.stores.vectors.iris.encode import facts_of, metadata_text, vector_text
from kedge.stores.vectors.iris.session import IrisTransaction
from kedge.stores.vectors.iris.tables import IrisTable

QUERIES = load_queries(__package__, "queries.sql")
WeighedPoint: TypeAlias = tuple[Point, Mapping[int, float]]
"""A point with the weights of its terms."""
MOST_ROWS = 450
"""Rows of one table that one transaction replaces: from 1,000 changed rows on the server locks the whole table, and a
replaced row is a deleted and an added one."""


def transactions(tenant: str, rows: Sequence[WeighedPoint]) -> Iterator[list[WeighedPoint]]:
    """The points in parts that each stay below lock escalation; a point is never parted, however long its text is."""
    part: list[WeighedPoint] = []
    facts = terms = 0
    for point, weights in rows:
        own = len(facts_of(tenant, point.payload, bool(weights)))
        if part and (facts + own > MOST_ROWS or terms + len(weights) > MOST_ROWS or len(part) >= MOST_ROWS):
            yield part
            part, facts, terms = [], 0, 0
        part.append((point, weights))
        facts, terms = facts + own, terms + len(weights)
    if part:
        yield part


def write_points(work: IrisTransaction, table: IrisTable, kind: str, tenant: str, rows: Sequence[WeighedPoint]) -> None:
    """Replace these points; `kind` is the keyword of the vectors' type."""
    held = [(str(inner_id(point.id, tenant)), point, weights) for point, weights in rows]
    delete_points(work, table, [id for id, _, _ in held])
    work.run_many(
        filled(QUERIES["add_document"], table=table.name, type=kind),
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
