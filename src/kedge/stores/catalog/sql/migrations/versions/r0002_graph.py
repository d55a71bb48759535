"""The graph: concepts, documents, chunks, their edges and full-text indexes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision: str | None = "0001"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "concepts",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("category", TEXT, nullable=False),
        sa.Column("difficulty", TEXT, nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("degree", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_concepts")),
        sa.UniqueConstraint("id", name=op.f("uq_concepts_id")),
    )
    op.create_index(op.f("ix_concepts_tenant_collection_key"), "concepts", ["tenant", "collection", "key"], unique=True)
    op.create_table(
        "graph_chunks",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("passage_id", TEXT, nullable=False),
        sa.Column("document_id", TEXT, nullable=False),
        sa.Column("hash", TEXT, nullable=False),
        sa.Column("preview", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("token_count", sa.Integer(), nullable=False),
        sa.Column("has_code", sa.Boolean(), nullable=False),
        sa.Column("has_formula", sa.Boolean(), nullable=False),
        sa.Column("has_table", sa.Boolean(), nullable=False),
        sa.Column("next_passage_id", TEXT, nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_graph_chunks")),
    )
    op.create_index(
        "ix_graph_chunks_by_position",
        "graph_chunks",
        ["tenant", "collection", "document_id", "position", "passage_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_graph_chunks_tenant_collection_passage_id"),
        "graph_chunks",
        ["tenant", "collection", "passage_id"],
        unique=True,
    )
    op.create_table(
        "graph_documents",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("document_id", TEXT, nullable=False),
        sa.Column("url", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("format", TEXT, nullable=False),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("ingested_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_graph_documents")),
    )
    op.create_index(
        op.f("ix_graph_documents_tenant_collection_document_id"),
        "graph_documents",
        ["tenant", "collection", "document_id"],
        unique=True,
    )
    op.create_index(
        op.f("ix_graph_documents_tenant_collection_url"),
        "graph_documents",
        ["tenant", "collection", "url"],
        unique=True,
    )
    op.create_table(
        "concept_aliases",
        sa.Column("concept_seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("alias", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["concept_seq"], ["concepts.seq"], name=op.f("fk_concept_aliases_concept_seq")),
        sa.PrimaryKeyConstraint("concept_seq", "position", name=op.f("pk_concept_aliases")),
    )
    op.create_index(
        op.f("ix_concept_aliases_concept_seq_alias"), "concept_aliases", ["concept_seq", "alias"], unique=True
    )
    op.create_table(
        "graph_mentions",
        sa.Column("document_seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("concept_seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("frequency", sa.Integer(), nullable=False),
        sa.Column("relevance", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["concept_seq"], ["concepts.seq"], name=op.f("fk_graph_mentions_concept_seq")),
        sa.ForeignKeyConstraint(["document_seq"], ["graph_documents.seq"], name=op.f("fk_graph_mentions_document_seq")),
        sa.PrimaryKeyConstraint("document_seq", "concept_seq", name=op.f("pk_graph_mentions")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_graph_mentions_concept_seq"), "graph_mentions", ["concept_seq"], unique=False)
    op.create_table(
        "graph_title_keys",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("document_seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(
            ["document_seq"], ["graph_documents.seq"], name=op.f("fk_graph_title_keys_document_seq")
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", "key", "document_seq", name=op.f("pk_graph_title_keys")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_graph_title_keys_document_seq"), "graph_title_keys", ["document_seq"], unique=False)
    op.create_table(
        "passage_concepts",
        sa.Column("passage_id", TEXT, nullable=False),
        sa.Column("concept_seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("frequency", sa.Integer(), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.CheckConstraint("frequency >= 1", name=op.f("ck_passage_concepts_frequency")),
        sa.ForeignKeyConstraint(["concept_seq"], ["concepts.seq"], name=op.f("fk_passage_concepts_concept_seq")),
        sa.PrimaryKeyConstraint("passage_id", "concept_seq", "kind", name=op.f("pk_passage_concepts")),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_passage_concepts_heaviest",
        "passage_concepts",
        ["concept_seq", sa.literal_column("frequency DESC"), "passage_id"],
        unique=False,
    )
    op.create_table(
        "triples",
        sa.Column("passage_id", TEXT, nullable=False),
        sa.Column("subject_seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("predicate", TEXT, nullable=False),
        sa.Column("object_seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("comparison", sa.Text(), nullable=False),
        sa.Column("use_case", sa.Text(), nullable=False),
        sa.CheckConstraint("confidence >= 0.5", name=op.f("ck_triples_confidence")),
        sa.ForeignKeyConstraint(["object_seq"], ["concepts.seq"], name=op.f("fk_triples_object_seq")),
        sa.ForeignKeyConstraint(["subject_seq"], ["concepts.seq"], name=op.f("fk_triples_subject_seq")),
        sa.PrimaryKeyConstraint("passage_id", "subject_seq", "predicate", "object_seq", name=op.f("pk_triples")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_triples_object_seq"), "triples", ["object_seq"], unique=False)
    op.create_index(op.f("ix_triples_subject_seq"), "triples", ["subject_seq"], unique=False)
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE concepts_fts USING fts5(name, aliases, description, tokenize='unicode61')")
        op.execute("CREATE VIRTUAL TABLE chunks_fts USING fts5(preview, tokenize='unicode61')")
    else:
        _create_term_tables()


def _create_term_tables() -> None:
    """PostgreSQL: the terms of each field, and all of them together under a GIN index."""
    terms = postgresql.ARRAY(sa.Text())
    op.create_table(
        "concepts_fts",
        sa.Column("seq", sa.Integer(), sa.ForeignKey("concepts.seq", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", terms, nullable=False),
        sa.Column("aliases", terms, nullable=False),
        sa.Column("description", terms, nullable=False),
        sa.Column("terms", terms, nullable=False),
    )
    op.create_table(
        "chunks_fts",
        sa.Column("seq", sa.Integer(), sa.ForeignKey("graph_chunks.seq", ondelete="CASCADE"), primary_key=True),
        sa.Column("terms", terms, nullable=False),
    )
    for table in ("concepts_fts", "chunks_fts"):
        op.create_index(f"ix_{table}_terms", table, ["terms"], postgresql_using="gin")
