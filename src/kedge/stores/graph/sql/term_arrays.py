"""Full-text search over concepts and chunk previews (D-08) in PostgreSQL: arrays of terms under a GIN index.

The text is analysed by Kedge, not by the server, so that every store finds the same. Concepts are ranked by how many of
the terms they share, where a term in the name counts most, chunks by how many.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, TextClause, text

from kedge.core.values import Concept, Scope
from kedge.stores.graph.reads import search_terms
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "term_arrays.sql")
_ADD_CONCEPT, _ADD_CHUNK = text(QUERIES["add_concept"]), text(QUERIES["add_chunk"])
_FORGET_CONCEPTS, _FORGET_CHUNKS = text(QUERIES["forget_concepts"]), text(QUERIES["forget_chunks"])
_FIND_CONCEPTS, _FIND_CHUNKS = text(QUERIES["find_concepts"]), text(QUERIES["find_chunks"])


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
