"""Full-text search over concepts and chunk previews (D-08): each database has a module with these functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from sqlalchemy import Connection

from kedge.core.values import Concept, Scope
from kedge.stores.graph.sql import fts5, term_arrays


class FullText(Protocol):
    """What `fts5` (SQLite) and `term_arrays` (PostgreSQL) both do."""

    def index_concepts(self, connection: Connection, concepts: Iterable[tuple[int, Concept]]) -> None:
        """Make these concepts, by number, found under their present words."""

    def index_chunks(self, connection: Connection, previews: Iterable[tuple[int, str]]) -> None:
        """Make these chunks, by number, found under their present preview."""

    def forget_concepts(self, connection: Connection, seqs: Iterable[object]) -> None:
        """These concepts are found no more."""

    def forget_chunks(self, connection: Connection, seqs: Iterable[object]) -> None:
        """These chunks are found no more."""

    def find_concepts(self, connection: Connection, scope: Scope, wanted: str, limit: int) -> list[int]:
        """Numbers of concepts that share a term, best first."""

    def find_chunks(self, connection: Connection, scope: Scope, wanted: str, limit: int) -> list[str]:
        """Ids of passages whose preview shares a term, best first."""


def of(connection: Connection) -> FullText:
    """The one for this database."""
    return term_arrays if connection.dialect.name == "postgresql" else fts5
