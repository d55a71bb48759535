"""Collections, documents, versions, passages, jobs, analytics."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision: str | None = None

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
LARGE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "analytics_sessions",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("user_hash", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_analytics_sessions")),
    )
    op.create_table(
        "collections",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("embedder", TEXT, nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("index_name", TEXT, nullable=False),
        sa.Column("topics", sa.JSON(), nullable=False),
        sa.Column("live_documents", sa.Integer(), server_default="0", nullable=False),
        sa.Column("live_passages", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "name", name=op.f("pk_collections")),
    )
    op.create_table(
        "ingestion_jobs",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("mode", TEXT, nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("document_id", TEXT, nullable=True),
        sa.Column("status", TEXT, server_default="queued", nullable=False),
        sa.Column("current_step", TEXT, nullable=True),
        sa.Column("progress", sa.Integer(), server_default="0", nullable=False),
        sa.Column("total_chunks", sa.Integer(), nullable=True),
        sa.Column("processed_chunks", sa.Integer(), server_default="0", nullable=False),
        sa.Column("files_discovered", sa.Integer(), server_default="0", nullable=False),
        sa.Column("files_processed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("files_skipped", sa.Integer(), server_default="0", nullable=False),
        sa.Column("files_failed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("files_deleted", sa.Integer(), server_default="0", nullable=False),
        sa.Column("passages_created", sa.Integer(), server_default="0", nullable=False),
        sa.Column("passages_deleted", sa.Integer(), server_default="0", nullable=False),
        sa.Column("errors", sa.JSON(), nullable=False),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("progress BETWEEN 0 AND 100", name=op.f("ck_ingestion_jobs_progress")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ingestion_jobs")),
    )
    op.create_index(op.f("ix_ingestion_jobs_status"), "ingestion_jobs", ["status"], unique=False)
    op.create_index(
        op.f("ix_ingestion_jobs_tenant_created_at"), "ingestion_jobs", ["tenant", "created_at"], unique=False
    )
    op.create_table(
        "passage_indexes",
        sa.Column("passage_id", TEXT, nullable=False),
        sa.Column("index_name", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("passage_id", "index_name", name=op.f("pk_passage_indexes")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "documents",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("url", TEXT, nullable=False),
        sa.Column("external_id", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("format", TEXT, nullable=False),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("topic_tag", TEXT, nullable=True),
        sa.Column("file_hash", TEXT, nullable=True),
        sa.Column("file_size", LARGE, nullable=True),
        sa.Column("chunk_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("status", TEXT, server_default="pending", nullable=False),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("live_version", TEXT, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ingested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_documents_tenant_collection"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint("tenant", "collection", "id", name=op.f("uq_documents_tenant_collection_id")),
        sa.UniqueConstraint("tenant", "collection", "url", name=op.f("uq_documents_tenant_collection_url")),
    )
    op.create_table(
        "rag_queries",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("session_id", TEXT, nullable=True),
        sa.Column("timestamp", sa.DateTime(timezone=True), nullable=False),
        sa.Column("user_hash", TEXT, nullable=False),
        sa.Column("query_hash", TEXT, nullable=False),
        sa.Column("execution_time_ms", sa.Float(), nullable=False),
        sa.Column("vector_hits", sa.Integer(), nullable=False),
        sa.Column("graph_hits", sa.Integer(), nullable=False),
        sa.Column("strategy_used", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "session_id"],
            ["analytics_sessions.tenant", "analytics_sessions.id"],
            name=op.f("fk_rag_queries_tenant_session_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rag_queries")),
    )
    op.create_index(op.f("ix_rag_queries_tenant_session_id"), "rag_queries", ["tenant", "session_id"], unique=False)
    op.create_index(op.f("ix_rag_queries_tenant_timestamp"), "rag_queries", ["tenant", "timestamp"], unique=False)
    op.create_table(
        "document_versions",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("document_id", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("format", TEXT, nullable=False),
        sa.Column("external_id", TEXT, nullable=False),
        sa.Column("author", TEXT, nullable=True),
        sa.Column("topic_tag", TEXT, nullable=True),
        sa.Column("file_hash", TEXT, nullable=True),
        sa.Column("file_size", LARGE, nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ingested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("died", sa.Integer(), nullable=True),
        sa.CheckConstraint("state IN ('building', 'live', 'dead')", name=op.f("ck_document_versions_state")),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name=op.f("fk_document_versions_document_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document_versions")),
    )
    op.create_index(op.f("ix_document_versions_document_id"), "document_versions", ["document_id"], unique=False)
    op.create_index(
        op.f("ix_document_versions_state_died_id"), "document_versions", ["state", "died", "id"], unique=False
    )
    op.create_table(
        "feedback_events",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("query_id", TEXT, nullable=False),
        sa.Column("rating", sa.Integer(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("rating BETWEEN 1 AND 5", name=op.f("ck_feedback_events_rating")),
        sa.ForeignKeyConstraint(["query_id"], ["rag_queries.id"], name=op.f("fk_feedback_events_query_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback_events")),
    )
    op.create_index(op.f("ix_feedback_events_query_id"), "feedback_events", ["query_id"], unique=False)
    op.create_table(
        "retrieval_metrics",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("query_id", TEXT, nullable=False),
        sa.Column("vector_search_ms", sa.Float(), nullable=True),
        sa.Column("vector_result_count", sa.Integer(), nullable=True),
        sa.Column("vector_top_score", sa.Float(), nullable=True),
        sa.Column("vector_avg_score", sa.Float(), nullable=True),
        sa.Column("graph_traversal_ms", sa.Float(), nullable=True),
        sa.Column("graph_result_count", sa.Integer(), nullable=True),
        sa.Column("graph_max_depth", sa.Integer(), nullable=True),
        sa.Column("concepts_found", sa.Integer(), nullable=True),
        sa.Column("fusion_ms", sa.Float(), nullable=True),
        sa.Column("overlap_count", sa.Integer(), nullable=True),
        sa.Column("rrf_top_score", sa.Float(), nullable=True),
        sa.Column("rerank_ms", sa.Float(), nullable=True),
        sa.Column("rerank_top_score", sa.Float(), nullable=True),
        sa.Column("confidence_threshold_met", sa.Boolean(), nullable=True),
        sa.Column("final_context_tokens", sa.Integer(), nullable=True),
        sa.Column("citation_count", sa.Integer(), nullable=True),
        sa.Column("extra", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["query_id"], ["rag_queries.id"], name=op.f("fk_retrieval_metrics_query_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retrieval_metrics")),
        sa.UniqueConstraint("query_id", name=op.f("uq_retrieval_metrics_query_id")),
    )
    op.create_table(
        "passages",
        sa.Column("version_id", TEXT, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("passage_id", TEXT, nullable=False),
        sa.Column("document_id", TEXT, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("start_offset", sa.Integer(), nullable=False),
        sa.Column("end_offset", sa.Integer(), nullable=False),
        sa.Column("content_hash", TEXT, nullable=False),
        sa.Column("token_count", sa.Integer(), nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("url", TEXT, nullable=False),
        sa.Column("external_id", TEXT, nullable=False),
        sa.Column("section_path", sa.JSON(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=True),
        sa.Column("has_code", sa.Boolean(), nullable=False),
        sa.Column("has_formula", sa.Boolean(), nullable=False),
        sa.Column("has_table", sa.Boolean(), nullable=False),
        sa.Column("language", TEXT, nullable=False),
        sa.Column("topic_tag", TEXT, nullable=True),
        sa.Column("ingested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("document_updated_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["document_versions.id"], name=op.f("fk_passages_version_id")),
        sa.PrimaryKeyConstraint("version_id", "position", name=op.f("pk_passages")),
    )
    op.create_index(op.f("ix_passages_passage_id_version_id"), "passages", ["passage_id", "version_id"], unique=False)
