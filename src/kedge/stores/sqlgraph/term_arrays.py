"""Full-text search over concepts and chunk previews (D-08) in PostgreSQL: arrays of terms under a GIN index.

The text is analysed by Kedge, not by the server, so that every store finds the same. Concepts are ranked by how many of
the terms they share, where a term in the name counts most, chunks by how many.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, TextClause, text

from kedge.stores.graph_reads import search_terms
from kedge.types import Concept, Scope

_ADD_CONCEPT = text(
    "INSERT INTO concepts_fts (seq, name, aliases, description, terms)"
    " VALUES (:seq, :name, :aliases, :description, :terms) ON CONFLICT (seq) DO UPDATE SET name = excluded.name,"
    " aliases = excluded.aliases, description = excluded.description, terms = excluded.terms"
)
_ADD_CHUNK = text(
    "INSERT INTO chunks_fts (seq, terms) VALUES (:seq, :terms) ON CONFLICT (seq) DO UPDATE SET terms = excluded.terms"
)
_FORGET_CONCEPTS = text("DELETE FROM concepts_fts WHERE seq = ANY(CAST(:seqs AS int[]))")
_FORGET_CHUNKS = text("DELETE FROM chunks_fts WHERE seq = ANY(CAST(:seqs AS int[]))")
_FIND_CONCEPTS = text(
    "SELECT c.seq FROM concepts_fts AS f JOIN concepts AS c ON c.seq = f.seq"
    " WHERE f.terms && CAST(:terms AS text[]) AND c.tenant = :tenant AND c.collection = :collection"
    " ORDER BY 10 * (SELECT count(*) FROM unnest(f.name) AS t WHERE t = ANY(CAST(:terms AS text[])))"
    " + 5 * (SELECT count(*) FROM unnest(f.aliases) AS t WHERE t = ANY(CAST(:terms AS text[])))"
    " + (SELECT count(*) FROM unnest(f.description) AS t WHERE t = ANY(CAST(:terms AS text[]))) DESC, c.key"
    " LIMIT :limit"
)
_FIND_CHUNKS = text(
    "SELECT c.passage_id FROM chunks_fts AS f JOIN graph_chunks AS c ON c.seq = f.seq"
    " WHERE f.terms && CAST(:terms AS text[]) AND c.tenant = :tenant AND c.collection = :collection"
    " ORDER BY (SELECT count(*) FROM unnest(f.terms) AS t WHERE t = ANY(CAST(:terms AS text[]))) DESC, c.passage_id"
    " LIMIT :limit"
)


def index_concepts(connection: Connection, concepts: Iterable[tuple[int, Concept]]) -> None:
    """Make these concepts, by number, found under their present words."""
    rows = [_concept(seq, concept) for seq, concept in concepts]
    if rows:
        connection.execute(_ADD_CONCEPT, rows)


def index_chunks(connection: Connection, previews: Iterable[tuple[int, str]]) -> None:
    """Make these chunks, by number, found under their present preview."""
    rows = [{"seq": seq, "terms": _terms(preview)} for seq, preview in previews]
    if rows:
        connection.execute(_ADD_CHUNK, rows)


def forget_concepts(connection: Connection, seqs: Iterable[object]) -> None:
    """These concepts are found no more."""
    connection.execute(_FORGET_CONCEPTS, {"seqs": list(seqs)})


def forget_chunks(connection: Connection, seqs: Iterable[object]) -> None:
    """These chunks are found no more."""
    connection.execute(_FORGET_CHUNKS, {"seqs": list(seqs)})


def find_concepts(connection: Connection, scope: Scope, wanted: str, limit: int) -> list[int]:
    """Numbers of concepts that share a term, best first."""
    return _find(connection, _FIND_CONCEPTS, scope, wanted, limit)


def find_chunks(connection: Connection, scope: Scope, wanted: str, limit: int) -> list[str]:
    """Ids of passages whose preview shares a term, best first."""
    return _find(connection, _FIND_CHUNKS, scope, wanted, limit)


def _find(connection: Connection, statement: TextClause, scope: Scope, wanted: str, limit: int) -> list[Any]:
    terms = _terms(wanted)
    if not terms or limit < 1:
        return []
    values = {"terms": terms, "tenant": scope.tenant, "collection": scope.collection, "limit": limit}
    return list(connection.execute(statement, values).scalars())


def _concept(seq: int, concept: Concept) -> dict[str, Any]:
    name, aliases = _terms(concept.name), _terms(" ".join(concept.aliases))
    description = _terms(concept.description)
    together = list(dict.fromkeys((*name, *aliases, *description)))
    return {"seq": seq, "name": name, "aliases": aliases, "description": description, "terms": together}


def _terms(value: str) -> list[str]:
    """Each once."""
    return list(dict.fromkeys(search_terms(value))) if value else []
