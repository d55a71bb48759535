"""The vector store on Qdrant's API. The layout is the one of Qdrant Edge: see `payloads`."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from qdrant_client import models

from kedge.core.errors import KedgeError, NotFoundError, StoreError
from kedge.core.settings import Settings
from kedge.core.values import DEFAULT_TENANT, Scored
from kedge.core.values.filters import Filter, all_of
from kedge.stores.ports import IndexSpec, Point, StoredPoint, Vector
from kedge.stores.vectors.ids import inner_id, outer_id
from kedge.stores.vectors.payloads import DENSE, TERMS
from kedge.stores.vectors.qdrant.address import QdrantAddress
from kedge.stores.vectors.qdrant.collection import collection_name, dimension_of, layout, missing_indexes
from kedge.stores.vectors.qdrant.encode import dense, filter_of, point_of, sparse, stored, terms_of
from kedge.stores.vectors.qdrant.faults import translated
from kedge.stores.vectors.rules import (
    COSINE_DIGITS,
    KEYWORD_DIGITS,
    SPARE,
    check_dimension,
    check_limit,
    check_points,
    check_query,
    closed_store,
    is_id,
    ranked,
    tied,
    wider_fetch,
)
from kedge.text.analyze import SparseTerms

log = logging.getLogger(__name__)
_TENANTS_APART = (1, 19)
"""The first server that computes idf among one tenant's points; older ones use everybody's, so they serve one alone."""
_OLDEST = (1, 10)
"""The first server with sparse vectors and the query API that keyword search needs."""
_PAGE = 1000
_VALUES = 500_000
"""Numbers in one request, so that it stays well below the server's limit of 32 MB."""


def open_vectors(url: str, settings: Settings) -> QdrantVectors:
    """`qdrant://[:KEY@]host[:6333]`, `qdrant+local:///folder` or `qdrant+memory:`."""
    return QdrantVectors(QdrantAddress.of(url, settings.vector_key.get_secret_value() if settings.vector_key else None))


@dataclass(frozen=True, slots=True)
class _QdrantSearch:
    """One search of either kind."""

    index: str
    tenant: str
    query: Any
    using: str
    limit: int
    where: Filter | None
    digits: int
    """Decimals within which scores tie."""
    params: models.SearchParams | None = None


class QdrantVectors:
    """One collection per index. Writes return when the server has applied them (`wait=true`)."""

    def __init__(self, address: QdrantAddress) -> None:
        self._address = address
        self._client = address.client()
        self._terms = SparseTerms()
        self._dimensions: dict[str, int] = {}
        self._checked = address.local
        self._alone = False
        """Whether the server is too old for more than the default tenant."""
        self._closed = False

    async def create(self, spec: IndexSpec) -> None:
        await self._check_version()
        with self._about(spec.name):
            info = await self._info(spec.name)
            if info is None:
                info = await self._create(spec)
        dimension = dimension_of(info, spec.name)
        check_dimension(spec, dimension)
        self._dimensions[spec.name] = dimension
        if self._address.local:  # has no payload indexes and would warn
            return
        with self._about(spec.name):
            for path, params in missing_indexes(spec.payload_indexes, info.payload_schema).items():
                await self._client.create_payload_index(
                    collection_name(spec.name), field_name=path, field_schema=params, wait=True
                )

    async def drop(self, index: str) -> None:
        self._dimensions.pop(index, None)
        with suppress(NotFoundError), self._about(index):
            await self._client.delete_collection(collection_name(index))

    async def alias(self, name: str, index: str) -> None:
        await self._dimension(index)
        made = models.CreateAlias(collection_name=collection_name(index), alias_name=name)
        steps: list[models.CreateAliasOperation | models.DeleteAliasOperation] = []
        if await self.aliased(name) is not None:
            steps.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name)))
        with self._about(index):
            await self._client.update_collection_aliases([*steps, models.CreateAliasOperation(create_alias=made)])

    async def aliased(self, name: str) -> str | None:
        with self._about(""):
            known = (await self._client.get_aliases()).aliases
        return next((one.collection_name for one in known if one.alias_name == name), None)

    async def upsert(self, index: str, tenant: str, points: Sequence[Point]) -> None:
        dimension = await self._dimension(index)
        await self._check_tenant(tenant)
        check_points(points, dimension, index)
        latest = list({point.id: point for point in points}.values())
        size = max(1, min(_PAGE // 2, _VALUES // dimension))
        with self._about(index):
            for start in range(0, len(latest), size):
                batch = [
                    point_of(tenant, point, self._terms.term_weights(point.text))
                    for point in latest[start : start + size]
                ]
                await self._client.upsert(collection_name(index), batch, wait=True)

    async def delete(self, index: str, tenant: str, ids: Sequence[str]) -> None:
        await self._dimension(index)
        known = [str(inner_id(id, tenant)) for id in ids if is_id(id)]
        with self._about(index):
            for start in range(0, len(known), _PAGE):
                selector = models.PointIdsList(points=[*known[start : start + _PAGE]])
                await self._client.delete(collection_name(index), selector, wait=True)

    async def search(
        self, index: str, tenant: str, vector: Vector, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        check_limit(limit)
        check_query(vector, await self._dimension(index), index)
        return await self._best(_QdrantSearch(index, tenant, dense(vector), DENSE, limit, where, COSINE_DIGITS))

    async def keyword_search(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        return await self._by_words(index, tenant, query, limit, where, within=None)

    async def keyword_search_within(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None, *, within: Filter
    ) -> list[Scored]:
        return await self._by_words(index, tenant, query, limit, all_of(where, within), within=within)

    async def _by_words(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None, *, within: Filter | None
    ) -> list[Scored]:
        check_limit(limit)
        await self._dimension(index)
        weights = self._terms.query_weights(query)
        if not weights:
            return []
        own = models.SearchParams(idf=models.IdfCorpusParams(corpus=filter_of(tenant, within)))
        return await self._best(_QdrantSearch(index, tenant, sparse(weights), TERMS, limit, where, KEYWORD_DIGITS, own))

    async def read(self, index: str, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
        await self._dimension(index)
        wanted = [str(inner_id(id, tenant)) for id in ids if is_id(id)]
        found: dict[str, StoredPoint] = {}
        with self._about(index):
            for start in range(0, len(wanted), _PAGE):
                records = await self._client.retrieve(
                    collection_name(index), wanted[start : start + _PAGE], with_payload=False, with_vectors=True
                )
                found.update({outer_id(_uuid(record.id), tenant): stored(record.vector) for record in records})
        return found

    async def term_idf(self, index: str, term_ids: Sequence[int]) -> list[float]:
        """A server does not tell its idf, so it is read off the best hit for each term: score / stored weight."""
        return await self._rarity(index, term_ids, None, None)

    async def term_idf_within(self, index: str, tenant: str, term_ids: Sequence[int], within: Filter) -> list[float]:
        accept = filter_of(tenant, within)
        own = models.SearchParams(idf=models.IdfCorpusParams(corpus=accept))
        return await self._rarity(index, term_ids, accept, own)

    async def _rarity(
        self, index: str, term_ids: Sequence[int], accept: models.Filter | None, own: models.SearchParams | None
    ) -> list[float]:
        await self._dimension(index)
        requests = [
            models.QueryRequest(
                query=sparse({term: 1.0}), using=TERMS, limit=1, with_vector=[TERMS], filter=accept, params=own
            )
            for term in term_ids
        ]
        with self._about(index):
            answers = await self._client.query_batch_points(collection_name(index), requests) if requests else []
        return [_idf(term, answer.points) for term, answer in zip(term_ids, answers, strict=True)]

    async def ids(self, index: str, tenant: str) -> AsyncIterator[list[str]]:
        await self._dimension(index)
        own, offset = filter_of(tenant, None), None
        while True:
            with self._about(index):
                records, offset = await self._client.scroll(
                    collection_name(index), own, limit=_PAGE, offset=offset, with_payload=False
                )
            if records:
                yield [outer_id(_uuid(record.id), tenant) for record in records]
            if offset is None:
                return

    async def count(self, index: str, tenant: str, where: Filter | None = None) -> int:
        await self._dimension(index)
        with self._about(index):
            return (await self._client.count(collection_name(index), filter_of(tenant, where), exact=True)).count

    async def version(self) -> str:
        if self._address.local:
            return "qdrant-client's local mode"
        await self._check_version()
        with self._about(""):
            found = f"Qdrant {(await self._client.info()).version}"
        return f"{found} (older than 1.19: for the default tenant alone)" if self._alone else found

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._client.close()

    # ------------------------------------------------------------ plumbing

    async def _best(self, asked: _QdrantSearch) -> list[Scored]:
        """The best hits. Fetches on for as long as the last one fetched ties with the last one wanted."""
        accept = filter_of(asked.tenant, asked.where)
        fetch = asked.limit + SPARE
        if fetch > _PAGE:  # the server makes room for as many as it is asked for
            fetch = max(1, min(fetch, await self.count(asked.index, asked.tenant, asked.where)))
        while True:
            with self._about(asked.index):
                answer = await self._client.query_points(
                    collection_name(asked.index),
                    query=asked.query,
                    using=asked.using,
                    query_filter=accept,
                    search_params=asked.params,
                    limit=fetch,
                    with_payload=False,
                )
            hits = answer.points
            if len(hits) < fetch or len(hits) <= asked.limit:
                break
            wider = wider_fetch(fetch, asked.limit)
            if wider is None or not tied(hits[-1].score, hits[asked.limit - 1].score, asked.digits):
                break
            fetch = wider
        return ranked(((outer_id(_uuid(hit.id), asked.tenant), hit.score) for hit in hits), asked.limit, asked.digits)

    async def _create(self, spec: IndexSpec) -> models.CollectionInfo:
        name = collection_name(spec.name)
        try:
            with self._about(spec.name):
                await self._client.create_collection(name, **layout(spec.dimension))
        except StoreError:
            present = await self._info(spec.name)  # another process was faster
            if present is None:
                raise
            return present
        return await self._client.get_collection(name)

    async def _info(self, index: str) -> models.CollectionInfo | None:
        with suppress(NotFoundError), self._about(index):
            return await self._client.get_collection(collection_name(index))
        return None

    async def _dimension(self, index: str) -> int:
        """Length of the index's vectors; asked once, and again after any fault."""
        known = self._dimensions.get(index)
        if known is None or self._closed:
            with self._about(index):
                known = dimension_of(await self._client.get_collection(collection_name(index)), index)
            self._dimensions[index] = known
        return known

    async def _check_version(self) -> None:
        if self._checked:
            return
        with self._about(""):
            version = (await self._client.info()).version
        numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
        if numbers < _OLDEST:
            raise StoreError(
                f"The Qdrant server at {self._address.shown} is of version {version}.",
                hint="Kedge needs 1.10 or newer for one tenant, 1.19 or newer for several.",
            )
        self._alone = numbers < _TENANTS_APART
        if self._alone:
            log.warning(
                "the Qdrant server at %s is of version %s, which weighs words by everybody's texts: it serves the "
                "default tenant alone; 1.19 or newer keeps tenants apart",
                *(self._address.shown, version),
            )
        self._checked = True

    async def _check_tenant(self, tenant: str) -> None:
        """StoreError for a second tenant on a server that would mix their statistics."""
        await self._check_version()
        if self._alone and tenant != DEFAULT_TENANT:
            raise StoreError(
                f"The Qdrant server at {self._address.shown} is older than 1.19 and cannot keep tenants apart.",
                hint="Use 1.19 or newer, or the default tenant alone.",
            )

    @contextmanager
    def _about(self, index: str) -> Iterator[None]:
        if self._closed:
            raise closed_store()
        try:
            with translated(self._address, index):
                yield
        except KedgeError:
            self._dimensions.pop(index, None)
            raise


def _idf(term: int, hits: Sequence[models.ScoredPoint]) -> float:
    return hits[0].score / terms_of(hits[0].vector)[term] if hits else 0.0


def _uuid(id: models.ExtendedPointId) -> UUID:
    return UUID(str(id))
