"""Single rows changed in place: the next generation is a copy of the last one with these rows put in, replaced or gone.

Only texts that are new are embedded; the others keep their vectors.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import duckdb

from kedge.core.errors import KedgeError, StoreError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import Json, Scope
from kedge.kinds.tables.feeding.build import SOURCE, SQL_TYPES
from kedge.kinds.tables.feeding.telling import Staged, described, one
from kedge.kinds.tables.finding.build import build_index, known_texts
from kedge.kinds.tables.finding.where import column_named
from kedge.kinds.tables.schema import ROW, Column, Table
from kedge.kinds.tables.sessions import Sessions
from kedge.kinds.tables.state import DATABASE, INDEX, RELATION, SessionState
from kedge.kinds.tables.values import RowsChanged, TablePart
from kedge.models.ports import Embedder
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "queries.sql")
MOST_ROWS = 10_000


async def update_rows(
    settings: Settings,
    sessions: Sessions,
    scope: Scope,
    embedder: Embedder | None,
    *,
    key: str,
    upsert: Sequence[Mapping[str, Json]] = (),
    delete: Sequence[Json] = (),
) -> RowsChanged:
    """Rows whose `key` column has the value of a given row get its fields; unknown keys become new rows.

    Fields that are not given stay. Published in one step. Raises UsageError for values that do not fit their columns.
    """
    if len(upsert) + len(delete) > MOST_ROWS:
        raise UsageError(f"At most {MOST_ROWS:,} rows can be changed at once.", hint="Feed a file instead.")
    state = await sessions.state(scope)
    if not state.generation:
        raise UsageError(f"Session {scope.collection!r} holds no rows to change.", hint="Feed it a file first.")
    old = sessions.folders.generation(scope, state.generation)
    number = state.next_generation
    folder = sessions.folders.generation(scope, number)
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
        await asyncio.to_thread(shutil.copyfile, old / DATABASE, folder / DATABASE)
        with duckdb.connect(str(folder / DATABASE)) as connection:
            counts, table = await asyncio.to_thread(_apply, connection, state, key, upsert, delete)
            index = None
            if state.index is not None:
                index = await build_index(
                    connection,
                    table,
                    folder / INDEX,
                    embedder,
                    most_whole=settings.table_texts,
                    known=lambda: known_texts(sessions, state, embedder.name if embedder else ""),
                    on_done=_quiet,
                )
    except (KedgeError, duckdb.Error, OSError) as error:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if isinstance(error, KedgeError):
            raise
        raise StoreError(f"The rows could not be changed: {error}", hint="The table is as it was.") from error
    fresh = replace(
        state,
        generation=number,
        fed_at=datetime.now(UTC),
        columns=tuple(replace(column, lowest=None, highest=None) for column in table.columns),
        rows=table.rows,
        parts=_merged(state, table),
        index=index,
    )
    await sessions.publish(fresh)
    return RowsChanged(*counts)


async def _quiet(_share: float) -> None:
    """Nobody watches."""


def _merged(state: SessionState, table: Table) -> tuple[TablePart, ...]:
    """The table is no longer what its files say: it is one part, named after the first."""
    first = state.parts[0]
    columns = tuple((column.name, column.type.value) for column in table.columns)
    return (replace(first, relation=RELATION, columns=columns, rows=table.rows, hash="", role="rows", offset=0),)


def _apply(
    connection: duckdb.DuckDBPyConnection,
    state: SessionState,
    key: str,
    upsert: Sequence[Mapping[str, Json]],
    delete: Sequence[Json],
) -> tuple[tuple[int, int, int], Table]:
    table = state.table
    keyed = column_named(key, table)
    connection.execute("BEGIN")
    deleted = _delete(connection, keyed, delete)
    updated = inserted = 0
    for number, row in enumerate(upsert, start=1):
        given = [(column_named(name, table), value) for name, value in row.items()]
        values = [(column, _cast(connection, column, value, number)) for column, value in given]
        mine = next((value for column, value in values if column.field == keyed.field), None)
        if mine is None:
            raise UsageError(f"Row {number} has no value for the key {keyed.name!r}.", hint="Give every row its key.")
        found = _update(connection, keyed, mine, values)
        updated += found
        if not found:
            _insert(connection, values)
            inserted += 1
    connection.execute("COMMIT")
    parts = connection.execute(QUERIES["part_tables"]).fetchall()
    for (name,) in parts:
        connection.execute(f"DROP TABLE {name}")
    staged = [Staged(column.name, column.field, column.type, "") for column in table.columns]
    rows = int(one(connection, f"SELECT count(*) FROM {RELATION}")[0])  # noqa: S608
    return (updated, inserted, deleted), replace(
        table, columns=tuple(described(connection, RELATION, staged)), rows=rows
    )


def _cast(connection: duckdb.DuckDBPyConnection, column: Column, value: Json, number: int) -> Any:
    """The value in the type of its column. UsageError when it cannot be."""
    if value is None or value == "":
        return None
    text = value if isinstance(value, str) else str(value)
    kind = SQL_TYPES.get(column.type, "VARCHAR")
    cast = connection.execute(f"SELECT TRY_CAST(? AS {kind})", [text]).fetchall()[0][0]
    if cast is None:
        raise UsageError(
            f"Row {number}: {text!r} does not fit the column {column.name!r}, which holds {column.type.value} values.",
            hint="Nothing was changed. Dates are written 2024-12-31.",
        )
    return cast


def _delete(connection: duckdb.DuckDBPyConnection, keyed: Column, keys: Sequence[Json]) -> int:
    if not keys:
        return 0
    texts = [str(key) for key in keys]
    found = connection.execute(
        f"DELETE FROM {RELATION} WHERE {keyed.field}::VARCHAR IN (SELECT unnest(?::VARCHAR[]))",  # noqa: S608
        [texts],
    ).fetchall()
    return int(found[0][0])


def _update(
    connection: duckdb.DuckDBPyConnection, keyed: Column, mine: Any, values: Sequence[tuple[Column, Any]]
) -> int:
    sets = ", ".join(f"{column.field} = ?" for column, _ in values)
    found = connection.execute(
        f"UPDATE {RELATION} SET {sets} WHERE {keyed.field}::VARCHAR = ?::VARCHAR",  # noqa: S608
        [*(value for _, value in values), str(mine)],
    ).fetchall()
    return int(found[0][0])


def _insert(connection: duckdb.DuckDBPyConnection, values: Sequence[tuple[Column, Any]]) -> None:
    fields = ", ".join(column.field for column, _ in values)
    marks = ", ".join("?" for _ in values)
    connection.execute(
        f"INSERT INTO {RELATION} ({ROW}, {SOURCE}, {fields}) "  # noqa: S608
        f"VALUES ((SELECT coalesce(max({ROW}), 0) + 1 FROM {RELATION}), 0, {marks})",
        [value for _, value in values],
    )
