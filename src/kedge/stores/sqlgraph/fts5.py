"""Full-text search over concepts and chunk previews (D-08) with SQLite's FTS5.

The text is analysed by Kedge, not by FTS5, so that every store finds the same; FTS5 keeps the terms and ranks by
BM25. Its rows carry the number of the concept or chunk and change in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, TextClause, text

from kedge.stores.graph_reads import search_terms
from kedge.types import Concept, Scope

_FORGET_CONCEPT = text("DELETE FROM concepts_fts WHERE rowid = :seq")
_FORGET_CHUNK = text("DELETE FROM chunks_fts WHERE rowid = :seq")
_ADD_CONCEPT = text(
    "INSERT INTO concepts_fts (rowid, name, aliases, description) VALUES (:seq, :name, :aliases, :description)"
)
_ADD_CHUNK = text("INSERT INTO chunks_fts (rowid, preview) VALUES (:seq, :preview)")
# A hit in the name counts most, in the description least.
_FIND_CONCEPTS = text(
    "SELECT c.seq FROM concepts_fts JOIN concepts AS c ON c.seq = concepts_fts.rowid "
    "WHERE concepts_fts MATCH :terms AND c.tenant = :tenant AND c.collection = :collection "
    "ORDER BY bm25(concepts_fts, 10.0, 5.0, 1.0), c.key LIMIT :limit"
)
_FIND_CHUNKS = text(
    "SELECT c.passage_id FROM chunks_fts JOIN graph_chunks AS c ON c.seq = chunks_fts.rowid "
    "WHERE chunks_fts MATCH :terms AND c.tenant = :tenant AND c.collection = :collection "
    "ORDER BY bm25(chunks_fts), c.passage_id LIMIT :limit"
)


def index_concepts(connection: Connection, concepts: Iterable[tuple[int, Concept]]) -> None:
    """Make these concepts, by number, found under their present words."""
    rows = [
        {
            "seq": seq,
            "name": _stored(concept.name),
            "aliases": _stored(" ".join(concept.aliases)),
            "description": _stored(concept.description),
        }
        for seq, concept in concepts
    ]
    if rows:
        forget_concepts(connection, (row["seq"] for row in rows))
        connection.execute(_ADD_CONCEPT, rows)


def index_chunks(connection: Connection, previews: Iterable[tuple[int, str]]) -> None:
    """Make these chunks, by number, found under their present preview."""
    rows = [{"seq": seq, "preview": _stored(preview)} for seq, preview in previews]
    if rows:
        forget_chunks(connection, (row["seq"] for row in rows))
        connection.execute(_ADD_CHUNK, rows)


def forget_concepts(connection: Connection, seqs: Iterable[object]) -> None:
    """These concepts are found no more."""
    rows = [{"seq": seq} for seq in seqs]
    if rows:
        connection.execute(_FORGET_CONCEPT, rows)


def forget_chunks(connection: Connection, seqs: Iterable[object]) -> None:
    """These chunks are found no more."""
    rows = [{"seq": seq} for seq in seqs]
    if rows:
        connection.execute(_FORGET_CHUNK, rows)


def find_concepts(connection: Connection, scope: Scope, wanted: str, limit: int) -> list[int]:
    """Numbers of concepts that share a term, best first."""
    return _find(connection, _FIND_CONCEPTS, scope, wanted, limit)


def find_chunks(connection: Connection, scope: Scope, wanted: str, limit: int) -> list[str]:
    """Ids of passages whose preview shares a term, best first."""
    return _find(connection, _FIND_CHUNKS, scope, wanted, limit)


def _find(connection: Connection, statement: TextClause, scope: Scope, wanted: str, limit: int) -> list[Any]:
    terms = dict.fromkeys(_token(term) for term in search_terms(wanted))
    if not terms or limit < 1:
        return []
    query = " OR ".join(f'"{term}"' for term in terms)
    values = {"terms": query, "tenant": scope.tenant, "collection": scope.collection, "limit": limit}
    return list(connection.execute(statement, values).scalars())


def _stored(value: str) -> str:
    return " ".join(_token(term) for term in search_terms(value)) if value else ""


def _token(term: str) -> str:
    """One FTS5 token for each term: `c++` and the like are spelt in letters and digits.

    >>> _token("tree"), _token("c++")
    ('tree', 'x632b2b')
    """
    return term if term.isalnum() and term.isascii() else "x" + term.encode(errors="replace").hex()
