"""The graph's tables (D-05, D-06), in the catalog's metadata and database.

Edges refer to concepts by a small number; passages are named by their id, so that both directions of
`passage_concepts` are answered from an index alone. Chunk-FROM_DOCUMENT is `graph_chunks.document_id`,
Chunk-NEXT_CHUNK is `graph_chunks.next_passage_id`.
"""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, CheckConstraint, Column, Float, ForeignKey, Index, Integer, Table, Text

from kedge.stores.catalog.sql.schema import Bytewise, UtcDateTime, metadata

concepts = Table(
    "concepts",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", Bytewise, nullable=False, unique=True),
    Column("tenant", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Column("key", Bytewise, nullable=False),
    Column("name", Bytewise, nullable=False),
    Column("description", Text, nullable=False),
    Column("category", Bytewise, nullable=False),
    Column("difficulty", Bytewise, nullable=False),
    Column("tags", JSON, nullable=False),
    # Passages that mention it; kept by every write and removal.
    Column("degree", Integer, nullable=False, server_default="0"),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index(None, "tenant", "collection", "key", unique=True),
)

concept_aliases = Table(
    "concept_aliases",
    metadata,
    Column("concept_seq", Integer, ForeignKey("concepts.seq"), primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("alias", Bytewise, nullable=False),
    Index(None, "concept_seq", "alias", unique=True),
)

graph_documents = Table(
    "graph_documents",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("tenant", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Column("document_id", Bytewise, nullable=False),
    Column("url", Bytewise, nullable=False),
    Column("title", Bytewise, nullable=False),
    Column("format", Bytewise, nullable=False),
    Column("author", Bytewise),
    Column("chunk_count", Integer, nullable=False),
    Column("status", Bytewise, nullable=False),
    Column("ingested_at", UtcDateTime, nullable=False),
    Index(None, "tenant", "collection", "document_id", unique=True),
    Index(None, "tenant", "collection", "url", unique=True),
)

graph_title_keys = Table(
    "graph_title_keys",
    metadata,
    Column("tenant", Bytewise, primary_key=True),
    Column("collection", Bytewise, primary_key=True),
    Column("key", Bytewise, primary_key=True),
    Column("document_seq", Integer, ForeignKey("graph_documents.seq"), primary_key=True, autoincrement=False),
    Index(None, "document_seq"),
    sqlite_with_rowid=False,
)
"""Which concepts a document is about, by key: the concept itself may be written later, or never."""

graph_mentions = Table(
    "graph_mentions",
    metadata,
    Column("document_seq", Integer, ForeignKey("graph_documents.seq"), primary_key=True, autoincrement=False),
    Column("concept_seq", Integer, ForeignKey("concepts.seq"), primary_key=True, autoincrement=False),
    Column("frequency", Integer, nullable=False),
    Column("relevance", Float, nullable=False),
    Index(None, "concept_seq"),
    sqlite_with_rowid=False,
)
"""Document-MENTIONS->Concept."""

graph_chunks = Table(
    "graph_chunks",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("tenant", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Column("passage_id", Bytewise, nullable=False),
    Column("document_id", Bytewise, nullable=False),
    Column("hash", Bytewise, nullable=False),
    Column("preview", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("token_count", Integer, nullable=False),
    Column("has_code", Boolean, nullable=False),
    Column("has_formula", Boolean, nullable=False),
    Column("has_table", Boolean, nullable=False),
    Column("next_passage_id", Bytewise),
    Index(None, "tenant", "collection", "passage_id", unique=True),
    Index("ix_graph_chunks_by_position", "tenant", "collection", "document_id", "position", "passage_id"),
)

passage_concepts = Table(
    "passage_concepts",
    metadata,
    Column("passage_id", Bytewise, primary_key=True),
    Column("concept_seq", Integer, ForeignKey("concepts.seq"), primary_key=True, autoincrement=False),
    Column("kind", Bytewise, primary_key=True),
    Column("frequency", Integer, nullable=False),
    Column("role", Integer, nullable=False),  # place in `kedge.core.values.Role`, 0 the strongest
    CheckConstraint("frequency >= 1", name="frequency"),
    sqlite_with_rowid=False,
)
"""Chunk-DISCUSSES, -CODE_EXAMPLE_FOR, -FORMULA_FOR->Concept."""

heaviest_first = Index(
    "ix_passage_concepts_heaviest",
    passage_concepts.c.concept_seq,
    passage_concepts.c.frequency.desc(),
    passage_concepts.c.passage_id,
)

triples = Table(
    "triples",
    metadata,
    Column("passage_id", Bytewise, primary_key=True),
    Column("subject_seq", Integer, ForeignKey("concepts.seq"), primary_key=True, autoincrement=False),
    Column("predicate", Bytewise, primary_key=True),
    Column("object_seq", Integer, ForeignKey("concepts.seq"), primary_key=True, autoincrement=False),
    Column("confidence", Float, nullable=False),
    Column("comparison", Text, nullable=False),
    Column("use_case", Text, nullable=False),
    CheckConstraint("confidence >= 0.5", name="confidence"),
    Index(None, "subject_seq"),
    Index(None, "object_seq"),
    sqlite_with_rowid=False,
)
"""PREREQUISITE, RELATED_TO, COMPARED_TO, PART_OF, USES, IMPLEMENTS, EXAMPLE_OF between concepts."""
