"""Full-text search over concepts and chunk previews (D-08) with SQLite's FTS5.

The text is analysed by Kedge, not by FTS5, so that every store finds the same; FTS5 keeps the terms and ranks by
BM25. Its rows carry the number of the concept or chunk and change in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, TextClause, text

from kedge.core.values import Concept, Scope
from kedge.stores.graph.reads import plain_token, search_terms
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "fts5.sql")
_FORGET_CONCEPT, _FORGET_CHUNK = text(QUERIES["forget_concept"]), text(QUERIES["forget_chunk"])
_ADD_CONCEPT, _ADD_CHUNK = text(QUERIES["add_concept"]), text(QUERIES["add_chunk"])
_FIND_CONCEPTS, _FIND_CHUNKS = text(QUERIES["find_concepts"]), text(QUERIES["find_chunks"])


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
    terms = dict.fromkeys(plain_token(term) for term in search_terms(wanted))
    if not terms or limit < 1:
        return []
    query = " OR ".join(f'"{term}"' for term in terms)
    values = {"terms": query, "tenant": scope.tenant, "collection": scope.collection, "limit": limit}
    return list(connection.execute(statement, values).scalars())


def _stored(value: str) -> str:
    return " ".join(plain_token(term) for term in search_terms(value)) if value else ""
