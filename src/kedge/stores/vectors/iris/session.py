"""Connections of the driver, which may not be shared between threads: each thread has its own.

One thread writes, so writes never meet; a few read beside it. Every piece of work is one transaction.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Concatenate, ParamSpec, TypeVar

from iris import dbapi

from kedge.stores.queries import load_queries
from kedge.stores.vectors.iris.faults import translated
from kedge.stores.vectors.rules import closed_store

_READERS = 4
QUERIES = load_queries(__package__, "queries.sql")
_T = TypeVar("_T")
_P = ParamSpec("_P")


class IrisTransaction:
    """Statements with bound parameters, on one connection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Execute one statement."""
        self.rows(statement, parameters, fetch=False)

    def run_many(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Execute one statement for each row of parameters."""
        if parameters:
            with self._connection.cursor() as cursor:
                cursor.executemany(statement, [list(row) for row in parameters])

    def rows(self, statement: str, parameters: Sequence[Any] = (), *, fetch: bool = True) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self._connection.cursor() as cursor:
            if parameters:
                cursor.execute(statement, list(parameters))
            else:
                cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchall()] if fetch else []


class IrisConnections:
    """Threads with a connection each."""

    def __init__(self, connect: Callable[[], Any], address: str) -> None:
        self._connect = connect
        self._address = address
        self._own = threading.local()
        self._open: set[Any] = set()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="kedge-iris-write")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="kedge-iris-read")
        self._closed = False

    async def write(
        self, work: Callable[Concatenate[IrisTransaction, _P], _T], *arguments: _P.args, **_: _P.kwargs
    ) -> _T:
        """Run the work on the writing thread and commit it."""
        return await self._submit(self._writer, work, *arguments)

    async def read(
        self, work: Callable[Concatenate[IrisTransaction, _P], _T], *arguments: _P.args, **_: _P.kwargs
    ) -> _T:
        """Run the work on a reading thread."""
        return await self._submit(self._readers, work, *arguments)

    async def close(self) -> None:
        """Wait for running work and close all connections."""
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._shut)

    async def _submit(self, pool: ThreadPoolExecutor, work: Callable[..., _T], *arguments: Any) -> _T:
        if self._closed:
            raise closed_store()
        return await asyncio.get_running_loop().run_in_executor(pool, self._transact, work, arguments)

    def _transact(self, work: Callable[..., _T], arguments: Sequence[Any]) -> _T:
        with translated(self._address):
            connection = self._connection()
            try:
                result = work(IrisTransaction(connection), *arguments)
                connection.commit()
            except dbapi.Error:
                self._discard(connection)  # it may be broken; the next call opens a new one
                raise
            except BaseException:
                connection.rollback()
                raise
        return result

    def _connection(self) -> Any:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._connect()
            IrisTransaction(connection).run(QUERIES["isolation"])
            self._open.add(connection)
            self._own.connection = connection
        return connection

    def _discard(self, connection: Any) -> None:
        self._own.connection = None
        self._open.discard(connection)
        with suppress(dbapi.Error):
            connection.rollback()
        with suppress(dbapi.Error):
            connection.close()

    def _shut(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        while self._open:
            with suppress(dbapi.Error):
                self._open.pop().close()
