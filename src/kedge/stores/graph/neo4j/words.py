"""The words that full-text search goes by (D-08): analysed by Kedge, kept as lists, indexed by Lucene as they are."""

from __future__ import annotations

from kedge.core.ids import sha256
from kedge.core.values import Scope
from kedge.stores.graph.reads import plain_token, search_terms

INDEXED_CHARS = 1000
"""Longest text in an index over whole values: Neo4j takes 8 kB for all values of an entry."""


def tokens(text: str) -> list[str]:
    """Distinct terms of the text, in order, each of letters and digits alone, so that none is Lucene's syntax.

    >>> tokens("Trees and C++ trees")
    ['tree', 'x632b2b']
    """
    return list(dict.fromkeys(plain_token(term) for term in search_terms(text))) if text else []


def query(scope: Scope, wanted: list[str], fields: tuple[str, ...]) -> str:
    """Lucene's query for nodes of the scope with one of the terms in one of the fields."""
    parts = " ".join(f"{field}:({' '.join(wanted)})" for field in fields)
    return f"+scope:{scope_token(scope)} +({parts})"


def scope_token(scope: Scope) -> str:
    """One word for tenant and collection, kept on nodes with words: Lucene leaves other scopes out by itself."""
    return "s" + sha256(f"{scope.tenant}\x1f{scope.collection}")[:32]


def indexed(text: str) -> str:
    """The text, or if it is too long for an index, its beginning and a digest of all of it."""
    return text if len(text) <= INDEXED_CHARS else f"{text[:INDEXED_CHARS]}…{sha256(text)}"
