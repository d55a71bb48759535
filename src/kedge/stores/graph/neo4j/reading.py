"""What retrieval asks the graph: each one statement and one round trip. Order is made here, the same in all stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kedge.core.values import Concept, Predicate, Role, Scope, Triple
from kedge.stores.batches import batches
from kedge.stores.graph.concepts import by_confidence, heaviest_first
from kedge.stores.graph.neo4j import words
from kedge.stores.graph.neo4j.connection import Connection
from kedge.stores.graph.neo4j.schema import CHUNK_WORDS, CONCEPT_WORDS, MENTIONS, PREDICATES
from kedge.stores.graph.neo4j.writing import concept_ids, read_concept
from kedge.stores.graph.reads import DocumentState
from kedge.stores.ports import ConceptHit, GraphEdge
from kedge.stores.queries import filled, load_queries

CYPHER = load_queries(__package__, "concepts.cypher")
IDS = 10_000
"""Ids per statement."""
CANDIDATES = 10_000
"""Hits of the full-text index, by Lucene's own score, that are put in Kedge's order."""
_ROLES = tuple(Role)
_PLACES = {role.value: place for place, role in enumerate(_ROLES)}
_OF_PASSAGES = filled(CYPHER["concepts_of_passages"], mentions=MENTIONS)
_OF_CONCEPTS = filled(CYPHER["passages_of_concepts"], mentions=MENTIONS)
_TRIPLES = filled(CYPHER["triples_of_concepts"], predicates=PREDICATES)


@dataclass(frozen=True, slots=True)
class _Words:
    """How nodes of one label are found by words."""

    index: str
    fields: tuple[str, ...]
    statement: str


_CONCEPTS = _Words(CONCEPT_WORDS, ("name_terms", "alias_terms", "description_terms"), CYPHER["search_concepts"])
_CHUNKS = _Words(CHUNK_WORDS, ("preview_terms",), CYPHER["search_chunks"])


async def concepts_by_key(connection: Connection, scope: Scope, keys: Sequence[str]) -> list[ConceptHit]:
    """In the order of the keys."""
    wanted = concept_ids(scope, keys)
    rows = await _each(connection, scope, CYPHER["concepts_by_id"], wanted.values())
    found = {row[0]: ConceptHit(*row) for row in rows}
    return [found[identifier] for identifier in wanted.values() if identifier in found]


async def concepts_of(
    connection: Connection, scope: Scope, passage_ids: Sequence[str]
) -> tuple[list[ConceptHit], list[GraphEdge]]:
    """Edges by passage in the order asked for, heaviest first; concepts in the order of the edges."""
    place = {passage: number for number, passage in enumerate(dict.fromkeys(passage_ids))}
    rows = await _each(connection, scope, _OF_PASSAGES, place)
    hits = {row[3]: ConceptHit(*row[3:]) for row in rows}
    edges = _edges((passage, concept, weight, role) for passage, weight, role, concept, *_ in rows)
    edges.sort(key=lambda edge: (place[edge.passage_id], -edge.weight, edge.concept_id))
    return [hits[concept] for concept in dict.fromkeys(edge.concept_id for edge in edges)], edges


async def passages_of(connection: Connection, scope: Scope, concept_ids: Sequence[str], limit: int) -> list[GraphEdge]:
    """Heaviest first, then by id."""
    rows = await _each(connection, scope, _OF_CONCEPTS, dict.fromkeys(concept_ids))
    edges = _edges((passage, concept, weight, role) for concept, passage, weight, role in rows)
    edges.sort(key=heaviest_first)
    taken: Counter[str] = Counter()
    best: list[GraphEdge] = []
    for edge in edges:
        taken[edge.concept_id] += 1
        if taken[edge.concept_id] <= limit:
            best.append(edge)
    return best


def _edges(rows: Iterable[tuple[str, str, int, int]]) -> list[GraphEdge]:
    """One edge between a passage and a concept: the highest weight and the strongest role of those there are."""
    ties: dict[tuple[str, str], tuple[int, int]] = {}
    for passage, concept, weight, role in rows:
        pair = (passage, concept)
        if pair in ties:
            ties[pair] = max(weight, ties[pair][0]), min(role, ties[pair][1])
        else:
            ties[pair] = weight, role
    return [GraphEdge(*pair, float(weight), _ROLES[role]) for pair, (weight, role) in ties.items()]


async def about(connection: Connection, scope: Scope, concept_ids: Sequence[str]) -> list[GraphEdge]:
    """By position in the document, then by id."""
    rows = await _each(connection, scope, CYPHER["passages_about_concepts"], dict.fromkeys(concept_ids))
    found = sorted((position, passage, concept) for concept, passage, position in rows)
    return [GraphEdge(passage, concept, 1.0, Role.TITLE) for _, passage, concept in found]


async def search_concepts(connection: Connection, scope: Scope, text: str, limit: int) -> list[Concept]:
    """Best first, then by key."""
    rows = await _find(connection, scope, _CONCEPTS, text, limit)
    return [read_concept(row) for row in rows]


async def search_chunks(connection: Connection, scope: Scope, text: str, limit: int) -> list[str]:
    """Best first, then by id."""
    rows = await _find(connection, scope, _CHUNKS, text, limit)
    return [row[0] for row in rows]


async def _find(connection: Connection, scope: Scope, kind: _Words, text: str, limit: int) -> list[list[Any]]:
    wanted = words.tokens(text)
    if not wanted or limit < 1:
        return []
    query = words.query(scope, wanted, kind.fields)
    values = {"index": kind.index, "query": query, "terms": wanted, "limit": limit}
    return await connection.read(scope, kind.statement, candidates=max(CANDIDATES, limit), **values)


async def document_states(
    connection: Connection, scope: Scope, document_ids: Sequence[str]
) -> dict[str, DocumentState]:
    """By document id."""
    found: dict[str, DocumentState] = {}
    for ids in batches(dict.fromkeys(document_ids), IDS):
        for key, count, status, at in await connection.read(scope, CYPHER["document_states"], ids=ids):
            found[key] = DocumentState(count, status, at.to_native())
    return found


async def triples_of(connection: Connection, scope: Scope, concept_ids: Sequence[str]) -> list[Triple]:
    """By confidence, then by their fields."""
    rows = [
        row
        for ids in batches(dict.fromkeys(concept_ids), IDS)
        for row in await connection.read(scope, _TRIPLES, ids=ids)
    ]
    found = {Triple(subject, Predicate(predicate), *rest) for subject, predicate, *rest in rows}
    return sorted(found, key=by_confidence)


async def passage_ids(connection: Connection, scope: Scope, after: str, limit: int) -> list[str]:
    """The next ids behind `after`."""
    return [row[0] for row in await connection.read(scope, CYPHER["passage_ids"], after=after, limit=limit)]


async def _each(connection: Connection, scope: Scope, statement: str, ids: Iterable[str]) -> list[tuple[Any, ...]]:
    """What a statement that answers with one row of lists found: tuples of the id in question and the other values."""
    found: list[tuple[Any, ...]] = []
    for some in batches(ids, IDS):
        ((places, *columns),) = await connection.read(scope, statement, ids=some, places=_PLACES)
        found += zip([some[place] for place in places], *columns, strict=True)
    return found
