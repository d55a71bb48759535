"""What a graph store may offer beyond its port, and the terms that its full-text search goes by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from kedge.core.values import Concept, Scope, Triple
from kedge.text.analyze import terms, words


@runtime_checkable
class CanSearchPreviews(Protocol):
    """A graph store with a full-text index over chunk previews (D-08)."""

    async def search_chunks(self, scope: Scope, text: str, limit: int) -> list[str]:
        """Ids of passages whose preview shares a term with `text`, best first, then by id."""


@runtime_checkable
class CanSearchMeant(Protocol):
    """A graph that can leave out what is not meant before it looks who may see it: most of it never is."""

    async def search_meant(
        self, scope: Scope, text: str, limit: int, meant: Callable[[Concept], bool]
    ) -> list[Concept]:
        """Of what `search_concepts` gives for `text` and `limit`, what is meant, in its order.

        `meant` holds of no concept of which it would not hold with more aliases or another description.
        """


@runtime_checkable
class CanReadTriples(Protocol):
    """A graph store that gives typed relations back (D-06)."""

    async def triples_of(self, scope: Scope, concept_ids: Sequence[str]) -> list[Triple]:
        """Triples with one of these concepts as subject or object: by confidence, then by their fields."""


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What the graph knows of where a document stands (D-26)."""

    chunk_count: int
    status: str
    ingested_at: datetime


@runtime_checkable
class CanMarkDocuments(Protocol):
    """A graph store whose documents follow the catalog's status (D-26)."""

    async def mark_documents(self, scope: Scope, document_ids: Sequence[str], status: str) -> None:
        """Set the status of these documents; those that the graph does not hold are left out."""

    async def document_states(self, scope: Scope, document_ids: Sequence[str]) -> Mapping[str, DocumentState]:
        """Where these documents stand, by id; those that the graph does not hold are left out."""


def search_terms(text: str) -> list[str]:
    """Terms of a name or a question about names; one stemmer for all, so that both sides agree.

    >>> search_terms("The Suffix Automata")
    ['suffix', 'automata']
    >>> search_terms("The Who")
    ['the', 'who']
    """
    return terms(text, "english") or words(text)


def plain_token(term: str) -> str:
    """The term in letters and digits alone, so that none is a query's syntax: `c++` and the like are spelt out.

    >>> plain_token("tree"), plain_token("c++")
    ('tree', 'x632b2b')
    """
    return term if term.isalnum() and term.isascii() else "x" + term.encode(errors="replace").hex()
