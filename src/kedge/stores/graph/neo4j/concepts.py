"""The `GraphStore` port on Neo4j: what to do lives in `writing`, `removing` and `reading`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from kedge.core.settings import Settings
from kedge.core.values import Concept, GraphBatch, Scope, Triple
from kedge.stores.graph.concepts import check_batch
from kedge.stores.graph.neo4j import reading, removing, writing
from kedge.stores.graph.neo4j.address import parse
from kedge.stores.graph.neo4j.connection import Connection
from kedge.stores.graph.reads import DocumentState
from kedge.stores.ports import ConceptHit, GraphEdge

BATCH = 1000
"""Ids per batch of `passage_ids`."""


class Neo4jGraph:
    """Concepts, documents and chunks as nodes, with typed edges. Writers of one collection take turns."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def write(self, scope: Scope, batch: GraphBatch) -> None:
        """Edges may name concepts by keys that nothing describes yet: those are made, named by their key."""
        check_batch(batch)
        await self._connection.write(scope, writing.write, batch)

    async def remove(self, scope: Scope, passage_ids: Sequence[str], document_ids: Sequence[str]) -> None:
        await self._connection.write(scope, removing.remove, passage_ids, document_ids)

    async def concepts_by_key(self, scope: Scope, keys: Sequence[str]) -> list[ConceptHit]:
        return await reading.concepts_by_key(self._connection, scope, keys)

    async def concepts_of(self, scope: Scope, passage_ids: Sequence[str]) -> tuple[list[ConceptHit], list[GraphEdge]]:
        return await reading.concepts_of(self._connection, scope, passage_ids)

    async def passages_of(self, scope: Scope, concept_ids: Sequence[str], limit: int) -> list[GraphEdge]:
        return await reading.passages_of(self._connection, scope, concept_ids, limit)

    async def about(self, scope: Scope, concept_ids: Sequence[str]) -> list[GraphEdge]:
        return await reading.about(self._connection, scope, concept_ids)

    async def search_concepts(self, scope: Scope, text: str, limit: int) -> list[Concept]:
        return await reading.search_concepts(self._connection, scope, text, limit)

    async def search_chunks(self, scope: Scope, text: str, limit: int) -> list[str]:
        return await reading.search_chunks(self._connection, scope, text, limit)

    async def mark_documents(self, scope: Scope, document_ids: Sequence[str], status: str) -> None:
        await self._connection.write(scope, writing.mark_documents, document_ids, status)

    async def document_states(self, scope: Scope, document_ids: Sequence[str]) -> dict[str, DocumentState]:
        return await reading.document_states(self._connection, scope, document_ids)

    async def triples_of(self, scope: Scope, concept_ids: Sequence[str]) -> list[Triple]:
        return await reading.triples_of(self._connection, scope, concept_ids)

    async def passage_ids(self, scope: Scope) -> AsyncIterator[list[str]]:
        after = ""
        while found := await reading.passage_ids(self._connection, scope, after, BATCH):
            yield found
            after = found[-1]

    async def drop(self, scope: Scope) -> None:
        """In several transactions, so that a scope of any size fits in the server's memory."""
        while await self._connection.write(scope, removing.drop_some):
            pass

    async def version(self) -> str:
        return await self._connection.version()

    async def close(self) -> None:
        await self._connection.close()


def open_graph(url: str, _settings: Settings) -> Neo4jGraph:
    """The graph in this database; ConfigError if the URL cannot be read. The server is asked on first use."""
    return Neo4jGraph(Connection(parse(url)))
