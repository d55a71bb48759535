"""What every store of the concept graph does the same way: what it refuses, what a batch says, and the orders."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from kedge.core.errors import UsageError
from kedge.core.triples import validate_triple
from kedge.core.values import Concept, GraphBatch, GraphChunk, GraphDocument, Triple
from kedge.stores.ports import GraphEdge


def check_batch(batch: GraphBatch) -> None:
    """Refuse what no graph store takes (UsageError): invalid triples, concepts without a key, mentions of nothing."""
    for triple in batch.triples:
        validate_triple(triple)
    named = [concept.key for concept in batch.concepts]
    named += [mention.concept_key for mention in batch.mentions]
    named += [key for document in batch.documents for key, _, _ in document.mentions]
    if not all(named):
        raise UsageError("A concept needs a key.", hint="Leave out names without letters or digits.")
    if any(mention.frequency < 1 for mention in batch.mentions):
        raise UsageError("A mention has a frequency of at least 1.", hint="Leave out what is not mentioned.")


def described(batch: GraphBatch) -> dict[str, Concept]:
    """Every concept the batch names, once; one that is not described is named by its key."""
    found: dict[str, Concept] = {}
    for concept in batch.concepts:
        clean = concept
        if len(concept.aliases) > 1 or len(concept.tags) > 1:
            aliases, tags = dict.fromkeys(concept.aliases), dict.fromkeys(concept.tags)
            clean = replace(concept, aliases=tuple(aliases), tags=tuple(tags))
        found[concept.key] = merged(found[concept.key], clean) if concept.key in found else clean
    named = [mention.concept_key for mention in batch.mentions]
    named += [key for document in batch.documents for key, _, _ in document.mentions]
    named += [key for triple in batch.triples for key in (triple.subject, triple.object)]
    for key in named:
        found.setdefault(key, Concept(key=key, name=key))
    return found


def merged(old: Concept, new: Concept) -> Concept:
    """What is known of a concept after it was written again: the first name, all aliases and tags."""
    return replace(
        old,
        aliases=tuple(dict.fromkeys((*old.aliases, *new.aliases))),
        description=old.description or new.description,
        category=old.category or new.category,
        difficulty=old.difficulty or new.difficulty,
        tags=tuple(dict.fromkeys((*old.tags, *new.tags))),
    )


def document_fields(document: GraphDocument, now: datetime) -> dict[str, Any]:
    """What is kept of a document beside its id, its title's keys and its mentions."""
    return {
        "url": document.url,
        "title": document.title,
        "format": document.format,
        "author": document.author,
        "chunk_count": document.chunk_count,
        "status": document.status,
        "ingested_at": now,
    }


def chunk_fields(chunk: GraphChunk) -> dict[str, Any]:
    """What is kept of a chunk beside its passage and the one that follows."""
    return {
        "document_id": chunk.document_id,
        "hash": chunk.hash,
        "preview": chunk.preview,
        "position": chunk.index,
        "token_count": chunk.token_count,
        "has_code": chunk.has_code,
        "has_formula": chunk.has_formula,
        "has_table": chunk.has_table,
    }


def heaviest_first(edge: GraphEdge) -> tuple[float, str, str]:
    """The order of `passages_of`: by weight, then by ids."""
    return (-edge.weight, edge.passage_id, edge.concept_id)


def by_confidence(triple: Triple) -> tuple[float, str, str, str, str]:
    """The order of `triples_of`: by confidence, then by the other fields."""
    return (-triple.confidence, triple.subject, triple.predicate, triple.object, triple.passage_id)
