"""The background step: HNSW is built when an index has grown large, beside searches and writes.

Before that, search is exact; afterwards the server keeps HNSW up to date with every write.
"""

from __future__ import annotations

from typing import Any

from psycopg.sql import SQL, Literal
from sqlalchemy import Connection

from kedge.stores.catalog.sql.database import Database
from kedge.stores.queries import load_queries
from kedge.stores.vectors.pgvector.encode import text
from kedge.stores.vectors.pgvector.nearest import distance
from kedge.stores.vectors.pgvector.tables import HNSW_UP_TO, PgIndex, execute, load, points_of

_MEMORY = "512MB"
"""Room for building: the graph of 100,000 vectors of 768 dimensions; what does not fit is built far slower."""
QUERIES = load_queries(__package__, "queries.sql")


class Optimizer:
    """Builds one index at a time for each name; `cancel` breaks it off."""

    def __init__(self, database: Database, after: int, m: int, ef_construction: int) -> None:
        self._database = database
        self._after = after
        self._m = m
        self._ef = ef_construction
        self._running: dict[str, Any] = {}

    async def run(self, name: str) -> bool:
        """Optimise if it is due; True when it was."""
        index, points = await self._database.read(_state, name)
        if points - index.optimized < self._after or name in self._running:
            return False
        hnsw = await self._database.alone(self._improve, index)
        if hnsw is None:
            return False
        await self._database.write(_note, name, hnsw, points)
        return True

    def cancel(self, name: str | None = None) -> None:
        """Break off what runs, of one index or of all; what was half built is removed the next time."""
        for running, connection in tuple(self._running.items()):
            if name in (None, running):
                connection.cancel()

    def _improve(self, connection: Connection, index: PgIndex) -> bool | None:
        """Whether there is HNSW now; None when another process is at it."""
        self._running[index.name] = connection.connection.driver_connection
        connection.detach()  # tuned for this work alone, so the session does not go back to the pool
        try:
            if not execute(connection, QUERIES["optimize_alone"], {"name": text(index.name)}).scalar_one():
                return None
            execute(connection, QUERIES["tune_build"], {"memory": _MEMORY})
            hnsw = index.hnsw or self._build(connection, index)
            execute(connection, QUERIES["tidy_up"], points=index.points, postings=index.postings)
        finally:
            del self._running[index.name]
        return hnsw

    def _build(self, connection: Connection, index: PgIndex) -> bool:
        vector = distance(index)
        if vector is None:
            return False
        name = index.part("hnsw")
        execute(connection, QUERIES["drop_hnsw"], name=name)
        operators = SQL("vector_ip_ops" if index.dimension <= HNSW_UP_TO else "halfvec_ip_ops")
        execute(
            connection,
            QUERIES["build_hnsw"],
            name=name,
            points=index.points,
            vector=vector,
            operators=operators,
            m=Literal(self._m),
            ef=Literal(self._ef),
        )
        return True


def _state(connection: Connection, name: str) -> tuple[PgIndex, int]:
    index = load(connection, name)
    return index, points_of(connection, index)


def _note(connection: Connection, name: str, hnsw: bool, points: int) -> None:
    execute(connection, QUERIES["note_optimized"], {"hnsw": hnsw, "points": points, "name": text(name)})
