"""Locks between processes: PostgreSQL's advisory locks, each on a connection of its own.

The server frees them when the connection ends, so a killed worker holds nothing back. One that is cut off from the
server notices by itself and breaks its work off; the server notices by TCP keep-alives within a minute.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import psycopg
from sqlalchemy.engine import make_url

from kedge.core.errors import ConflictError, StoreError
from kedge.core.locks import waiting
from kedge.core.tasks import stop
from kedge.core.values import Scope
from kedge.stores.catalog.sql.failures import of_server
from kedge.stores.catalog.sql.postgresql import PostgresAddress, parse
from kedge.stores.queries import load_queries

ALIVE_SECONDS = 5.0
"""Between looks at the connection that holds a lock."""
RELEASE_SECONDS = 2.0
"""For a server that may not answer any more; it frees the locks when it notices that the connection has ended."""
_KEEPALIVES = {"tcp_keepalives_idle": "20", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3"}
_LOST = "the connection that held a lock was lost"
QUERIES = load_queries(__package__, "queries.sql")
_SHARED, _EXCLUSIVE, _TRIED = QUERIES["lock_shared"], QUERIES["lock_alone"], QUERIES["try_lock_alone"]


def address(url: str) -> tuple[str, PostgresAddress]:
    """What the driver connects to, and where that is."""
    server = parse(make_url(url))
    return server.url.set(drivername="postgresql").render_as_string(hide_password=False), server


class AdvisoryLocks:
    """The `Locks` of all processes that use one schema of one database."""

    def __init__(self, url: str) -> None:
        self._address, self._server = address(url)

    def writing(self, scope: Scope, document_id: str | None = None) -> AbstractAsyncContextManager[None]:
        place = self._name(f"collection/{scope.tenant}\x1f{scope.collection}")
        if document_id is None:
            return self._held((_EXCLUSIVE, place))
        return self._held((_SHARED, place), (_EXCLUSIVE, self._name(f"document/{document_id}")))

    def named(self, name: str) -> AbstractAsyncContextManager[None]:
        return self._held((_EXCLUSIVE, self._name(name)))

    def alone(self, name: str) -> AbstractAsyncContextManager[None]:
        return self._held((_TRIED, self._name(name)))

    def _name(self, name: str) -> str:
        return f"kedge/{self._server.schema}/{name}"

    @asynccontextmanager
    async def _held(self, *wanted: tuple[str, str]) -> AsyncIterator[None]:
        connection = await self._connect()
        try:
            await self._take(connection, wanted)
            async with _unless_lost(connection, self._server.where):
                yield
        finally:
            await _release(connection)

    async def _connect(self) -> psycopg.AsyncConnection[tuple[object, ...]]:
        try:
            return await psycopg.AsyncConnection.connect(self._address, autocommit=True)
        except psycopg.Error as error:
            raise of_server(error, self._server.where) from error

    async def _take(
        self, connection: psycopg.AsyncConnection[tuple[object, ...]], wanted: tuple[tuple[str, str], ...]
    ) -> None:
        try:
            settings = {"lock_timeout": "0", "statement_timeout": "0", **_KEEPALIVES}
            calls = ", ".join(["set_config(%s, %s, false)"] * len(settings))
            await connection.execute(f"SELECT {calls}", [part for pair in settings.items() for part in pair])
            for statement, name in wanted:
                with waiting():
                    row = await (await connection.execute(statement.encode(), [name])).fetchone()
                if statement == _TRIED and row is not None and not row[0]:
                    raise ConflictError(f"{name.split('/', 2)[2]} is in work already.", hint="Wait for it to end.")
        except psycopg.Error as error:
            raise of_server(error, self._server.where) from error


async def _release(connection: psycopg.AsyncConnection[tuple[object, ...]]) -> None:
    """Free the locks before the connection is closed: the server may take its time to notice that it is."""
    try:
        with suppress(psycopg.Error, TimeoutError):
            async with asyncio.timeout(RELEASE_SECONDS):
                await connection.execute(QUERIES["unlock_all"])
    finally:
        await connection.close()


@asynccontextmanager
async def _unless_lost(connection: psycopg.AsyncConnection[tuple[object, ...]], where: str) -> AsyncIterator[None]:
    """Break the work off with StoreError as soon as the connection, and with it the lock, is gone.

    Whose cancellation it is, its message says: counting them (`uncancel`) goes wrong where a task group inside failed.
    """
    worker = asyncio.current_task()
    watch = asyncio.create_task(_lost(connection))

    def break_off(ended: asyncio.Task[None]) -> None:
        if worker is not None and not ended.cancelled():
            worker.cancel(_LOST)

    watch.add_done_callback(break_off)
    try:
        yield
    except asyncio.CancelledError as cancelled:
        if worker is None or not watch.done() or cancelled.args != (_LOST,):
            raise
        worker.uncancel()
        raise StoreError(
            f"The connection to {where} that held a lock was lost; the work was broken off.",
            hint="It is taken up again by a worker, or by running the same command again.",
        ) from None
    finally:
        watch.remove_done_callback(break_off)
        await stop(watch)


async def _lost(connection: psycopg.AsyncConnection[tuple[object, ...]]) -> None:
    """Returns when the connection does not answer any more."""
    with suppress(psycopg.Error):
        while True:
            await asyncio.sleep(ALIVE_SECONDS)
            await connection.execute(QUERIES["answer"])
