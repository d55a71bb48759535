"""What retrieval asks the graph: each one statement and one round trip. Order is made here, the same in all stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kedge.stores.base import ConceptHit, GraphEdge
from kedge.stores.catalog.database import batches
from kedge.stores.neo4j import patterns as find
from kedge.stores.neo4j import words
from kedge.stores.neo4j.connection import Connection
from kedge.stores.neo4j.patterns import MENTIONS, PREDICATES
from kedge.stores.neo4j.schema import CHUNK_WORDS, CONCEPT_WORDS
from kedge.stores.neo4j.writing import concept_ids, read_concept
from kedge.types import Concept, Predicate, Role, Scope, Triple

IDS = 10_000
"""Ids per statement."""
CANDIDATES = 10_000
"""Hits of the full-text index, by Lucene's own score, that are put in Kedge's order."""
_KEY = "coalesce(c.long_key, c.key)"
_ROLES = tuple(Role)
_PLACES = {role.value: place for place, role in enumerate(_ROLES)}

# The driver takes longer to unpack a row than the server to find it. So these answer with one row of lists, name ids
# that were given by their place among `$ids`, and roles by their place in `Role`.
_EACH = "UNWIND range(0, size($ids) - 1) AS at"
_BY_ID = f"""
{_EACH}
{find.concept("c", "$ids[at]")}
RETURN collect(at), collect({_KEY}), collect(c.name), collect(c.degree)
"""
_OF_PASSAGES = f"""
{_EACH}
{find.chunk("p", "$ids[at]")}
MATCH (p)-[m:{MENTIONS}]->(c:Concept)
RETURN collect(at), collect(m.frequency), collect($places[m.role]),
       collect(c.id), collect({_KEY}), collect(c.name), collect(c.degree)
"""
_OF_CONCEPTS = f"""
{_EACH}
{find.concept("c", "$ids[at]")} WHERE c.degree > 0
MATCH (c)<-[m:{MENTIONS}]-(p:Chunk)
RETURN collect(at), collect(p.chunk_id), collect(m.frequency), collect($places[m.role])
"""
_ABOUT = f"""
{_EACH}
{find.title("t", "$ids[at]")}
{find.concept("c", "$ids[at]")}
MATCH (t)<-[:TITLED]-(:Document)<-[:FROM_DOCUMENT]-(p:Chunk)
RETURN collect(at), collect(p.chunk_id), collect(p.position)
"""
_TRIPLES = f"""
UNWIND $ids AS id
{find.concept("c", "id")}
MATCH (c)-[t:{PREDICATES}]-(:Concept)
WITH DISTINCT t, startNode(t) AS s, endNode(t) AS o
RETURN coalesce(s.long_key, s.key), type(t), coalesce(o.long_key, o.key),
       t.confidence, t.passage_id, t.comparison, t.use_case
"""
_IDS = """
MATCH (p:Chunk) USING INDEX SEEK p:Chunk(tenant, collection, chunk_id)
WHERE p.tenant = $tenant AND p.collection = $collection AND p.chunk_id > $after AND p.document_id IS NOT NULL
RETURN p.chunk_id ORDER BY p.chunk_id LIMIT $limit
"""


@dataclass(frozen=True, slots=True)
class _Words:
    """How nodes of one label are found by words."""

    index: str
    fields: tuple[str, ...]
    statement: str


# A hit in the name counts most, in the description least.
_FIND_CONCEPTS = f"""
CALL db.index.fulltext.queryNodes($index, $query, {{limit: $candidates}}) YIELD node AS c
WHERE c.tenant = $tenant AND c.collection = $collection
WITH c, 10 * size([term IN $terms WHERE term IN c.name_terms]) + 5 * size([term IN $terms WHERE term IN c.alias_terms])
      + size([term IN $terms WHERE term IN c.description_terms]) AS score
ORDER BY score DESC, {_KEY} LIMIT $limit
RETURN {_KEY}, c.name, c.aliases, c.description, c.category, c.difficulty, c.tags
"""
_FIND_CHUNKS = """
CALL db.index.fulltext.queryNodes($index, $query, {limit: $candidates}) YIELD node AS p
WHERE p.tenant = $tenant AND p.collection = $collection
WITH p, size([term IN $terms WHERE term IN p.preview_terms]) AS score
ORDER BY score DESC, p.chunk_id LIMIT $limit
RETURN p.chunk_id
"""
_CONCEPTS = _Words(CONCEPT_WORDS, ("name_terms", "alias_terms", "description_terms"), _FIND_CONCEPTS)
_CHUNKS = _Words(CHUNK_WORDS, ("preview_terms",), _FIND_CHUNKS)


async def concepts_by_key(connection: Connection, scope: Scope, keys: Sequence[str]) -> list[ConceptHit]:
    """In the order of the keys."""
    wanted = concept_ids(scope, keys)
    rows = await _each(connection, scope, _BY_ID, wanted.values())
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
    edges.sort(key=lambda edge: (-edge.weight, edge.passage_id, edge.concept_id))
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
    rows = await _each(connection, scope, _ABOUT, dict.fromkeys(concept_ids))
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


async def triples_of(connection: Connection, scope: Scope, concept_ids: Sequence[str]) -> list[Triple]:
    """By confidence, then by their fields."""
    rows = [
        row
        for ids in batches(dict.fromkeys(concept_ids), IDS)
        for row in await connection.read(scope, _TRIPLES, ids=ids)
    ]
    found = {Triple(subject, Predicate(predicate), *rest) for subject, predicate, *rest in rows}
    return sorted(found, key=lambda t: (-t.confidence, t.subject, t.predicate, t.object, t.passage_id))


async def passage_ids(connection: Connection, scope: Scope, after: str, limit: int) -> list[str]:
    """The next ids behind `after`."""
    return [row[0] for row in await connection.read(scope, _IDS, after=after, limit=limit)]


async def _each(connection: Connection, scope: Scope, statement: str, ids: Iterable[str]) -> list[tuple[Any, ...]]:
    """What a statement that starts with `_EACH` found: tuples of the id in question and the other values."""
    found: list[tuple[Any, ...]] = []
    for some in batches(ids, IDS):
        ((places, *columns),) = await connection.read(scope, statement, ids=some, places=_PLACES)
        found += zip([some[place] for place in places], *columns, strict=True)
    return found
