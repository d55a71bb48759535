"""A published generation, opened for reading: rows in DuckDB, read-only and cut off from the world, and the index."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from kedge.core.errors import StoreError
from kedge.kinds.tables.asking.vocabulary import Vocabulary, read_vocabulary
from kedge.kinds.tables.feeding.build import SOURCE, bounds
from kedge.kinds.tables.finding.index import TableIndex
from kedge.kinds.tables.readings.large import SampledTable
from kedge.kinds.tables.readings.load import LoadedSheet, load_sheet, written_relation
from kedge.kinds.tables.schema import ROW, Table
from kedge.kinds.tables.state import DATABASE, INDEX, SessionState
from kedge.kinds.tables.values import RefusedRow, TablePart
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "queries.sql")
_LOCKED: dict[str, str | bool | int | float | list[str]] = {
    "python_enable_replacements": False,
    "enable_external_access": False,
    "lock_configuration": True,
}
"""Given while connecting, never set afterwards: DuckDB keeps one instance of a file in a process and all its
connections share its configuration, so that only the first of two readers could still set it."""


def open_rows(folder: Path) -> duckdb.DuckDBPyConnection:
    """The rows of a published generation, read-only and cut off from the world; close it. duckdb.Error.

    Everybody who reads a published generation comes this way: DuckDB refuses a second configuration of an open file.
    """
    return duckdb.connect(str(folder / DATABASE), read_only=True, config=_LOCKED)


@dataclass(slots=True, eq=False)
class Generation:
    """What readers of a session use. Closed when it is retired and its last reader has gone."""

    state: SessionState
    folder: Path
    table: Table
    connection: duckdb.DuckDBPyConnection
    users: int = 0
    retired: bool = False
    row_vectors: dict[int, NDArray[np.float32]] = field(default_factory=dict)
    """By combination of texts: the vector of what it says as a whole, as questions needed it."""
    _index: TableIndex | None = None
    _vocabulary: Vocabulary | None = None
    _sheet: LoadedSheet | None = None
    _sampled: SampledTable | None = None
    _loading: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, state: SessionState, folder: Path) -> Generation:
        """Open the rows, from any number of threads and processes at once. StoreError when they cannot be read."""
        try:
            with ExitStack() as undo:
                connection = undo.enter_context(open_rows(folder))
                opened = cls(state, folder, bounds(connection, state.table), connection)
                undo.pop_all()
                return opened
        except duckdb.Error as error:
            raise StoreError(
                f"The rows of session {state.scope.collection!r} cannot be read.", hint="Feed the session again."
            ) from error

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own for one reader; close it."""
        return self.connection.cursor()

    def index(self) -> TableIndex:
        """The index, loaded at first use. StoreError when it cannot be."""
        with self._loading:
            if self._index is None:
                try:
                    self._index = TableIndex.load(self.folder / INDEX)
                except (OSError, ValueError, EOFError) as error:
                    raise StoreError(
                        f"The search index of session {self.state.scope.collection!r} cannot be read.",
                        hint="Feed the session again to build it anew.",
                    ) from error
            return self._index

    def vocabulary(self) -> Vocabulary:
        """What questions may name, read at first use."""
        with self._loading:
            if self._vocabulary is None:
                self._vocabulary = read_vocabulary(self.connection, self.table)
            return self._vocabulary

    def sheet(self) -> LoadedSheet | None:
        """The table in memory, read at first use; None for a large one. StoreError when it cannot be read."""
        with self._loading:
            if self._sheet is None:
                cursor = self.cursor()
                try:
                    self._sheet = load_sheet(cursor, self.table, self._written(cursor))
                except duckdb.Error as error:
                    raise StoreError(
                        f"The rows of session {self.state.scope.collection!r} cannot be read.",
                        hint="Feed the session again.",
                    ) from error
                finally:
                    cursor.close()
            return self._sheet

    def sampled(self) -> SampledTable:
        """Some rows of a large table, for the readings of questions. Made at first use."""
        vocabulary = self.vocabulary()
        with self._loading:
            if self._sampled is None:
                self._sampled = SampledTable(self.connection, vocabulary)
            return self._sampled

    def _written(self, cursor: duckdb.DuckDBPyConnection) -> str | None:
        """The relation with the cells as the one file of this table writes them, where it was kept."""
        if len(self.state.parts) != 1:
            return None
        name = written_relation(self.state.parts[0].place)
        return name if (name,) in cursor.execute(QUERIES["tables"]).fetchall() else None

    def part(self, source: int) -> TablePart:
        """The file that rows with this source number come from."""
        rows = [part for part in self.state.parts if part.role == "rows"]
        return rows[source] if source < len(rows) else rows[0]

    def rows(
        self, cursor: duckdb.DuckDBPyConnection, numbers: Sequence[int]
    ) -> list[tuple[int, TablePart, tuple[Any, ...]]]:
        """(row number, file, values) of these rows, in the order given."""
        fields = ", ".join(column.field for column in self.table.columns)
        found = cursor.execute(
            f"SELECT {ROW}, {SOURCE}, {fields} FROM {self.table.relation} WHERE {ROW} IN (SELECT unnest(?))",  # noqa: S608
            [list(numbers)],
        ).fetchall()
        by_number = {row[0]: (row[0], self.part(row[1]), row[2:]) for row in found}
        return [by_number[number] for number in numbers if number in by_number]

    def matching(self, cursor: duckdb.DuckDBPyConnection, condition: str, values: Sequence[Any]) -> NDArray[np.int64]:
        """Numbers of the rows that pass a condition."""
        found = cursor.execute(
            f"SELECT {ROW} FROM {self.table.relation} WHERE {condition} ORDER BY {ROW}",  # noqa: S608 (made by `where`)
            list(values),
        ).fetchnumpy()
        return np.asarray(found[ROW], dtype=np.int64)

    def bad_rows(self, cursor: duckdb.DuckDBPyConnection, limit: int, offset: int = 0) -> list[RefusedRow]:
        """Records that were put aside, by file and line."""
        found = cursor.execute(QUERIES["bad_rows"], [limit, offset]).fetchall()
        names = {part.place: part.name for part in self.state.parts}
        return [RefusedRow(names.get(source, ""), line, reason, text) for source, line, reason, text in found]

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()
        self._index = None
