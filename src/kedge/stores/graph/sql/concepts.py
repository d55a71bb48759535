"""The `GraphStore` port on SQL: what to do lives in `writing`, `removing` and `reading`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from kedge.core.settings import Settings
from kedge.core.values import Concept, GraphBatch, Scope, Triple
from kedge.stores.catalog.sql.database import Database
from kedge.stores.graph.concepts import check_batch
from kedge.stores.graph.reads import DocumentState
from kedge.stores.graph.sql import reading, removing, writing
from kedge.stores.ports import ConceptHit, GraphEdge

BATCH = 1000
"""Ids per batch of `passage_ids`."""


class SqlGraph:
    """Concepts, documents and chunks with their edges, beside the catalog.

    It has its own connections to the same file; SQLite lets one writer in after the other.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(self, scope: Scope, batch: GraphBatch) -> None:
        """Edges may name concepts by keys that nothing describes yet: those are made, named by their key."""
        check_batch(batch)
        await self._database.write(writing.write, scope, batch)

    async def remove(self, scope: Scope, passage_ids: Sequence[str], document_ids: Sequence[str]) -> None:
        await self._database.write(removing.remove, scope, passage_ids, document_ids)

    async def concepts_by_key(self, scope: Scope, keys: Sequence[str]) -> list[ConceptHit]:
        return await self._database.read(reading.concepts_by_key, scope, keys)

    async def concepts_of(self, scope: Scope, passage_ids: Sequence[str]) -> tuple[list[ConceptHit], list[GraphEdge]]:
        return await self._database.read(reading.concepts_of, scope, passage_ids)

    async def passages_of(self, scope: Scope, concept_ids: Sequence[str], limit: int) -> list[GraphEdge]:
        return await self._database.read(reading.passages_of, scope, concept_ids, limit)

    async def about(self, scope: Scope, concept_ids: Sequence[str]) -> list[GraphEdge]:
        return await self._database.read(reading.about, scope, concept_ids)

    async def search_concepts(self, scope: Scope, text: str, limit: int) -> list[Concept]:
        return await self._database.read(reading.search_concepts, scope, text, limit)

    async def search_chunks(self, scope: Scope, text: str, limit: int) -> list[str]:
        return await self._database.read(reading.search_chunks, scope, text, limit)

    async def mark_documents(self, scope: Scope, document_ids: Sequence[str], status: str) -> None:
        await self._database.write(writing.mark_documents, scope, document_ids, status)

    async def document_states(self, scope: Scope, document_ids: Sequence[str]) -> dict[str, DocumentState]:
        return await self._database.read(reading.document_states, scope, document_ids)

    async def triples_of(self, scope: Scope, concept_ids: Sequence[str]) -> list[Triple]:
        return await self._database.read(reading.triples_of, scope, concept_ids)

    async def passage_ids(self, scope: Scope) -> AsyncIterator[list[str]]:
        after = ""
        while found := await self._database.read(reading.passage_ids, scope, after, BATCH):
            yield found
            after = found[-1]

    async def drop(self, scope: Scope) -> None:
        await self._database.write(removing.drop, scope)

    async def close(self) -> None:
        await self._database.close()


def open_graph(url: str, _settings: Settings) -> SqlGraph:
    """Open the graph, creating or upgrading its tables. StoreError when the file cannot be used."""
    return SqlGraph(Database(url))
