"""One Neo4j database as Kedge uses it: whole transactions, tried again while a failure may pass."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import neo4j
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, AsyncSession
from neo4j.exceptions import DriverError, Neo4jError

from kedge.core.errors import StoreError
from kedge.core.values import Scope
from kedge.stores.batches import batches
from kedge.stores.graph.neo4j.address import Neo4jAddress
from kedge.stores.graph.neo4j.failures import translated
from kedge.stores.graph.neo4j.schema import prepare
from kedge.stores.queries import load_queries

P = ParamSpec("P")
T = TypeVar("T")
Rows = list[list[Any]]

CYPHER = load_queries(__package__, "connection.cypher")


class Neo4jTransaction:
    """A running write of one scope. Every statement is given tenant and collection."""

    def __init__(self, inner: AsyncManagedTransaction, scope: Scope) -> None:
        self._inner = inner
        self.scope = scope

    async def run(self, statement: str, **values: object) -> Rows:
        """Run one statement and return its rows."""
        result = await self._inner.run(_literal(statement), _within(self.scope, values))
        return await result.values()

    async def run_over(self, statement: str, rows: Iterable[object], size: int, **values: object) -> Rows:
        """Run one statement over `$rows`, at most `size` at a time; returns all that it returned."""
        found: Rows = []
        for part in batches(rows, size):
            found += await self.run(statement, rows=part, **values)
        return found


class Connection:
    """A pool of connections, opened on first use, when constraints and indexes are made too."""

    def __init__(self, address: Neo4jAddress) -> None:
        self._address = address
        self._driver: AsyncDriver | None = None
        self._bookmarks = AsyncGraphDatabase.bookmark_manager()
        self._opening = asyncio.Lock()
        self._prepared = False
        self._closed = False

    async def read(self, scope: Scope, statement: str, **values: object) -> Rows:
        """Rows of one statement: in a single round trip, or tried again as a transaction if the failure may pass."""
        with translated(self._address.shown):
            await self._ready()
            given = _within(scope, values)
            async with self._session(neo4j.READ_ACCESS) as session:
                try:
                    return await _run(session, statement, given)
                except (Neo4jError, DriverError) as error:
                    if not error.is_retryable():
                        raise
                return await session.execute_read(_run, statement, given)

    async def write(
        self,
        scope: Scope,
        work: Callable[Concatenate[Neo4jTransaction, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work` as one transaction, alone in its scope; it is committed when this returns."""

        async def unit(inner: AsyncManagedTransaction) -> T:
            transaction = Neo4jTransaction(inner, scope)
            await transaction.run(CYPHER["lock_collection"])
            return await work(transaction, *args, **kwargs)

        with translated(self._address.shown):
            await self._ready()
            async with self._session(neo4j.WRITE_ACCESS) as session:
                return await session.execute_write(unit)

    async def version(self) -> str:
        """Version and edition of the server."""
        (said,) = (await self.read(Scope("", ""), CYPHER["server_version"]))[:1]
        return f"Neo4j {said[0]} {said[1]}"

    async def close(self) -> None:
        """Release the connections. Closing twice is fine."""
        self._closed = True
        driver, self._driver = self._driver, None
        if driver is not None:
            with translated(self._address.shown):
                await driver.close()

    async def _ready(self) -> None:
        if self._closed:
            raise StoreError("The graph is closed.", hint="Open it again.")
        if self._prepared:
            return
        async with self._opening:
            if self._prepared:
                return
            if self._driver is None:
                self._driver = self._open()
            await prepare(self._alone)
            self._prepared = True

    def _open(self) -> AsyncDriver:
        # Notifications are advice to whoever writes Cypher; the server need not send them.
        return AsyncGraphDatabase.driver(
            self._address.uri,
            auth=self._address.auth,
            connection_timeout=self._address.timeout,
            connection_acquisition_timeout=self._address.timeout + 1,
            max_transaction_retry_time=self._address.timeout,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )

    def _session(self, access: str) -> AsyncSession:
        assert self._driver is not None
        return self._driver.session(
            database=self._address.database,
            default_access_mode=access,
            bookmark_manager=self._bookmarks,
            fetch_size=-1,
        )

    async def _alone(self, statement: str, values: Mapping[str, Any]) -> Rows:
        """Run a statement about the schema in a transaction of its own."""
        async with self._session(neo4j.WRITE_ACCESS) as session:
            return await session.execute_write(_run, statement, values)


async def _run(runner: AsyncSession | AsyncManagedTransaction, statement: str, values: Mapping[str, Any]) -> Rows:
    result = await runner.run(_literal(statement), dict(values))
    return await result.values()


def _within(scope: Scope, values: Mapping[str, object]) -> dict[str, Any]:
    return {"tenant": scope.tenant, "collection": scope.collection, **values}


def _literal(statement: str) -> Any:
    """The driver asks type checkers for literal strings; ours are put together from literals at import."""
    return cast(Any, statement)
