"""One SQL database as Kedge uses it: whole transactions in worker threads, one writer, concurrent readers.

What differs between SQLite and PostgreSQL in opening a database and in beginning a transaction is in their modules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, Insert, Table
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from kedge.core.errors import ConfigError, StoreError
from kedge.core.urls import mask_url
from kedge.stores.catalog.sql import postgresql, sqlite
from kedge.stores.catalog.sql.failures import translated
from kedge.stores.catalog.sql.upgrade import migrate

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
"""Threads, and so connections, for reading."""


class Database:
    """A database at its newest schema. Work is given as a function of a connection and runs as one transaction."""

    def __init__(
        self,
        url: str,
        *,
        part: str = "catalog",
        prepare: Callable[[Engine], None] = migrate,
        on_connect: postgresql.OnConnect | None = None,
    ) -> None:
        """`prepare` makes the tables; `part` and `on_connect` are for `postgresql.open_engine`."""
        parsed = read_url(url)
        server = postgresql.parse(parsed) if parsed.get_backend_name() == "postgresql" else None
        self.where = server.where if server else str(parsed.database)
        self._closed = False
        with translated(self.where):
            if server is None:
                if not sqlite.is_fixed(Path(self.where)):
                    Path(self.where).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    Path(self.where).touch(mode=0o600)  # what SQLite makes beside it gets the same rights
                self._engine = sqlite.open_engine(parsed, READERS + 1)
            else:
                self._engine = postgresql.open_engine(server, READERS + 1, part, on_connect)
            self._reads, self._writes = _roles(self._engine)
            try:
                if server is not None and server.schema:
                    with self._writes.begin() as connection:
                        postgresql.create_schema(connection, server.schema)
                prepare(self._writes)
            except BaseException:
                self._engine.dispose()
                raise
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="kedge-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="kedge-read")

    async def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in a transaction that sees one moment of the database."""
        return await self._run(self._readers, partial(self._transaction, self._reads, work, *args, **kwargs))

    async def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in a transaction that may write, after all earlier ones; it is committed when this returns."""
        return await self._run(self._writer, partial(self._transaction, self._writes, work, *args, **kwargs))

    async def alone(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` outside of any transaction, beside reads and writes: for what cannot run inside of one."""
        engine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        return await self._run(self._readers, partial(self._transaction, engine, work, *args, **kwargs))

    async def close(self) -> None:
        """Wait for running transactions and release file or connections. Closing twice is fine."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._release)

    async def _run(self, executor: ThreadPoolExecutor, job: Callable[[], T]) -> T:
        if self._closed:
            raise StoreError(f"The database {self.where} is closed.", hint="Open it again.")
        return await asyncio.get_running_loop().run_in_executor(executor, partial(copy_context().run, job))

    def _transaction(
        self, engine: Engine, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        with translated(self.where), engine.begin() as connection:
            return work(connection, *args, **kwargs)

    def _release(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        self._engine.dispose()


def upsert(
    connection: Connection,
    table: Table,
    rows: Sequence[dict[str, Any]],
    update: Sequence[str],
    key: Sequence[str] = (),
) -> None:
    """Insert the rows; where `key` (or else the primary key) exists, replace the `update` columns, if any."""
    if not rows:
        return
    statement = (insert_postgresql if connection.dialect.name == "postgresql" else insert_sqlite)(table)
    key = list(key) or [column.name for column in table.primary_key]
    if update:
        changes = {name: statement.excluded[name] for name in update}
        statement = statement.on_conflict_do_update(index_elements=key, set_=changes)
    else:
        statement = statement.on_conflict_do_nothing(index_elements=key)
    insert_rows(connection, table, statement, rows)


def insert_rows(connection: Connection, table: Table, statement: Insert, rows: Sequence[dict[str, Any]]) -> None:
    """Run an insert for many rows that have the same columns.

    For SQLite the parameters are made here, by the columns' own types: SQLAlchemy's general way costs as much as
    SQLite's work. The schema has no defaults on Python's side, which this would pass over.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(statement, rows)
        return
    compiled = statement.compile(dialect=connection.dialect, column_keys=list(rows[0]))
    made = [(name, _processor(connection, table, name)) for name in compiled.positiontup or ()]
    parameters = [tuple(row[name] if make is None else make(row[name]) for name, make in made) for row in rows]
    connection.exec_driver_sql(compiled.string, parameters)


def _processor(connection: Connection, table: Table, column: str) -> Callable[[Any], Any] | None:
    """What the column's type does to a value before the driver sees it."""
    return table.c[column].type.dialect_impl(connection.dialect).bind_processor(connection.dialect)


def read_url(url: str) -> URL:
    """The URL of a database that is known here. ConfigError, without secrets, for any other."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        hint = "Use sqlite:///path/to/catalog.db or postgresql://user:password@host:5432/database."
        raise ConfigError(f"{mask_url(url)!r} is not a database URL.", hint=hint) from error
    if "@" in (parsed.host or ""):  # it would be taken for a part of the host's name, and shown
        raise ConfigError("The password in the database URL has an @ in it.", hint="Write it as %40.")
    backend = parsed.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise ConfigError(f"There is no database {backend!r} here.", hint="Use sqlite:///path or postgresql://host/db.")
    if backend == "sqlite":
        sqlite.check(parsed)
    return parsed


def _roles(engine: Engine) -> tuple[Engine, Engine]:
    """One pool in two roles: for reading, where a transaction sees one moment, and for writing."""
    writes = engine.execution_options(**{sqlite.WRITES: True})
    if engine.dialect.name == "sqlite":
        return engine, writes
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True), writes
