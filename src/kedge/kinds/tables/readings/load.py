"""The sheet of a session's table: its cells as the file writes them, where it is small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

import duckdb

from kedge.answer.sheets.sheet import MOST_ROWS, Sheet, build_sheet
from kedge.kinds.tables.schema import ROW, Table

_CELLS = 100_000
"""Most cells of a sheet: a wide table has fewer rows."""


@dataclass(frozen=True, slots=True)
class LoadedSheet:
    """A sheet and where its rows come from."""

    sheet: Sheet
    numbers: Sequence[int]
    """Row number of each row of the sheet."""


def written_relation(place: int) -> str:
    """Name of the relation that keeps the cells of a small file as they are written."""
    return f"written_{place}"


def small(rows: int, columns: int) -> bool:
    """Whether a table of this size is read whole."""
    return 0 < rows <= MOST_ROWS and rows * columns <= _CELLS


def load_sheet(cursor: duckdb.DuckDBPyConnection, table: Table, written: str | None) -> LoadedSheet | None:
    """The sheet of a small table; None for a large one. `written` names its cells as they stood in the file.

    Those also hold the rows that were put aside because one cell is no number: a sheet has no use for such a rule.
    """
    if not small(table.rows, len(table.columns)):
        return None
    fields = ", ".join(column.field for column in table.columns)
    # Names of our own only.
    statement = f"SELECT {ROW}, {fields} FROM {written or table.relation} ORDER BY {ROW}"  # noqa: S608
    rows = cursor.execute(statement).fetchall()
    cells = [[cell_text(cell) for cell in row[1:]] for row in rows]
    return LoadedSheet(build_sheet([column.name for column in table.columns], cells), [int(row[0]) for row in rows])


def cell_text(cell: object) -> str:
    """A cell as people write it."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.15g}"
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    return cell.isoformat() if isinstance(cell, date) else str(cell)
