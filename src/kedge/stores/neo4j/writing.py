"""Adding a batch to the graph, in one transaction. Writing it twice changes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from kedge.ids import concept_id
from kedge.stores.catalog.database import batches
from kedge.stores.neo4j import patterns as find
from kedge.stores.neo4j.connection import Transaction
from kedge.stores.neo4j.patterns import MENTIONS, SCOPE
from kedge.stores.neo4j.words import indexed, scope_token, tokens
from kedge.stores.sqlgraph.writing import described, merged
from kedge.types import Concept, GraphBatch, GraphChunk, GraphDocument, PassageConcept, Scope, Triple

ROWS = 2000
"""Rows per statement."""


async def write(transaction: Transaction, batch: GraphBatch) -> None:
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


async def in_parts(transaction: Transaction, statement: str, rows: Iterable[object], **values: object) -> list[Any]:
    """Run the statement over `$rows`, some at a time; returns all it returned."""
    found: list[Any] = []
    for part in batches(rows, ROWS):
        found += await transaction.run(statement, rows=part, **values)
    return found


# ---------------------------------------------------------------- concepts

# Only those that the batch adds something to come back.
_MERGE_CONCEPTS = f"""
UNWIND $rows AS row
MERGE (c:Concept {{{SCOPE}, key: row.key}})
ON CREATE SET c += row.fields, c.id = row.id, c.degree = 0, c.created_at = $now, c.updated_at = $now
WITH c, row.fields AS new
WHERE (c.description = '' AND new.description <> '') OR (c.category = '' AND new.category <> '')
   OR (c.difficulty = '' AND new.difficulty <> '')
   OR any(alias IN new.aliases WHERE NOT alias IN c.aliases) OR any(tag IN new.tags WHERE NOT tag IN c.tags)
RETURN c.id, c.name, c.aliases, c.description, c.category, c.difficulty, c.tags
"""
_UPDATE_CONCEPTS = f"""
UNWIND $rows AS row
{find.concept("c", "row.id")}
SET c += row.fields, c.updated_at = $now
"""


async def _write_concepts(transaction: Transaction, concepts: Iterable[Concept]) -> None:
    scope = transaction.scope
    wanted = {concept_id(scope, concept.key): concept for concept in concepts}
    now = datetime.now(UTC)
    rows = [
        {"key": indexed(concept.key), "id": identifier, "fields": _fields(scope, concept)}
        for identifier, concept in wanted.items()
    ]
    changed = []
    for identifier, *known in await in_parts(transaction, _MERGE_CONCEPTS, rows, now=now):
        old = read_concept([wanted[identifier].key, *known])
        changed.append({"id": identifier, "fields": _fields(scope, merged(old, wanted[identifier]))})
    await in_parts(transaction, _UPDATE_CONCEPTS, changed, now=now)


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

_MERGE_DOCUMENTS = f"""
UNWIND $rows AS row
MERGE (d:Document {{{SCOPE}, document_id: row.id}})
SET d += row.fields
WITH d
MATCH (d)-[old:MENTIONS|TITLED]->(named)
WITH old, named, CASE WHEN named:Title THEN named.id END AS title
DELETE old
RETURN DISTINCT title
"""
_TITLE = f"""
UNWIND $rows AS row
{find.document("d", "row.document")}
MERGE (t:Title {{{SCOPE}, id: row.concept}})
MERGE (d)-[:TITLED]->(t)
"""
FORGET_TITLES = f"""
UNWIND $rows AS id
{find.title("t", "id")} WHERE NOT EXISTS {{ (t)<-[:TITLED]-() }}
DELETE t
"""
"""Title nodes go with the last document that is called so."""
_MENTION = f"""
UNWIND $rows AS row
{find.document("d", "row.document")}
{find.concept("c", "row.concept")}
MERGE (d)-[m:MENTIONS]->(c)
SET m.frequency = row.frequency, m.relevance = row.relevance
"""
_MERGE_CHUNKS = f"""
UNWIND $rows AS row
MERGE (p:Chunk {{{SCOPE}, chunk_id: row.id}})
SET p += row.fields
WITH p
MATCH (p)-[old:FROM_DOCUMENT|NEXT_CHUNK]->()
DELETE old
"""
_FROM_DOCUMENT = f"""
UNWIND $rows AS id
{find.document("d", "id")}
{find.chunks_of("p", "id")}
MERGE (p)-[:FROM_DOCUMENT]->(d)
"""
_NEXT_CHUNK = f"""
UNWIND $rows AS id
{find.chunks_of("p", "id")}
{find.chunk("next", "p.next_chunk_id")}
MERGE (p)-[:NEXT_CHUNK]->(next)
"""


async def _write_documents(transaction: Transaction, documents: Mapping[str, GraphDocument]) -> None:
    """A document that was there gets new fields, titles and mentions in place of the old."""
    if not documents:
        return
    scope = transaction.scope
    now = datetime.now(UTC)
    rows = [{"id": key, "fields": _document_fields(document, now)} for key, document in documents.items()]
    former = {row[0] for row in await in_parts(transaction, _MERGE_DOCUMENTS, rows)} - {None}
    titles = [
        {"document": key, "concept": concept_id(scope, title)}
        for key, document in documents.items()
        for title in dict.fromkeys(document.title_keys)
    ]
    await in_parts(transaction, _TITLE, titles)
    await in_parts(transaction, FORGET_TITLES, sorted(former - {row["concept"] for row in titles}))
    mentions = [
        {"document": key, "concept": concept_id(scope, concept), "frequency": frequency, "relevance": relevance}
        for key, document in documents.items()
        for concept, frequency, relevance in document.mentions
    ]
    await in_parts(transaction, _MENTION, mentions)


def _document_fields(document: GraphDocument, now: datetime) -> dict[str, Any]:
    return {
        "url": indexed(document.url),
        "title": document.title,
        "format": document.format,
        "author": document.author,
        "chunk_count": document.chunk_count,
        "status": "active",
        "ingested_at": now,
    }


async def _write_chunks(transaction: Transaction, chunks: Mapping[str, GraphChunk]) -> None:
    rows = [{"id": key, "fields": _chunk_fields(transaction.scope, chunk)} for key, chunk in chunks.items()]
    await in_parts(transaction, _MERGE_CHUNKS, rows)


def _chunk_fields(scope: Scope, chunk: GraphChunk) -> dict[str, Any]:
    return {
        "document_id": chunk.document_id,
        "hash": chunk.hash,
        "preview": chunk.preview,
        "position": chunk.index,
        "token_count": chunk.token_count,
        "has_code": chunk.has_code,
        "has_formula": chunk.has_formula,
        "has_table": chunk.has_table,
        "next_chunk_id": chunk.next_passage_id,
        "scope": scope_token(scope),
        "preview_terms": tokens(chunk.preview),
    }


async def _link_chunks(transaction: Transaction, documents: Collection[str]) -> None:
    """Tie chunks to their document and to each other, whichever was written first."""
    for statement in (_FROM_DOCUMENT, _NEXT_CHUNK):
        await in_parts(transaction, statement, sorted(documents))


# ---------------------------------------------------------------- edges

# A passage may be named before its chunk is written: then it is a node without `document_id`.
_COUNT_MENTIONS = f"""
UNWIND $rows AS row
MERGE (p:Chunk {{{SCOPE}, chunk_id: row.passage}})
WITH p, row
{find.concept("c", "row.concept")} WHERE NOT EXISTS {{ (p)-[:{MENTIONS}]->(c) }}
WITH c, count(*) AS added
SET c.degree = c.degree + added
"""


def _discuss(kind: str) -> str:
    return f"""
UNWIND $rows AS row
{find.chunk("p", "row.passage")}
{find.concept("c", "row.concept")}
MERGE (p)-[m:{kind}]->(c)
SET m.frequency = row.frequency, m.role = row.role
"""


def _relate(predicate: str) -> str:
    return f"""
UNWIND $rows AS row
{find.concept("s", "row.subject")}
{find.concept("o", "row.object")}
MERGE (s)-[t:{predicate} {{passage_id: row.passage_id}}]->(o)
SET t.confidence = row.confidence, t.comparison = row.comparison, t.use_case = row.use_case
"""


async def _write_mentions(
    transaction: Transaction, mentions: Sequence[PassageConcept], concepts: Mapping[str, str]
) -> None:
    pairs = dict.fromkeys((mention.passage_id, concepts[mention.concept_key]) for mention in mentions)
    counted = [{"passage": passage, "concept": concept} for passage, concept in pairs]
    await in_parts(transaction, _COUNT_MENTIONS, counted)
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
        await in_parts(transaction, _discuss(kind), rows)


async def _write_triples(transaction: Transaction, triples: Sequence[Triple], concepts: Mapping[str, str]) -> None:
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
        await in_parts(transaction, _relate(predicate), rows)
