"""The vector store on Milvus: the port's methods, in terms of `collections.py` and `questions.py`."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence

import numpy as np
from pymilvus import MilvusClient

from kedge.core.settings import Settings
from kedge.core.values import Scored
from kedge.core.values.filters import Filter
from kedge.stores.batches import batches
from kedge.stores.ports import IndexSpec, Point, StoredPoint, Vector
from kedge.stores.vectors.milvus import words
from kedge.stores.vectors.milvus.address import MilvusAddress, read_address
from kedge.stores.vectors.milvus.collections import MilvusCollections
from kedge.stores.vectors.milvus.names import id_list, inner_id, outer_id
from kedge.stores.vectors.milvus.questions import STRONG, MilvusSearches, Nearest, of_tenant
from kedge.stores.vectors.milvus.schema import MilvusShape, row_of, sparse_vector, unpacked
from kedge.stores.vectors.milvus.server import MilvusServer
from kedge.stores.vectors.milvus.where import EVERYTHING
from kedge.stores.vectors.rules import (
    COSINE_DIGITS,
    KEYWORD_DIGITS,
    check_limit,
    check_points,
    check_query,
    is_id,
    ranked,
    unit,
)
from kedge.text.analyze import SparseTerms

_BATCH = 250
"""Points in one write: with the longest texts and vectors still below the server's 64 MiB for a message."""
_KEYS = 900
"""Keys named in one question: fewer than a page of the largest rows has."""
_SEALED_AFTER = 1000
"""Points written since the last time that make it worth while to have them indexed."""


def open_vectors(url: str, settings: Settings) -> MilvusVectors:
    """`milvus://host:19530/database?index=HNSW` and the like; see `address.py`. Connects on first use."""
    return MilvusVectors(read_address(url, settings.vector_key.get_secret_value() if settings.vector_key else ""))


class MilvusVectors:
    """Vectors and keywords in the collections of a Milvus database."""

    def __init__(self, address: MilvusAddress) -> None:
        self._server = MilvusServer(address)
        self.collections = MilvusCollections(self._server, address)
        self._questions = MilvusSearches(self.collections, address)
        self._terms = SparseTerms()
        self._written: Counter[str] = Counter()

    async def create(self, spec: IndexSpec) -> None:
        await self.collections.create(spec)

    async def drop(self, index: str) -> None:
        await self.collections.drop(index)

    async def upsert(self, index: str, tenant: str, points: Sequence[Point]) -> None:
        shape = await self.collections.shape(index)
        check_points(points, shape.dimension, index)
        latest = {point.id: point for point in points}
        rows = await asyncio.to_thread(lambda: [row_of(tenant, each, shape, self._terms) for each in latest.values()])
        for some in batches(rows, _BATCH):
            await self.collections.ask(index, MilvusClient.upsert, some)
        self._written[index] += len(rows)

    async def optimize(self, index: str) -> bool:
        """Have what was written indexed as the URL says: until then the server searches it by a coarser index."""
        if self._written[index] < _SEALED_AFTER:
            return False
        self._written[index] = 0
        await self.collections.seal(index)
        return True

    async def delete(self, index: str, tenant: str, ids: Sequence[str]) -> None:
        await self.collections.shape(index)
        for keys in _in_parts(ids, tenant):
            await self.collections.ask(index, MilvusClient.delete, ids=keys)

    async def search(
        self, index: str, tenant: str, vector: Vector, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        check_limit(limit)
        shape = await self.collections.shape(index)
        check_query(vector, shape.dimension, index)
        passing = await self._questions.passing(index, tenant, where)
        query = unit(vector).astype(np.float32)
        found = await self._questions.nearest(index, passing, Nearest("vector", query, limit))
        if found is None:
            found = await self._questions.scan(index, passing, query)
        return ranked(((outer_id(key), score) for key, score in found), limit, COSINE_DIGITS)

    async def keyword_search(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        check_limit(limit)
        shape = await self.collections.shape(index)
        weights = self._terms.query_weights(query)
        passing, rarity = await asyncio.gather(
            self._questions.passing(index, tenant, where), self._questions.rarity(index, of_tenant(tenant), weights)
        )
        holding = {term: n for term, (n, _) in rarity.items() if n}
        asked = {term: weights[term] * rarity[term][1] for term in holding}
        if not asked:
            return []
        found = await self._by_index(index, shape, passing, asked, limit)
        if found is None:
            found = await self._questions.scored(index, passing, asked, words.groups(holding), limit)
        return ranked(((outer_id(key), score) for key, score in found), limit, KEYWORD_DIGITS)

    async def read(self, index: str, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
        await self.collections.shape(index)
        found: dict[str, StoredPoint] = {}
        for keys in _in_parts(ids, tenant):
            async for page in self._questions.rows(index, id_list(keys), ["id", "vector", "term_weights"]):
                for row in page:
                    vector = np.array(row["vector"], dtype=np.float32)
                    found[outer_id(row["id"])] = StoredPoint(vector, unpacked(row["term_weights"]))
        return found

    async def term_idf(self, index: str, term_ids: Sequence[int]) -> list[float]:
        await self.collections.shape(index)
        rarity = await self._questions.rarity(index, EVERYTHING, term_ids)
        return [rarity[term][1] for term in term_ids]

    async def ids(self, index: str, tenant: str) -> AsyncIterator[list[str]]:
        await self.collections.shape(index)
        async for page in self._questions.rows(index, of_tenant(tenant), ["id"], STRONG):
            yield [outer_id(row["id"]) for row in page]

    async def count(self, index: str, tenant: str, where: Filter | None = None) -> int:
        await self.collections.shape(index)
        passing = await self._questions.passing(index, tenant, where, STRONG)
        return await self._questions.count(index, passing, STRONG)

    async def alias(self, name: str, index: str) -> None:
        await self.collections.shape(index)
        await self.collections.alias(name, index)

    async def aliased(self, name: str) -> str | None:
        return await self.collections.aliased(name)

    async def version(self) -> str:
        return f"Milvus {await self._server.ask(MilvusClient.get_server_version)}"

    async def close(self) -> None:
        await self._server.close()

    async def _by_index(
        self, index: str, shape: MilvusShape, passing: str, asked: dict[int, float], limit: int
    ) -> list[tuple[str, float]] | None:
        """Keyword hits by sparse vectors; None where there are none, or where the index left some out."""
        if not shape.sparse:
            return None
        holding = f"({passing}) and {words.holds(list(asked))}"
        return await self._questions.nearest(index, holding, Nearest("terms", sparse_vector(asked), limit))


def _in_parts(ids: Sequence[str], tenant: str) -> Iterator[list[str]]:
    """The server's keys of those ids that are ids, in lists that fit into one question."""
    return batches((inner_id(id, tenant) for id in ids if is_id(id)), _KEYS)
