"""Rows of a foreign table as passages: what retrieval and answering ask of stores, asked of the table instead."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast

from kedge.core.errors import UsageError
from kedge.core.ids import document_id, sha256
from kedge.core.values import Collection, Passage, Scope, Scored
from kedge.core.values.filters import Filter, evaluate
from kedge.kinds.foreign.measuring import Measured
from kedge.models.ports import Embedder
from kedge.retrieve.ports import CollectionSource
from kedge.stores.bundle import Stores
from kedge.stores.catalog.ports import Catalog
from kedge.stores.ports import ForeignRow, ForeignTable, IndexSpec, Point, StoredPoint, Vector
from kedge.stores.vectors.rules import unit
from kedge.text.analyze import SparseTerms
from kedge.text.iso639 import language_of

_TITLES = ("title", "name")
_WIDER = 4
"""Times as many rows are fetched where too few pass a filter."""


@dataclass(frozen=True, slots=True)
class ForeignSource:
    """An opened table and what was measured of it."""

    table: ForeignTable
    collection: Collection
    embedder: Embedder
    measured: Measured

    async def passages(self, ids: Sequence[str], *, vectors: bool = False) -> dict[str, tuple[Passage, Vector | None]]:
        """The rows with these ids as passages whose id is the row's own."""
        rows = await self.table.rows(ids, vectors=vectors)
        tokens = self.embedder.count_tokens([row.text for row in rows.values()]) if rows else []
        return {
            row.id: (self._passage(row, count), row.vector) for row, count in zip(rows.values(), tokens, strict=True)
        }

    def _passage(self, row: ForeignRow, tokens: int) -> Passage:
        title = next(
            (named for field in _TITLES if isinstance(named := row.metadata.get(field), str) and named), row.id
        )
        url = f"{self.table.shown}#{row.id}"
        content = sha256(row.text)
        return Passage(
            id=row.id,
            document_id=document_id(self.collection.scope, url),
            version_id=content,
            index=0,
            text=row.text,
            start=0,
            end=len(row.text),
            content_hash=content,
            token_count=tokens,
            title=title,
            url=url,
            external_id=row.id,
            language=language_of(row.text),
            document_updated_at=row.created_at,
            metadata={name: value for name, value in row.metadata.items() if not isinstance(value, dict)},
        )


class ForeignVectors:
    """The table as a vector store that can be searched and read, and not written."""

    def __init__(self, source: ForeignSource) -> None:
        self._source = source
        self._terms = SparseTerms()

    async def search(
        self, index: str, tenant: str, vector: Vector, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        """By the server's own function; a filter is evaluated here, on as many rows as it takes."""
        del index, tenant
        table, of_length_one = self._source.table, self._source.measured.unit
        wanted = limit
        while True:
            hits = await table.nearest(vector, wanted, unit=of_length_one)
            passing = hits if where is None else await self._passing(hits, where)
            if len(passing) >= limit or len(hits) < wanted:
                return passing[:limit]
            wanted *= _WIDER

    async def read(self, index: str, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
        """Vectors in length 1, and the terms of the rows' texts."""
        del index, tenant
        found = await self._source.passages(ids, vectors=True)
        return {
            key: StoredPoint(unit(vector).astype("float32"), self._terms.term_weights(passage.keyword_text))
            for key, (passage, vector) in found.items()
            if vector is not None
        }

    async def count(self, index: str, tenant: str, where: Filter | None = None) -> int:
        """How many rows have a vector, whatever the filter."""
        del index, tenant, where
        return (await self._source.table.count())[1]

    async def ids(self, index: str, tenant: str) -> AsyncIterator[list[str]]:
        """None: nothing of the table is the catalog's to compare."""
        del index, tenant
        nothing: list[list[str]] = []
        for page in nothing:
            yield page

    async def create(self, spec: IndexSpec) -> None:
        _read_only(spec.name)

    async def drop(self, index: str) -> None:
        _read_only(index)

    async def upsert(self, index: str, tenant: str, points: Sequence[Point]) -> None:  # noqa: ARG002
        _read_only(index)

    async def delete(self, index: str, tenant: str, ids: Sequence[str]) -> None:  # noqa: ARG002
        _read_only(index)

    async def close(self) -> None:
        """The table is closed by who opened it."""

    async def _passing(self, hits: Sequence[Scored], where: Filter) -> list[Scored]:
        rows = await self._source.passages([hit.id for hit in hits])
        return [hit for hit in hits if hit.id in rows and evaluate(where, rows[hit.id][0].payload())]


class ForeignPassages:
    """The part of a catalog's passages that the way out reads."""

    def __init__(self, source: ForeignSource) -> None:
        self._source = source

    async def live(self, scope: Scope, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """Those that the table holds now."""
        del scope
        return {key: passage for key, (passage, _) in (await self._source.passages(passage_ids)).items()}

    async def visible(self, scope: Scope, passage_ids: Sequence[str]) -> set[str]:
        """The same ids; a table is read whole or not at all."""
        return set(await self.live(scope, passage_ids))

    async def of_document(
        self, tenant: str, document_id: str, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        """None: a row stands alone."""
        del tenant, document_id, first, last
        return []


class ForeignCatalog:
    """The catalog with the rows in place of its passages; all else is the catalog's own."""

    def __init__(self, catalog: Catalog, source: ForeignSource) -> None:
        self._catalog = catalog
        self.passages = ForeignPassages(source)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)


class ForeignCollections:
    """The collection with as many passages as the table has rows with vectors."""

    def __init__(self, collections: CollectionSource, source: ForeignSource) -> None:
        self._collections = collections
        self._source = source

    async def get(self, scope: Scope) -> Collection:
        return replace(await self._collections.get(scope), passages=self._source.measured.embedded)

    async def embedder_of(self, collection: Collection) -> Embedder:
        return await self._collections.embedder_of(collection)


def foreign_stores(stores: Stores, source: ForeignSource) -> Stores:
    """Stores in which the table is the vectors and the passages."""
    return replace(
        stores, vectors=ForeignVectors(source), catalog=cast("Catalog", ForeignCatalog(stores.catalog, source))
    )


def _read_only(name: str) -> NoReturn:
    raise UsageError(f"{name} is a table of another program, which is never written to.", hint="Write to it there.")
