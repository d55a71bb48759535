"""Cypher that finds a node by its id, within the scope and by a seek in its index.

The seek is asked for in every statement: the server keeps the plan it made when the graph was small, and left alone
that plan may read all nodes of a label for every id, long after the graph has grown.
"""

from __future__ import annotations

from kedge.types import MentionKind, Predicate

SCOPE = "tenant: $tenant, collection: $collection"
"""Part of every pattern that is matched or merged."""
MENTIONS = "|".join(MentionKind)
"""Types of the edges from a chunk to a concept."""
PREDICATES = "|".join(Predicate)
"""Types of the edges between concepts."""


def concept(name: str, identifier: str) -> str:
    """The concept with this id, by the name `name`."""
    return f"MATCH ({name}:Concept {{{SCOPE}, id: {identifier}}}) USING INDEX SEEK {name}:Concept(id)"


def chunk(name: str, identifier: str) -> str:
    """The chunk of this passage."""
    return _by(name, "Chunk", "chunk_id", identifier)


def chunks_of(name: str, document: str) -> str:
    """All chunks of the document with this id."""
    return _by(name, "Chunk", "document_id", document)


def document(name: str, identifier: str) -> str:
    """The document with this id."""
    return _by(name, "Document", "document_id", identifier)


def title(name: str, identifier: str) -> str:
    """The title that means the concept with this id."""
    return _by(name, "Title", "id", identifier)


def _by(name: str, label: str, field: str, value: str) -> str:
    """
    >>> _by("t", "Title", "id", "row.concept").partition(" USING ")[2]
    'INDEX SEEK t:Title(tenant, collection, id)'
    """
    pattern = f"MATCH ({name}:{label} {{{SCOPE}, {field}: {value}}})"
    return f"{pattern} USING INDEX SEEK {name}:{label}(tenant, collection, {field})"
