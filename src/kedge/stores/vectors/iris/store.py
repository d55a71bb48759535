"""The vector store in InterSystems IRIS. Vectors are stored in length 1, so the dot product is the cosine."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

from iris import dbapi

from kedge.core.errors import KedgeError, StoreError
from kedge.core.settings import Settings
from kedge.core.values import Scored
from kedge.core.values.filters import Filter
from kedge.stores.batches import batches
from kedge.stores.ports import IndexSpec, Point, StoredPoint, Vector
from kedge.stores.vectors.ids import inner_id
from kedge.stores.vectors.iris import tables
from kedge.stores.vectors.iris.address import IrisAddress
from kedge.stores.vectors.iris.reading import (
    IrisSearch,
    count_rows,
    id_page,
    keyword_hits,
    nearest_hits,
    read_points,
    term_counts,
    text_count,
)
from kedge.stores.vectors.iris.session import IrisConnections
from kedge.stores.vectors.iris.tables import IrisTable
from kedge.stores.vectors.iris.writing import delete_points, transactions, write_points
from kedge.stores.vectors.rules import (
    COSINE_DIGITS,
    KEYWORD_DIGITS,
    check_limit,
    check_points,
    check_query,
    idf,
    is_id,
    ranked,
)
from kedge.text.analyze import SparseTerms

_T = TypeVar("_T")
log = logging.getLogger(__name__)
_DELETED = 4
"""Points deleted in one transaction: each may have more than a hundred facts and terms."""
_TERMS = 80
"""Most terms of a question: a statement takes a few hundred parameters. Of more, the rarest are asked."""


def open_vectors(url: str, settings: Settings) -> IrisVectors:
    """`iris://user[:password]@host:1972/NAMESPACE`; the setting `vector_key` wins over the password."""
    return IrisVectors(IrisAddress.of(url, settings.vector_key.get_secret_value() if settings.vector_key else None))


class IrisVectors:
    """Vectors, facts and terms in tables of the schema RAG."""

    def __init__(self, address: IrisAddress, connect: Callable[[], Any] | None = None) -> None:
        """`connect` gives a new DB-API connection; by default the driver's own."""
        self._vector_type = address.vector_type
        self._sessions = IrisConnections(connect or (lambda: dbapi.connect(**address.options)), address.shown)
        self._terms = SparseTerms()
        self._tables: dict[str, IrisTable] = {}

    async def create(self, spec: IndexSpec) -> None:
        known = await self._sessions.read(tables.known, spec.name)
        self._tables[spec.name] = table = await self._sessions.write(tables.create, spec, self._vector_type)
        if not known:
            await self._index_vectors(table)

    async def drop(self, index: str) -> None:
        self._tables.pop(index, None)
        await self._sessions.write(tables.drop, index)

    async def upsert(self, index: str, tenant: str, points: Sequence[Point]) -> None:
        table = await self._table(index)
        check_points(points, table.dimension, index)
        latest = {point.id: point for point in points}
        rows = [(point, self._terms.term_weights(point.text)) for point in latest.values()]
        for part in transactions(tenant, rows):
            await self._ask(index, self._sessions.write(write_points, table, self._vector_type, tenant, part))

    async def delete(self, index: str, tenant: str, ids: Sequence[str]) -> None:
        table = await self._table(index)
        known = [str(inner_id(id, tenant)) for id in ids if is_id(id)]
        for part in batches(known, _DELETED):
            await self._ask(index, self._sessions.write(delete_points, table, part))

    async def search(
        self, index: str, tenant: str, vector: Vector, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        check_limit(limit)
        table = await self._table(index)
        check_query(vector, table.dimension, index)
        asked = IrisSearch(table, tenant, limit, where, COSINE_DIGITS)
        hits = await self._ask(index, self._sessions.read(nearest_hits, asked, vector, self._vector_type))
        return ranked(((id, max(-1.0, min(1.0, score))) for id, score in hits), limit, COSINE_DIGITS)

    async def keyword_search(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        check_limit(limit)
        table = await self._table(index)
        weights = self._terms.query_weights(query)
        rare = await self._rarity(index, table, list(weights), tenant)
        asked = {term: weight * rare[term] for term, weight in weights.items() if rare.get(term)}
        rarest = dict(sorted(asked.items(), key=lambda item: -rare[item[0]])[:_TERMS])
        if not rarest:
            return []
        question = IrisSearch(table, tenant, limit, where, KEYWORD_DIGITS)
        hits = await self._ask(index, self._sessions.read(keyword_hits, question, rarest))
        return ranked(hits, limit, KEYWORD_DIGITS)

    async def read(self, index: str, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
        table = await self._table(index)
        known = [id for id in ids if is_id(id)]
        return await self._ask(index, self._sessions.read(read_points, table, tenant, known))

    async def term_idf(self, index: str, term_ids: Sequence[int]) -> list[float]:
        rare = await self._rarity(index, await self._table(index), term_ids, None)
        return [rare.get(term, 0.0) for term in term_ids]

    async def ids(self, index: str, tenant: str) -> AsyncIterator[list[str]]:
        table = await self._table(index)
        last = ""
        while True:
            page, last = await self._ask(index, self._sessions.read(id_page, table, tenant, last))
            if not page:
                return
            yield page

    async def count(self, index: str, tenant: str, where: Filter | None = None) -> int:
        table = await self._table(index)
        return await self._ask(index, self._sessions.read(count_rows, table, tenant, where))

    async def close(self) -> None:
        await self._sessions.close()

    async def _index_vectors(self, table: IrisTable) -> None:
        """Where the server has no index for vectors, searches read them all: slower, and as exact."""
        try:
            await self._sessions.write(tables.index_vectors, table)
        except StoreError as error:
            log.warning("no index on the vectors of %s, so searches read all of them: %s", table.name, error.message)

    async def _rarity(self, index: str, table: IrisTable, terms: Sequence[int], tenant: str | None) -> dict[int, float]:
        """Each term's idf among one tenant's points that have terms, or among all."""
        counts = await self._ask(index, self._sessions.read(term_counts, table, terms, tenant))
        if not counts:
            return {}
        total = await self._ask(index, self._sessions.read(text_count, table, tenant))
        return {term: idf(total, count) for term, count in counts.items()}

    async def _table(self, index: str) -> IrisTable:
        """Where the index is; asked once, and again after any fault."""
        found = self._tables.get(index)
        if found is None:
            found = self._tables[index] = await self._sessions.read(tables.find, index)
        return found

    async def _ask(self, index: str, work: Awaitable[_T]) -> _T:
        try:
            return await work
        except KedgeError:
            self._tables.pop(index, None)
            raise
