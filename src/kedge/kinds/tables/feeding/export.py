"""Rows and put-aside records written as CSV that a spreadsheet may open: no cell of it is a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from kedge.kinds.tables.finding.rowtext import csv_cell
from kedge.kinds.tables.generation import Generation
from kedge.kinds.tables.schema import ROW

PIECE = 5000


def write_csv(target: TextIO, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write a header and rows; returns how many rows."""
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([csv_cell(name) for name in header])
    count = 0
    for row in rows:
        writer.writerow([csv_cell(value) for value in row])
        count += 1
    return count


def export_rows(generation: Generation, target: TextIO) -> int:
    """All rows in order, under the names of the file."""
    fields = ", ".join(column.field for column in generation.table.columns)
    cursor = generation.cursor()
    try:
        cursor.execute(f"SELECT {fields} FROM {generation.table.relation} ORDER BY {ROW}")  # noqa: S608
        pieces = iter(lambda: cursor.fetchmany(PIECE), [])
        header = [column.name for column in generation.table.columns]
        return write_csv(target, header, (row for piece in pieces for row in piece))
    finally:
        cursor.close()


def export_bad_rows(generation: Generation, target: TextIO) -> int:
    """What was put aside: file, line, reason and the record as it stands."""
    cursor = generation.cursor()
    try:
        rows = generation.bad_rows(cursor, generation.state.bad_rows + 1)
    finally:
        cursor.close()
    return write_csv(
        target, ("file", "line", "reason", "text"), ((row.file, row.line, row.reason, row.text) for row in rows)
    )
