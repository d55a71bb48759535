"""The catalog as one SQLite file, at one moment, and back into any database that can hold it.

SQLite is copied by its own online backup inside one read transaction: writers go on, and the copy is the database at
the moment it began. PostgreSQL is read table by table in one REPEATABLE READ transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Integer, Table, delete, func, insert, select, text

from kedge.core.errors import ConflictError
from kedge.core.values import Concept
from kedge.engine.backup.archive import OnPhase
from kedge.stores.catalog.sql import keys, postgresql, schema_graph, schema_nodes, sqlite, uploads
from kedge.stores.catalog.sql.database import Database, read_url
from kedge.stores.catalog.sql.failures import translated
from kedge.stores.catalog.sql.schema import collections, metadata
from kedge.stores.graph.sql import fulltext
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "queries.sql")
TABLES = (keys.table, uploads.table, schema_graph.concepts, schema_nodes.user_nodes)
"""Tables that join the catalog's metadata when their module is loaded: named so that none is missing from a copy."""
PAGES = 2000
"""Of SQLite, copied between two calls of the progress."""
ROWS = 1000
_FULL_TEXT = ("concepts_fts", "chunks_fts")


def snapshot_sqlite(source: Path, target: Path, on_phase: OnPhase, phase: str = "catalog") -> None:
    """Copy a database that others may be writing to. StoreError, DiskFullError."""
    with (
        translated(str(source)),
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as held,
        closing(sqlite3.connect(target)) as copy,
    ):
        held.execute("BEGIN")
        held.execute(QUERIES["read_something"]).fetchone()  # from here on one moment is seen
        held.backup(copy, pages=PAGES, progress=lambda _status, left, total: on_phase(phase, total - left, total))
        held.rollback()


def settle(path: Path) -> None:
    """Bring a database that nobody uses into its one file, without a log beside it."""
    with translated(str(path)), closing(sqlite3.connect(path)) as database:
        database.execute(QUERIES["one_file"]).fetchone()
    path.chmod(0o600)


def copy_catalog(source_url: str, target_url: str, on_phase: OnPhase, *, replace: bool = False) -> None:
    """Write every row of one catalog into another, in one transaction on either side.

    ConflictError when the target holds collections or keys, unless they are to be replaced.
    """
    for url in (source_url, target_url):
        made = Database(url)  # both have today's tables
        made._release()
    with _opened(source_url, writes=False) as source, _opened(target_url, writes=True) as target:
        if not replace and _holds_something(target):
            raise ConflictError(
                "The catalog that the settings name is not empty.",
                hint="Name an empty one, or add --force to replace it.",
            )
        for name in _FULL_TEXT:
            target.execute(text(f"DELETE FROM {name}"))  # noqa: S608 (names of our own)
        for table in reversed(metadata.sorted_tables):
            target.execute(delete(table))
        total = len(metadata.sorted_tables)
        for done, table in enumerate(metadata.sorted_tables, 1):
            _copy(source, target, table)
            on_phase("catalog", done, total)
        _index_words(target)
        if target.dialect.name == "postgresql":
            _continue_numbers(target)


@contextmanager
def _opened(url: str, *, writes: bool) -> Iterator[Connection]:
    parsed = read_url(url)
    server = postgresql.parse(parsed) if parsed.get_backend_name() == "postgresql" else None
    where = server.where if server else str(parsed.database)
    with translated(where):
        engine: Engine = (
            sqlite.open_engine(parsed, 1) if server is None else postgresql.open_engine(server, 1, "catalog")
        )
        role = engine.execution_options(**{sqlite.WRITES: True}) if writes else engine
        if not writes and server is not None:
            role = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        try:
            with role.begin() as connection:
                yield connection
        finally:
            engine.dispose()


def _holds_something(connection: Connection) -> bool:
    found = select(func.count()).select_from(collections)
    kept = select(func.count()).select_from(keys.table)
    return bool(connection.execute(found).scalar() or connection.execute(kept).scalar())


def _copy(source: Connection, target: Connection, table: Table) -> None:
    rows = source.execution_options(stream_results=True, yield_per=ROWS).execute(select(table))
    for part in rows.mappings().partitions(ROWS):
        target.execute(insert(table), [dict(row) for row in part])


def _index_words(connection: Connection) -> None:
    """Full-text search is kept by each database in its own way, so it is made anew."""
    words = fulltext.of(connection)
    concepts, aliases = schema_graph.concepts, schema_graph.concept_aliases
    others: dict[int, list[str]] = {}
    for row in connection.execute(select(aliases).order_by(aliases.c.concept_seq, aliases.c.position)):
        others.setdefault(row.concept_seq, []).append(row.alias)
    for part in _parts(connection, concepts):
        words.index_concepts(
            connection,
            [
                (one["seq"], Concept(one["key"], one["name"], tuple(others.get(one["seq"], ())), one["description"]))
                for one in part
            ],
        )
    for part in _parts(connection, schema_graph.graph_chunks):
        words.index_chunks(connection, [(one["seq"], one["preview"]) for one in part])


def _parts(connection: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    """The rows of a numbered table, in short lists: nothing stays open while they are worked on."""
    last = -1
    while True:
        following = select(table).where(table.c.seq > last).order_by(table.c.seq).limit(ROWS)
        part = [dict(row) for row in connection.execute(following).mappings()]
        if not part:
            return
        yield part
        last = part[-1]["seq"]


def _continue_numbers(connection: Connection) -> None:
    """New rows go on behind the copied ones."""
    for table in metadata.sorted_tables:
        key = list(table.primary_key)
        if len(key) == 1 and isinstance(key[0].type, Integer) and key[0].autoincrement == "auto":
            highest = connection.execute(select(func.max(key[0]))).scalar()
            if highest is not None:
                connection.execute(
                    text(QUERIES["continue_numbers"]),
                    {"table": table.name, "column": key[0].name, "highest": highest},
                )
