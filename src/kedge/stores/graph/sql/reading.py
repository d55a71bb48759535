"""What retrieval asks the graph. Each is one to three indexed statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, or_, select

from kedge.core.values import Concept, MentionKind, Predicate, Role, Scope, Triple
from kedge.stores.batches import batches
from kedge.stores.catalog.sql.plain import PlainRead
from kedge.stores.catalog.sql.schema_graph import (
    concepts,
    graph_chunks,
    graph_documents,
    graph_title_keys,
    passage_concepts,
    triples,
)
from kedge.stores.graph.concepts import by_confidence
from kedge.stores.graph.reads import DocumentState
from kedge.stores.graph.sql import fulltext
from kedge.stores.graph.sql.writing import load_concepts, within
from kedge.stores.ports import ConceptHit, GraphEdge

_HIT = (concepts.c.id, concepts.c.key, concepts.c.name, concepts.c.degree)
_WEIGHTS = select(
    passage_concepts.c.concept_seq, passage_concepts.c.passage_id, passage_concepts.c.frequency, passage_concepts.c.role
)
_ROLES = tuple(Role)
_Tie = tuple[int, int]
"""Highest frequency and strongest role between a passage and a concept."""
# Built once: building a statement costs more than running it.
_WITH_PASSAGE = _WEIGHTS.where(passage_concepts.c.passage_id.in_(bindparam("ids", expanding=True)))
_OF_PASSAGES = PlainRead(_WITH_PASSAGE)
_OF_CONCEPTS = PlainRead(_WEIGHTS.where(passage_concepts.c.concept_seq.in_(bindparam("seqs", expanding=True))))
_OF_BOTH = _WITH_PASSAGE.where(passage_concepts.c.concept_seq == bindparam("seq"))
_HEAVIEST = (
    _WEIGHTS.where(passage_concepts.c.concept_seq == bindparam("seq"))
    .order_by(passage_concepts.c.frequency.desc(), passage_concepts.c.passage_id)
    .limit(bindparam("limit"))
)


_KNOWN = select(concepts.c.seq, concepts.c.tenant, concepts.c.collection, *_HIT)
_BY_SEQ = PlainRead(_KNOWN.where(concepts.c.seq.in_(bindparam("some", expanding=True))))
_BY_ID = PlainRead(_KNOWN.where(concepts.c.id.in_(bindparam("some", expanding=True))))
_BY_KEY = PlainRead(
    select(*_HIT).where(
        concepts.c.tenant == bindparam("tenant"),
        concepts.c.collection == bindparam("collection"),
        concepts.c.key.in_(bindparam("keys", expanding=True)),
    )
)
_TITLED = PlainRead(
    select(graph_chunks.c.position, graph_chunks.c.passage_id, graph_title_keys.c.key)
    .select_from(graph_title_keys)
    .join(graph_documents, graph_documents.c.seq == graph_title_keys.c.document_seq)
    .join(graph_chunks, graph_chunks.c.document_id == graph_documents.c.document_id)
    .where(
        graph_title_keys.c.tenant == bindparam("tenant"),
        graph_title_keys.c.collection == bindparam("collection"),
        graph_title_keys.c.key.in_(bindparam("keys", expanding=True)),
        graph_chunks.c.tenant == bindparam("tenant"),
        graph_chunks.c.collection == bindparam("collection"),
    )
)
_SUBJECTS, _OBJECTS = concepts.alias(), concepts.alias()
_SEQS: BindParameter[Any] = bindparam("seqs", expanding=True)
_TRIPLES = PlainRead(
    select(_SUBJECTS.c.key, triples.c.predicate, _OBJECTS.c.key)
    .add_columns(triples.c.confidence, triples.c.passage_id, triples.c.comparison, triples.c.use_case)
    .join(_SUBJECTS, _SUBJECTS.c.seq == triples.c.subject_seq)
    .join(_OBJECTS, _OBJECTS.c.seq == triples.c.object_seq)
    .where(or_(triples.c.subject_seq.in_(_SEQS), triples.c.object_seq.in_(_SEQS)))
)


def concepts_by_key(connection: Connection, scope: Scope, keys: Sequence[str]) -> list[ConceptHit]:
    """In the order of the keys."""
    found: dict[str, ConceptHit] = {}
    for some in batches(dict.fromkeys(keys)):
        rows = _BY_KEY.rows(connection, some, **_place(scope))
        found.update((row[1], ConceptHit(*row)) for row in rows)
    return [found[key] for key in dict.fromkeys(keys) if key in found]


def concepts_of(
    connection: Connection, scope: Scope, passage_ids: Sequence[str]
) -> tuple[list[ConceptHit], list[GraphEdge]]:
    """Edges by passage in the order asked for, heaviest first; concepts in the order of the edges."""
    place = {passage: number for number, passage in enumerate(dict.fromkeys(passage_ids))}
    ties: dict[tuple[str, int], _Tie] = {}
    for ids in batches(place):
        for seq, passage, frequency, role in _OF_PASSAGES.rows(connection, ids):
            known = ties.get((passage, seq))
            ties[passage, seq] = (frequency, role) if known is None else _stronger(known, frequency, role)
    hits = _known(connection, scope, _BY_SEQ, {seq for _, seq in ties})
    found = [
        (place[passage], -frequency, hits[seq].id, passage, role)
        for (passage, seq), (frequency, role) in ties.items()
        if seq in hits
    ]
    edges = [
        GraphEdge(passage, concept, float(-weight), _ROLES[role]) for _, weight, concept, passage, role in sorted(found)
    ]
    by_id = {hit.id: hit for hit in hits.values()}
    return [by_id[concept] for concept in dict.fromkeys(edge.concept_id for edge in edges)], edges


def _place(scope: Scope) -> dict[str, str]:
    return {"tenant": scope.tenant, "collection": scope.collection}


def _known(
    connection: Connection, scope: Scope, statement: PlainRead, values: Iterable[object]
) -> dict[int, ConceptHit]:
    """Concepts of the scope by number, that the statement finds by some of the values.

    The scope is compared here: as a condition it would tempt the planner to walk the index over all of the scope.
    """
    found: dict[int, ConceptHit] = {}
    for some in batches(values):
        for seq, tenant, collection, *hit in statement.rows(connection, some):
            if (tenant, collection) == (scope.tenant, scope.collection):
                found[seq] = ConceptHit(*hit)
    return found


def passages_of(connection: Connection, scope: Scope, concept_ids: Sequence[str], limit: int) -> list[GraphEdge]:
    """All edges of small concepts at once; of each concept with more than `limit`, the heaviest from the index."""
    known = _known(connection, scope, _BY_ID, dict.fromkeys(concept_ids))
    small = [seq for seq, hit in known.items() if hit.degree <= limit]
    rows: list[Any] = []
    for seqs in batches(small):
        rows += _OF_CONCEPTS.rows(connection, seqs)
    for seq in known.keys() - set(small):
        rows += _heaviest(connection, seq, limit)
    return _edges(rows, {seq: hit.id for seq, hit in known.items()}, limit)


def _heaviest(connection: Connection, seq: int, limit: int) -> Sequence[Any]:
    """All edges to the `limit` heaviest passages of a concept: one may be tied to it in several ways."""
    found = connection.execute(_HEAVIEST, {"seq": seq, "limit": limit * len(MentionKind)}).all()
    best = list(dict.fromkeys(row.passage_id for row in found))[:limit]
    return [row for ids in batches(best) for row in connection.execute(_OF_BOTH, {"seq": seq, "ids": ids}).all()]


def _edges(rows: Iterable[Any], identifiers: dict[int, str], limit: int) -> list[GraphEdge]:
    """One edge for each concept and passage, at most `limit` for a concept, heaviest first, then by id."""
    ties: dict[int, dict[str, _Tie]] = {}
    for seq, passage, frequency, role in rows:
        of_concept = ties.setdefault(seq, {})
        known = of_concept.get(passage)
        of_concept[passage] = (frequency, role) if known is None else _stronger(known, frequency, role)
    found: list[tuple[int, str, str, int]] = []
    for seq, of_concept in ties.items():
        identifier = identifiers[seq]
        own = [(-frequency, passage, identifier, role) for passage, (frequency, role) in of_concept.items()]
        found += own if len(own) <= limit else sorted(own)[:limit]
    found.sort()  # as `heaviest_first`: weight, passage, concept, of which each comes once
    return [GraphEdge(passage, concept, float(-weight), _ROLES[role]) for weight, passage, concept, role in found]


def _stronger(tie: _Tie, frequency: int, role: int) -> _Tie:
    return max(frequency, tie[0]), min(role, tie[1])


def about(connection: Connection, scope: Scope, concept_ids: Sequence[str]) -> list[GraphEdge]:
    """By position in the document, then by id."""
    known = _known(connection, scope, _BY_ID, dict.fromkeys(concept_ids))
    identifiers = {hit.key: hit.id for hit in known.values()}
    found: list[tuple[int, str, str]] = []
    for keys in batches(identifiers):
        rows = _TITLED.rows(connection, keys, **_place(scope))
        found += [(row[0], row[1], identifiers[row[2]]) for row in rows]
    return [GraphEdge(passage, concept, 1.0, Role.TITLE) for _, passage, concept in sorted(found)]


def search_concepts(connection: Connection, scope: Scope, text: str, limit: int) -> list[Concept]:
    """Best first, then by key."""
    seqs = fulltext.of(connection).find_concepts(connection, scope, text, limit)
    found = load_concepts(connection, seqs)
    return [found[seq] for seq in seqs]


def search_chunks(connection: Connection, scope: Scope, text: str, limit: int) -> list[str]:
    """Best first, then by id."""
    return fulltext.of(connection).find_chunks(connection, scope, text, limit)


def document_states(connection: Connection, scope: Scope, document_ids: Sequence[str]) -> dict[str, DocumentState]:
    """By document id."""
    columns = graph_documents.c
    found: dict[str, DocumentState] = {}
    for ids in batches(dict.fromkeys(document_ids)):
        wanted = select(columns.document_id, columns.chunk_count, columns.status, columns.ingested_at)
        for row in connection.execute(wanted.where(within(graph_documents, scope), columns.document_id.in_(ids))):
            found[row[0]] = DocumentState(*row[1:])
    return found


def triples_of(connection: Connection, scope: Scope, concept_ids: Sequence[str]) -> list[Triple]:
    """By confidence, then by their fields."""
    known = _known(connection, scope, _BY_ID, dict.fromkeys(concept_ids))
    found: set[Triple] = set()
    for seqs in batches(known):
        for subject, predicate, *rest in _TRIPLES.rows(connection, seqs):
            found.add(Triple(subject, Predicate(predicate), *rest))
    return sorted(found, key=by_confidence)


def passage_ids(connection: Connection, scope: Scope, after: str, limit: int) -> list[str]:
    """The next ids behind `after`."""
    rest = select(graph_chunks.c.passage_id).where(within(graph_chunks, scope), graph_chunks.c.passage_id > after)
    return list(connection.execute(rest.order_by(graph_chunks.c.passage_id).limit(limit)).scalars())
