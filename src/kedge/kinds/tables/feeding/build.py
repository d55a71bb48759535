"""Builds one generation of a session's table: each file is a part, the parts together are the table.

Files with the same columns follow each other. A file whose rows each have their own value in a column that the table
has too (products to sales) is looked up: its other columns are joined to the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import duckdb
import numpy as np

from kedge.core.errors import SourceFault, UnfittingError
from kedge.core.values import Metadata
from kedge.ingest.apart.limits import ParseLimits
from kedge.kinds.tables.feeding.clean import KEPT_CHARS, BadRow, OnBytes
from kedge.kinds.tables.feeding.files import TableFile, stage
from kedge.kinds.tables.feeding.telling import Staged, described, one, tell
from kedge.kinds.tables.readings.load import small, written_relation
from kedge.kinds.tables.schema import ROW, ColumnType, Table
from kedge.kinds.tables.state import RELATION
from kedge.kinds.tables.values import TablePart
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "queries.sql")
SOURCE = "source"
"""Column of the relation with the number of the file that a row comes from."""
SQL_TYPES = {
    ColumnType.TEXT: "VARCHAR",
    ColumnType.CATEGORY: "VARCHAR",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.TIME: "TIMESTAMP",
    ColumnType.CLOCK: "BIGINT",
}


def take_in(
    connection: duckdb.DuckDBPyConnection,
    file: TableFile,
    place: int,
    *,
    file_hash: str,
    options: Metadata,
    on_bytes: OnBytes,
    limits: ParseLimits | None = None,
) -> TablePart:
    """Read the file into the relation `part_<place>`; rows that cannot be used go to `bad_rows`. Raises SourceFault."""
    staging = stage(connection, file, options, on_bytes, limits)
    columns = tell(connection, staging.names)
    connection.execute(QUERIES["make_bad_rows"])
    _keep_bad(connection, place, staging.bad)
    misfits = _set_aside(connection, place, columns)
    cells = ", ".join(f"{column.expression} AS {column.field}" for column in columns)
    relation = f"part_{place}"
    connection.execute(
        f"CREATE OR REPLACE TABLE {relation} AS SELECT {ROW}, {cells} FROM raw "  # noqa: S608
        f"WHERE line NOT IN (SELECT line FROM bad_rows WHERE source = {place}) ORDER BY {ROW}"
    )
    _keep_written(connection, place, columns)
    connection.execute(QUERIES["drop_staged"])
    rows = int(one(connection, f"SELECT count(*) FROM {relation}")[0])  # noqa: S608
    notes = [*staging.notes, *(f"{column.name}: {column.note}" for column in columns if column.note)]
    return TablePart(
        url=file.url,
        name=file.name,
        format=staging.format,
        size=file.size,
        hash=file_hash,
        relation=relation,
        columns=tuple((column.name, column.type.value) for column in columns),
        rows=rows,
        bad=len(staging.bad) + misfits,
        notes=tuple(notes),
        place=place,
    )


def compose(
    connection: duckdb.DuckDBPyConnection,
    parts: Sequence[TablePart],
    name: str,
    on_refused: Callable[[TablePart, SourceFault], None],
) -> tuple[Table, list[TablePart]]:
    """Make the relation of the table out of its parts; returns it with the parts that are in it."""
    followers = _largest(parts)
    lookups = [part for part in parts if part not in followers]
    names = [column for column, _ in followers[0].columns]
    types = {column: _common([_type_of(part, column) for part in followers]) for column in names}
    if len(parts) == 1:
        connection.execute(f"ALTER TABLE {followers[0].relation} RENAME TO {RELATION}")
        connection.execute(f"ALTER TABLE {RELATION} ADD COLUMN IF NOT EXISTS {SOURCE} SMALLINT DEFAULT 0")
        placed = [replace(followers[0], relation=RELATION)]
    else:
        _append(connection, followers, types)
        placed = _with_offsets(followers)
    staged = [Staged(column, f"c{place}", types[column], "") for place, column in enumerate(names)]
    for part in lookups:
        try:
            staged = _look_up(connection, part, staged)
            placed.append(replace(part, role="lookup"))
        except UnfittingError as fault:
            on_refused(part, fault)
            connection.execute(f"DROP TABLE {part.relation}")
    rows = int(one(connection, f"SELECT count(*) FROM {RELATION}")[0])  # noqa: S608
    return Table(name, RELATION, tuple(described(connection, RELATION, staged)), rows), placed


def _largest(parts: Sequence[TablePart]) -> list[TablePart]:
    """The parts with the same columns that have most rows together: they are the table, the others are joined to it."""
    groups: dict[frozenset[str], list[TablePart]] = {}
    for part in parts:
        groups.setdefault(frozenset(column.casefold() for column, _ in part.columns), []).append(part)
    return max(groups.values(), key=lambda group: sum(part.rows for part in group))


def bounds(connection: duckdb.DuckDBPyConnection, table: Table) -> Table:
    """The table with the bounds of its number and date columns read from its rows."""
    wanted = [column for column in table.columns if column.type.compared or column.type.dated]
    if not wanted:
        return table
    asked = ", ".join(f"min({column.field}), max({column.field})" for column in wanted)
    row = one(connection, f"SELECT {asked} FROM {table.relation}")  # noqa: S608
    found = {column.field: (row[2 * place], row[2 * place + 1]) for place, column in enumerate(wanted)}
    columns = [
        replace(column, lowest=found[column.field][0], highest=found[column.field][1])
        if column.field in found
        else column
        for column in table.columns
    ]
    return replace(table, columns=tuple(columns))


def _keep_written(connection: duckdb.DuckDBPyConnection, place: int, columns: Sequence[Staged]) -> None:
    """Keep the cells of a small file as they are written: "28 lost" in a column of numbers says something too."""
    if small(int(one(connection, QUERIES["count_staged"])[0]), len(columns)):
        fields = ", ".join(f"coalesce({column.field}, '') AS {column.field}" for column in columns)
        connection.execute(
            f"CREATE OR REPLACE TABLE {written_relation(place)} AS SELECT {ROW}, {fields} FROM raw ORDER BY {ROW}"  # noqa: S608
        )


def _keep_bad(connection: duckdb.DuckDBPyConnection, place: int, bad: Sequence[BadRow]) -> None:
    if not bad:
        return
    columns = {
        "line": np.array([row.line for row in bad], dtype=np.int64),
        "reason": np.array([row.reason for row in bad], dtype=object),
        "text": np.array([row.text for row in bad], dtype=object),
    }
    connection.register("set_aside", columns)  # row by row, tens of thousands would take a minute
    connection.execute(QUERIES["keep_bad_rows"], [place])
    connection.unregister("set_aside")


def _set_aside(connection: duckdb.DuckDBPyConnection, place: int, columns: Sequence[Staged]) -> int:
    """Keep rows with a cell that its column cannot read beside the others; returns how many."""
    faulty = [column for column in columns if column.misfits]
    if not faulty:
        return 0
    cells = ", ".join(f"coalesce({column.field}, '')" for column in columns)
    tests, reasons = [], []
    for column in faulty:
        _, kept = column.expression, f"nullif(trim({column.field}), '')"
        test = f"({kept} IS NOT NULL AND lower({kept}) NOT IN {_empty()} AND ({column.expression}) IS NULL)"
        tests.append(test)
        reasons.append(f"CASE WHEN {test} THEN ? || {column.field} || ? END")
    words = [text for column in faulty for text in (f"{column.name}: '", f"' is no {_called(column.type)}")]
    before = one(connection, QUERIES["count_bad_rows"])[0]
    connection.execute(
        f"INSERT INTO bad_rows SELECT {place}, line, concat_ws('; ', {', '.join(reasons)}), "  # noqa: S608
        f"left(concat_ws(',', {cells}), {KEPT_CHARS}) FROM raw WHERE {' OR '.join(tests)}",
        words,
    )
    return int(one(connection, QUERIES["count_bad_rows"])[0] - before)


def _empty() -> str:
    from kedge.kinds.tables.feeding.formats import EMPTY

    return "(" + ", ".join(f"'{token}'" for token in EMPTY) + ")"


def _called(kind: ColumnType) -> str:
    return {"integer": "whole number", "real": "number", "time": "date and time", "id": "whole number"}.get(
        kind.value, kind.value
    )


def _type_of(part: TablePart, name: str) -> ColumnType:
    return next(ColumnType(kind) for column, kind in part.columns if column.casefold() == name.casefold())


def _field_of(part: TablePart, name: str) -> str:
    return next(f"c{place}" for place, (column, _) in enumerate(part.columns) if column.casefold() == name.casefold())


def _common(types: Sequence[ColumnType]) -> ColumnType:
    """The type that holds the values of all."""
    found = set(types)
    if len(found) == 1:
        return types[0]
    if found == {ColumnType.INTEGER, ColumnType.REAL}:
        return ColumnType.REAL
    if found == {ColumnType.DATE, ColumnType.TIME}:
        return ColumnType.TIME
    if ColumnType.ID in found and not found & {ColumnType.TEXT, ColumnType.CATEGORY}:
        return ColumnType.ID
    return ColumnType.TEXT if ColumnType.TEXT in found else ColumnType.CATEGORY


def _append(connection: duckdb.DuckDBPyConnection, parts: Sequence[TablePart], types: dict[str, ColumnType]) -> None:
    selects = []
    for number, part in enumerate(_with_offsets(parts)):
        cells = []
        for place, (name, kind) in enumerate(types.items()):
            target = SQL_TYPES.get(kind, "VARCHAR")
            same = all(_type_of(one_part, name) is kind for one_part in parts) or len(parts) == 1
            cast = "" if same and kind is not ColumnType.ID else f"::{target}"
            if kind is ColumnType.ID:
                cast = "" if len(parts) == 1 else "::VARCHAR"
            cells.append(f"{_field_of(part, name)}{cast} AS c{place}")
        selects.append(
            f"SELECT {ROW} + {part.offset} AS {ROW}, {number}::SMALLINT AS {SOURCE}, {', '.join(cells)} "  # noqa: S608
            f"FROM {part.relation}"
        )
    connection.execute(f"CREATE OR REPLACE TABLE {RELATION} AS {' UNION ALL '.join(selects)}")


def _with_offsets(parts: Sequence[TablePart]) -> list[TablePart]:
    placed, offset = [], 0
    for part in parts:
        placed.append(replace(part, offset=offset))
        offset += part.rows + part.bad
    return placed


def _look_up(connection: duckdb.DuckDBPyConnection, part: TablePart, staged: list[Staged]) -> list[Staged]:
    """Join the columns of the part by the key that both have. Raises UnfittingError."""
    known = {column.name.casefold(): column for column in staged}
    shared = [name for name, _ in part.columns if name.casefold() in known]
    for name in shared:
        field, mine = _field_of(part, name), known[name.casefold()].field
        distinct, filled = one(connection, f"SELECT count(DISTINCT {field}), count({field}) FROM {part.relation}")  # noqa: S608
        if not filled or distinct != filled:
            continue
        added = [(place, column, kind) for place, (column, kind) in enumerate(part.columns) if column not in shared]
        if not added:
            continue
        first = len(staged)
        cells = ", ".join(f"p.c{place} AS c{first + number}" for number, (place, _, _) in enumerate(added))
        connection.execute(
            f"CREATE OR REPLACE TABLE joined AS SELECT r.*, {cells} FROM {RELATION} r "  # noqa: S608
            f"LEFT JOIN {part.relation} p ON r.{mine}::VARCHAR = p.{field}::VARCHAR ORDER BY r.{ROW}"
        )
        connection.execute(f"DROP TABLE {RELATION}")
        connection.execute(f"ALTER TABLE joined RENAME TO {RELATION}")
        return staged + [
            Staged(column, f"c{first + number}", ColumnType(kind), "") for number, (_, column, kind) in enumerate(added)
        ]
    raise UnfittingError(
        f"{part.name} does not go with the rest of the table: its columns are other ones, and none of them is a key "
        f"that both have.",
        hint="Feed it into a session of its own, or give it the same columns.",
        details={"columns": [name for name, _ in part.columns]},
    )
