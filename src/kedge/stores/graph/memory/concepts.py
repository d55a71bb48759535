"""The graph in dictionaries: every answer is recomputed from what was written. The oracle for the SQL one."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from kedge.core.ids import concept_id
from kedge.core.settings import Settings
from kedge.core.values import Concept, GraphBatch, GraphChunk, GraphDocument, MentionKind, Role, Scope, Triple
from kedge.stores.graph.concepts import by_confidence, check_batch, described, heaviest_first, merged
from kedge.stores.graph.reads import DocumentState, search_terms
from kedge.stores.ports import ConceptHit, GraphEdge


@dataclass(slots=True)
class _ConceptGraph:
    """The graph of one scope."""

    concepts: dict[str, Concept] = field(default_factory=dict)
    documents: dict[str, GraphDocument] = field(default_factory=dict)
    written: dict[str, datetime] = field(default_factory=dict)
    """When each document was."""
    chunks: dict[str, GraphChunk] = field(default_factory=dict)
    mentions: dict[tuple[str, str, MentionKind], tuple[int, Role]] = field(default_factory=dict)
    """(passage, concept key, kind) → frequency and role."""
    triples: dict[tuple[str, str, str, str], Triple] = field(default_factory=dict)

    def ties(self) -> dict[tuple[str, str], tuple[int, Role]]:
        """(passage, concept key) → weight of the heaviest edge between them and the strongest role."""
        found: dict[tuple[str, str], tuple[int, Role]] = {}
        for (passage, key, _), (frequency, role) in self.mentions.items():
            weight, strongest = found.get((passage, key), (frequency, role))
            found[passage, key] = max(frequency, weight), min(role, strongest, key=lambda item: item.place)
        return found

    def named(self) -> set[str]:
        """Keys of concepts that something names."""
        keys = {key for _, key, _ in self.mentions}
        keys |= {key for triple in self.triples.values() for key in (triple.subject, triple.object)}
        for document in self.documents.values():
            keys |= set(document.title_keys) | {key for key, _, _ in document.mentions}
        return keys


def _edge(passage: str, concept: str, tie: tuple[int, Role]) -> GraphEdge:
    return GraphEdge(passage, concept, float(tie[0]), tie[1])


class MemoryGraph:
    """The `GraphStore` port."""

    def __init__(self) -> None:
        self._graphs: dict[Scope, _ConceptGraph] = {}

    def _of(self, scope: Scope) -> _ConceptGraph:
        return self._graphs.setdefault(scope, _ConceptGraph())

    async def write(self, scope: Scope, batch: GraphBatch) -> None:
        check_batch(batch)
        graph = self._of(scope)
        for key, concept in described(batch).items():
            graph.concepts[key] = merged(graph.concepts.get(key, concept), concept)
        graph.documents |= {document.document_id: document for document in batch.documents}
        graph.written |= dict.fromkeys((document.document_id for document in batch.documents), datetime.now(UTC))
        graph.chunks |= {chunk.passage_id: chunk for chunk in batch.chunks}
        graph.mentions |= {(m.passage_id, m.concept_key, m.kind): (m.frequency, m.role) for m in batch.mentions}
        graph.triples |= {(t.passage_id, t.subject, t.predicate, t.object): t for t in batch.triples}

    async def remove(self, scope: Scope, passage_ids: Sequence[str], document_ids: Sequence[str]) -> None:
        graph = self._of(scope)
        passages, documents = set(passage_ids), set(document_ids)
        before = graph.named()
        graph.chunks = {key: chunk for key, chunk in graph.chunks.items() if key not in passages}
        graph.documents = {key: document for key, document in graph.documents.items() if key not in documents}
        graph.mentions = {key: tie for key, tie in graph.mentions.items() if key[0] not in passages}
        graph.triples = {key: triple for key, triple in graph.triples.items() if key[0] not in passages}
        gone = before - graph.named()
        graph.concepts = {key: concept for key, concept in graph.concepts.items() if key not in gone}

    async def concepts_by_key(self, scope: Scope, keys: Sequence[str]) -> list[ConceptHit]:
        graph = self._of(scope)
        degrees = Counter(key for _, key in graph.ties())
        return [
            ConceptHit(concept_id(scope, key), key, graph.concepts[key].name, degrees[key])
            for key in dict.fromkeys(keys)
            if key in graph.concepts
        ]

    async def concepts_of(self, scope: Scope, passage_ids: Sequence[str]) -> tuple[list[ConceptHit], list[GraphEdge]]:
        order = {passage: number for number, passage in enumerate(dict.fromkeys(passage_ids))}
        ties = {pair: tie for pair, tie in self._of(scope).ties().items() if pair[0] in order}
        keys = {concept_id(scope, key): key for _, key in ties}
        edges = [_edge(passage, concept_id(scope, key), tie) for (passage, key), tie in ties.items()]
        edges.sort(key=lambda edge: (order[edge.passage_id], -edge.weight, edge.concept_id))
        return await self.concepts_by_key(scope, [keys[edge.concept_id] for edge in edges]), edges

    async def passages_of(self, scope: Scope, concept_ids: Sequence[str], limit: int) -> list[GraphEdge]:
        wanted = set(concept_ids)
        by_concept: dict[str, list[GraphEdge]] = {}
        for (passage, key), tie in self._of(scope).ties().items():
            identifier = concept_id(scope, key)
            if identifier in wanted:
                by_concept.setdefault(identifier, []).append(_edge(passage, identifier, tie))
        best = [edge for edges in by_concept.values() for edge in sorted(edges, key=heaviest_first)[:limit]]
        return sorted(best, key=heaviest_first)

    async def about(self, scope: Scope, concept_ids: Sequence[str]) -> list[GraphEdge]:
        graph = self._of(scope)
        asked = set(concept_ids)
        wanted = {key: i for key in graph.concepts if (i := concept_id(scope, key)) in asked}
        found = [
            (chunk.index, chunk.passage_id, wanted[key])
            for chunk in graph.chunks.values()
            if chunk.document_id in graph.documents
            for key in dict.fromkeys(graph.documents[chunk.document_id].title_keys)
            if key in wanted
        ]
        return [GraphEdge(passage, identifier, 1.0, Role.TITLE) for _, passage, identifier in sorted(found)]

    async def search_concepts(self, scope: Scope, text: str, limit: int) -> list[Concept]:
        wanted = set(search_terms(text))
        scored = []
        for concept in self._of(scope).concepts.values():
            parts = ((10.0, concept.name), (5.0, " ".join(concept.aliases)), (1.0, concept.description))
            score = sum(weight * len(wanted & set(search_terms(part))) for weight, part in parts)
            scored.append((-score, concept.key, concept))
        return [concept for score, _, concept in sorted(scored)[: max(limit, 0)] if score]

    async def search_chunks(self, scope: Scope, text: str, limit: int) -> list[str]:
        wanted = set(search_terms(text))
        chunks = self._of(scope).chunks.values()
        scored = sorted((-len(wanted & set(search_terms(chunk.preview))), chunk.passage_id) for chunk in chunks)
        return [passage for score, passage in scored[: max(limit, 0)] if score]

    async def mark_documents(self, scope: Scope, document_ids: Sequence[str], status: str) -> None:
        documents = self._of(scope).documents
        for key in document_ids:
            if key in documents:
                documents[key] = replace(documents[key], status=status)

    async def document_states(self, scope: Scope, document_ids: Sequence[str]) -> dict[str, DocumentState]:
        graph = self._of(scope)
        found = [graph.documents[key] for key in document_ids if key in graph.documents]
        return {
            one.document_id: DocumentState(one.chunk_count, one.status, graph.written[one.document_id]) for one in found
        }

    async def triples_of(self, scope: Scope, concept_ids: Sequence[str]) -> list[Triple]:
        graph = self._of(scope)
        wanted = {key for key in graph.concepts if concept_id(scope, key) in set(concept_ids)}
        found = [triple for triple in graph.triples.values() if {triple.subject, triple.object} & wanted]
        return sorted(found, key=by_confidence)

    async def passage_ids(self, scope: Scope) -> AsyncIterator[list[str]]:
        if found := sorted(self._of(scope).chunks):
            yield found

    async def drop(self, scope: Scope) -> None:
        self._graphs.pop(scope, None)

    async def close(self) -> None:
        """Nothing to release."""


def open_graph(_url: str, _settings: Settings) -> MemoryGraph:
    """A graph that lives as long as the object."""
    return MemoryGraph()
