"""Rows by their words without an index: every row is read. Slower, and as complete (T-12, T-13)."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from kedge.kinds.tables.generation import Generation
from kedge.kinds.tables.schema import ROW


def scan_rows(
    generation: Generation,
    cursor: duckdb.DuckDBPyConnection,
    stems: Sequence[str],
    *,
    k: int,
    threshold: float,
    allowed: Sequence[int] | None,
) -> list[tuple[int, float]]:
    """Numbers of at most `k` rows with the share of the question's words that each holds, best first, then by number.

    Only rows that hold a word, and at least the share `threshold` of them.
    """
    if not stems:
        return []
    fields = ", ".join(f"CAST({column.field} AS VARCHAR)" for column in generation.table.columns)
    within = "" if allowed is None else f"WHERE {ROW} IN (SELECT unnest(?))"
    share = " + ".join("CAST(contains(words, ?) AS INTEGER)" for _ in stems)
    statement = (
        f"SELECT number, ({share}) / {len(stems)}.0 AS score FROM "  # noqa: S608 (names of our own)
        f"(SELECT {ROW} AS number, lower(concat_ws(' ', {fields})) AS words FROM {generation.table.relation} {within}) "
        "WHERE score > 0 AND score >= ? ORDER BY score DESC, number LIMIT ?"
    )
    listed = [] if allowed is None else [list(allowed)]
    return [
        (int(number), float(score))
        for number, score in cursor.execute(statement, [*stems, *listed, threshold, k]).fetchall()
    ]
