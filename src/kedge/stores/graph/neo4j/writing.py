"""Adding a batch to the graph, in one transaction. Writing it twice changes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from kedge.core.ids import concept_id
from kedge.core.values import Concept, GraphBatch, GraphChunk, GraphDocument, PassageConcept, Scope, Triple
from kedge.stores.graph.concepts import chunk_fields, described, document_fields, merged
from kedge.stores.graph.neo4j.connection import Neo4jTransaction
from kedge.stores.graph.neo4j.schema import MENTIONS
from kedge.stores.graph.neo4j.words import indexed, scope_token, tokens
from kedge.stores.queries import filled, load_queries

CYPHER = load_queries(__package__, "concepts.cypher")
ROWS = 2000
"""Rows per statement."""
_COUNT_MENTIONS = filled(CYPHER["count_mentions"], mentions=MENTIONS)


async def write(transaction: Neo4jTransaction, batch: GraphBatch) -> None:
    """Add the batch: nodes first, then what ties them."""
    scope = transaction.scope
    await _write_concepts(transaction, described(batch).values())
    documents = {document.document_id: document for document in batch.documents}
    chunks = {chunk.passage_id: chunk for chunk in batch.chunks}
    await _write_documents(transaction, documents)
    await _write_chunks(transaction, chunks)
    await _link_chunks(transaction, {*documents, *(chunk.document_id for chunk in chunks.values())})
    await _write_mentions(transaction, batch.mentions, concept_ids(scope, (m.concept_key for m in batch.mentions)))
    named = (key for triple in batch.triples for key in (triple.subject, triple.object))
    await _write_triples(transaction, batch.triples, concept_ids(scope, named))


def concept_ids(scope: Scope, keys: Iterable[str]) -> dict[str, str]:
    """Key → id of its concept."""
    return {key: concept_id(scope, key) for key in dict.fromkeys(keys)}


# ---------------------------------------------------------------- concepts


async def _write_concepts(transaction: Neo4jTransaction, concepts: Iterable[Concept]) -> None:
    scope = transaction.scope
    wanted = {concept_id(scope, concept.key): concept for concept in concepts}
    now = datetime.now(UTC)
    rows = [
        {"key": indexed(concept.key), "id": identifier, "fields": _fields(scope, concept)}
        for identifier, concept in wanted.items()
    ]
    changed = []
    for identifier, *known in await transaction.run_over(CYPHER["merge_concepts"], rows, ROWS, now=now):
        old = read_concept([wanted[identifier].key, *known])
        changed.append({"id": identifier, "fields": _fields(scope, merged(old, wanted[identifier]))})
    await transaction.run_over(CYPHER["update_concepts"], changed, ROWS, now=now)


def read_concept(row: Sequence[Any]) -> Concept:
    """A concept of its key, name, aliases, description, category, difficulty and tags."""
    key, name, aliases, description, category, difficulty, tags = row
    return Concept(key, name, tuple(aliases), description, category, difficulty, tuple(tags))


def _fields(scope: Scope, concept: Concept) -> dict[str, Any]:
    return {
        "name": concept.name,
        "aliases": list(concept.aliases),
        "description": concept.description,
        "category": concept.category,
        "difficulty": concept.difficulty,
        "tags": list(concept.tags),
        "scope": scope_token(scope),
        "name_terms": tokens(concept.name),
        "alias_terms": tokens(" ".join(concept.aliases)),
        "description_terms": tokens(concept.description),
        **({"long_key": concept.key} if indexed(concept.key) != concept.key else {}),
    }


# ---------------------------------------------------------------- documents and chunks


async def mark_documents(transaction: Neo4jTransaction, document_ids: Sequence[str], status: str) -> None:
    """Set the status of these documents."""
    await transaction.run_over(CYPHER["mark_documents"], dict.fromkeys(document_ids), ROWS, status=status)


async def _write_documents(transaction: Neo4jTransaction, documents: Mapping[str, GraphDocument]) -> None:
    """A document that was there gets new fields, titles and mentions in place of the old."""
    if not documents:
        return
    scope = transaction.scope
    now = datetime.now(UTC)
    rows = [
        {"id": key, "fields": {**document_fields(document, now), "url": indexed(document.url)}}
        for key, document in documents.items()
    ]
    former = {row[0] for row in await transaction.run_over(CYPHER["merge_documents"], rows, ROWS)} - {None}
    titles = [
        {"document": key, "concept": concept_id(scope, title)}
        for key, document in documents.items()
        for title in dict.fromkeys(document.title_keys)
    ]
    await transaction.run_over(CYPHER["title_documents"], titles, ROWS)
    await transaction.run_over(CYPHER["forget_titles"], sorted(former - {row["concept"] for row in titles}), ROWS)
    mentions = [
        {"document": key, "concept": concept_id(scope, concept), "frequency": frequency, "relevance": relevance}
        for key, document in documents.items()
        for concept, frequency, relevance in document.mentions
    ]
    await transaction.run_over(CYPHER["mention_in_documents"], mentions, ROWS)


async def _write_chunks(transaction: Neo4jTransaction, chunks: Mapping[str, GraphChunk]) -> None:
    rows = [{"id": key, "fields": _chunk_fields(transaction.scope, chunk)} for key, chunk in chunks.items()]
    await transaction.run_over(CYPHER["merge_chunks"], rows, ROWS)


def _chunk_fields(scope: Scope, chunk: GraphChunk) -> dict[str, Any]:
    return {
        **chunk_fields(chunk),
        "next_chunk_id": chunk.next_passage_id,
        "scope": scope_token(scope),
        "preview_terms": tokens(chunk.preview),
    }


async def _link_chunks(transaction: Neo4jTransaction, documents: Collection[str]) -> None:
    """Tie chunks to their document and to each other, whichever was written first."""
    for statement in (CYPHER["tie_chunks_to_documents"], CYPHER["chain_chunks"]):
        await transaction.run_over(statement, sorted(documents), ROWS)


# ---------------------------------------------------------------- edges


async def _write_mentions(
    transaction: Neo4jTransaction, mentions: Sequence[PassageConcept], concepts: Mapping[str, str]
) -> None:
    pairs = dict.fromkeys((mention.passage_id, concepts[mention.concept_key]) for mention in mentions)
    counted = [{"passage": passage, "concept": concept} for passage, concept in pairs]
    await transaction.run_over(_COUNT_MENTIONS, counted, ROWS)
    kinds: dict[str, dict[tuple[str, str], PassageConcept]] = defaultdict(dict)
    for mention in mentions:
        kinds[mention.kind.value][mention.passage_id, mention.concept_key] = mention
    for kind, edges in kinds.items():
        rows = [
            {
                "passage": mention.passage_id,
                "concept": concepts[mention.concept_key],
                "frequency": mention.frequency,
                "role": mention.role.value,
            }
            for mention in edges.values()
        ]
        await transaction.run_over(filled(CYPHER["mention_in_chunks"], kind=kind), rows, ROWS)


async def _write_triples(transaction: Neo4jTransaction, triples: Sequence[Triple], concepts: Mapping[str, str]) -> None:
    predicates: dict[str, dict[tuple[str, str, str], Triple]] = defaultdict(dict)
    for triple in triples:
        predicates[triple.predicate.value][triple.passage_id, triple.subject, triple.object] = triple
    for predicate, found in predicates.items():
        rows = [
            {
                "passage_id": triple.passage_id,
                "subject": concepts[triple.subject],
                "object": concepts[triple.object],
                "confidence": triple.confidence,
                "comparison": triple.comparison,
                "use_case": triple.use_case,
            }
            for triple in found.values()
        ]
        await transaction.run_over(filled(CYPHER["relate_concepts"], predicate=predicate), rows, ROWS)
