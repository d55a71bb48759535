"""One SQL database as Kedge uses it: whole transactions in worker threads, one writer, concurrent readers.

SQLite runs in WAL mode with `synchronous=NORMAL`: what was acknowledged survives a kill of the process at any
point; after a power cut the last moments may be missing, never torn, and an ingest takes them up again.
`FULL` would cost a disk flush per document (8 ms on the machine this was measured on, instead of 0.02).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from kedge.errors import ConfigError, StoreError
from kedge.stores.catalog.failures import translated
from kedge.stores.catalog.migrate import migrate

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4
"""Threads, and so connections, for reading."""
BUSY_SECONDS = 60
"""How long a writer waits for one in another process (or for the graph store's, which has its own connection)."""
IN_LIST = 500
"""Bound parameters per statement: well below SQLite's limit, large enough to be fast."""

_WRITES = "kedge_writes"
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={BUSY_SECONDS * 1000}",
    "PRAGMA cache_size=-32768",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA wal_autocheckpoint=4000",
)


class Database:
    """A database at its newest schema. Work is given as a function of a connection and runs as one transaction."""

    def __init__(self, url: str) -> None:
        parsed = _checked(url)
        self._where = parsed.database or str(parsed)
        self._closed = False
        with translated(self._where):
            if parsed.database is not None:
                Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
            self._engine = _engine(parsed)
            self._writes = self._engine.execution_options(**{_WRITES: True})
            try:
                migrate(self._writes)
            except BaseException:
                self._engine.dispose()
                raise
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="kedge-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="kedge-read")

    async def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in a transaction that sees one moment of the database."""
        return await self._run(self._readers, partial(self._transaction, self._engine, work, *args, **kwargs))

    async def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in a transaction that may write, after all earlier ones; it is committed when this returns."""
        return await self._run(self._writer, partial(self._transaction, self._writes, work, *args, **kwargs))

    async def close(self) -> None:
        """Wait for running transactions and release the file. Closing twice is fine."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._release)

    async def _run(self, executor: ThreadPoolExecutor, job: Callable[[], T]) -> T:
        if self._closed:
            raise StoreError(f"The database {self._where} is closed.", hint="Open it again.")
        return await asyncio.get_running_loop().run_in_executor(executor, partial(copy_context().run, job))

    def _transaction(
        self, engine: Engine, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        with translated(self._where), engine.begin() as connection:
            return work(connection, *args, **kwargs)

    def _release(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        self._engine.dispose()


def batches(items: Iterable[T], size: int = IN_LIST) -> Iterator[list[T]]:
    """The items in lists short enough for one statement.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


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
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table)
    key = list(key) or [column.name for column in table.primary_key]
    if update:
        changes = {name: statement.excluded[name] for name in update}
        statement = statement.on_conflict_do_update(index_elements=key, set_=changes)
    else:
        statement = statement.on_conflict_do_nothing(index_elements=key)
    connection.execute(statement, rows)


def _checked(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise ConfigError(f"{url!r} is not a database URL.", hint="Use sqlite:///path/to/catalog.db.") from error
    if parsed.get_backend_name() != "sqlite":
        raise ConfigError(f"There is no catalog for {parsed.get_backend_name()!r} yet.", hint="Use sqlite:///path.")
    if parsed.database in (None, "", ":memory:"):
        raise ConfigError("SQLite needs a file here.", hint="Use sqlite:///path/to/catalog.db, or memory://.")
    return parsed


def _engine(url: URL) -> Engine:
    engine = create_engine(url, pool_size=READERS + 1, max_overflow=0, connect_args={"check_same_thread": False})
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by `_begin` alone
    for pragma in _PRAGMAS:
        connection.execute(pragma).close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
