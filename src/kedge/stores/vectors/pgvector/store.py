"""The `VectorStore` port on PostgreSQL with pgvector, with keyword search over the terms of `kedge.text.analyze`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, text

from kedge.core.errors import ConfigError
from kedge.core.settings import Settings
from kedge.core.values import Scored
from kedge.core.values.filters import Filter
from kedge.stores.catalog.sql.database import Database, read_url
from kedge.stores.ports import IndexSpec, Point, StoredPoint, Vector
from kedge.stores.queries import load_queries
from kedge.stores.vectors.pgvector import nearest, reading, tables, writing
from kedge.stores.vectors.pgvector.encode import VectorDumper
from kedge.stores.vectors.pgvector.optimizing import Optimizer
from kedge.stores.vectors.rules import check_limit
from kedge.text.analyze import SparseTerms

QUERIES = load_queries(__package__, "queries.sql")
OPTIMIZE_AFTER = 20_000
"""Points added since the last optimisation that make the next one due; until then search is exact."""
EXACT_BELOW = 10_000
"""Up to so many points that pass a filter are compared one by one: right, and as fast as HNSW would be."""
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Tuning:
    """HNSW's parameters, by the URL: `?m=16&ef_construction=200&ef_search=100`."""

    m: int = 16
    ef_construction: int = 200
    ef_search: int = 100

    @classmethod
    def of(cls, url: str) -> Tuning:
        """Read the options. ConfigError for one that is no number in pgvector's range."""
        given = read_url(url).query
        ranges = {"m": (2, 100), "ef_construction": (4, 1000), "ef_search": (1, nearest.MOST)}
        found: dict[str, int] = {}
        for name, (least, most) in ranges.items():
            if name not in given:
                continue
            value = str(given[name])
            if not value.isdigit() or not least <= int(value) <= most:
                raise ConfigError(
                    f"{name}={value} in the database URL must be a number from {least} to {most}.",
                    hint=f"Leave {name} out for the default.",
                )
            found[name] = int(value)
        tuning = cls(**found)
        if tuning.ef_construction < 2 * tuning.m:
            raise ConfigError(
                "ef_construction in the database URL must be at least twice m.",
                hint=f"Write ef_construction={2 * tuning.m}, or a smaller m.",
            )
        return tuning


def open_vectors(url: str, settings: Settings) -> PgVectors:  # noqa: ARG001 (the registry's signature)
    """`postgresql://user:password@host:port/database?schema=kedge&m=16&ef_construction=200&ef_search=100`."""
    return PgVectors(url)


class PgVectors:
    """Vectors and keywords in tables, two for each index."""

    def __init__(self, url: str, *, optimize_after: int = OPTIMIZE_AFTER, exact_below: int = EXACT_BELOW) -> None:
        self._tuning = Tuning.of(url)
        self._exact_below = exact_below
        self._terms = SparseTerms()
        self._database = Database(url, part="vectors", prepare=tables.prepare, on_connect=_adapt)
        self._optimizer = Optimizer(self._database, optimize_after, self._tuning.m, self._tuning.ef_construction)

    async def create(self, spec: IndexSpec) -> None:
        await self._database.write(tables.create, spec)

    async def drop(self, index: str) -> None:
        self._optimizer.cancel(index)
        await self._database.write(tables.drop, index)

    async def upsert(self, index: str, tenant: str, points: Sequence[Point]) -> None:
        await self._database.write(writing.upsert, index, tenant, points)

    async def delete(self, index: str, tenant: str, ids: Sequence[str]) -> None:
        await self._database.write(writing.delete, index, tenant, ids)

    async def search(
        self, index: str, tenant: str, vector: Vector, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        check_limit(limit)
        asked = nearest.PgSearch(tenant, vector, limit, where, self._tuning.ef_search, self._exact_below)
        return await self._database.read(nearest.search, index, asked)

    async def keyword_search(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        check_limit(limit)
        asked = self._terms.query_weights(query)
        return await self._database.read(reading.keyword_search, index, tenant, asked, limit=limit, where=where)

    async def read(self, index: str, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
        return await self._database.read(reading.read, index, tenant, ids)

    async def term_idf(self, index: str, term_ids: Sequence[int]) -> list[float]:
        return await self._database.read(reading.term_idf, index, term_ids)

    async def ids(self, index: str, tenant: str) -> AsyncIterator[list[str]]:
        after: str | None = None
        while page := await self._database.read(reading.ids, index, tenant, after, _PAGE):
            yield page
            after = page[-1]

    async def count(self, index: str, tenant: str, where: Filter | None = None) -> int:
        return await self._database.read(reading.count, index, tenant, where)

    async def optimize(self, index: str) -> bool:
        """Build HNSW and tidy up when enough points were added since the last time; else do nothing."""
        return await self._optimizer.run(index)

    async def version(self) -> str:
        return await self._database.read(_version)

    async def close(self) -> None:
        self._optimizer.cancel()
        await self._database.close()


def _version(connection: Connection) -> str:
    server = connection.execute(text(QUERIES["server_version"])).scalar()
    return f"PostgreSQL {server}, pgvector {connection.execute(text(QUERIES['extension_version'])).scalar()}"


def _adapt(connection: Any) -> None:
    connection.adapters.register_dumper(np.ndarray, VectorDumper)
