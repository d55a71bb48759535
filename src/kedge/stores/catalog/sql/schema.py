"""The catalog's tables (D-09) in SQLAlchemy Core. `schema_graph` adds the graph's to the same metadata.

Migrations in `migrations/versions` build exactly this; a test compares the two. Change both, and `REVISION`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)

REVISION = "0012"
"""The migration that makes this schema: a database at another one is upgraded, or refused if it is newer."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Bytewise = String().with_variant(String(collation="C"), "postgresql")
"""Text that is compared and ordered as Python does it, whatever language the server was set up for."""
Large = Integer().with_variant(BigInteger(), "postgresql")
"""A whole number beyond 32 bits; SQLite's integers are all of this kind."""


class UtcDateTime(TypeDecorator[datetime]):
    """An instant: stored in UTC, returned aware. A time without a zone is taken as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """SQLite gives times without a zone, PostgreSQL in the zone of the session."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _required(name: str, kind: Any, *parts: Any, **options: Any) -> Column[Any]:
    return Column(name, kind, *parts, nullable=False, **options)


collections = Table(
    "collections",
    metadata,
    Column("tenant", Bytewise, primary_key=True),
    Column("name", Bytewise, primary_key=True),
    _required("kind", Bytewise),
    _required("embedder", Bytewise),
    _required("dimension", Integer),
    _required("generation", Integer),
    _required("index_name", Bytewise),
    _required("topics", JSON),
    # Kept by the same transactions that switch and retire documents, so that reading them costs nothing.
    _required("live_documents", Integer, server_default="0"),
    _required("live_passages", Integer, server_default="0"),
    _required("created_at", UtcDateTime),
    # Another with each transaction that changes what somebody sees of the collection; see `sights`.
    _required("rights_state", Bytewise, server_default=""),
)

documents = Table(
    "documents",
    metadata,
    Column("id", Bytewise, primary_key=True),
    _required("tenant", Bytewise),
    _required("collection", Bytewise),
    _required("url", Bytewise),
    _required("external_id", Bytewise),
    _required("title", Bytewise),
    _required("format", Bytewise),
    Column("author", Bytewise),
    Column("topic_tag", Bytewise),
    Column("file_hash", Bytewise),
    Column("content_hash", Bytewise),
    Column("file_size", Large),
    _required("chunk_count", Integer, server_default="0"),
    _required("status", Bytewise, server_default="pending"),
    Column("error_message", Text),
    _required("metadata", JSON),
    Column("live_version", Bytewise),
    _required("created_at", UtcDateTime),
    Column("updated_at", UtcDateTime),
    Column("ingested_at", UtcDateTime),
    # Set by the first step of a delete, cleared by its last or by a new ingest.
    Column("retired_at", UtcDateTime),
    # Who may read it; empty where nobody was ever named. The audience stands for the same readers, empty for everybody.
    Column("readers", JSON(none_as_null=True)),
    Column("audience", Bytewise),
    # Given by hand: what sources say does not change it.
    _required("readers_given", Boolean, server_default=false()),
    ForeignKeyConstraint(["tenant", "collection"], ["collections.tenant", "collections.name"]),
    UniqueConstraint("tenant", "collection", "url"),
    UniqueConstraint("tenant", "collection", "id"),
)

document_versions = Table(
    "document_versions",
    metadata,
    Column("id", Bytewise, primary_key=True),
    _required("document_id", Bytewise, ForeignKey("documents.id")),
    _required("state", Bytewise),
    _required("status", Bytewise),
    # The document's descriptive fields as they will be after the switch.
    _required("title", Bytewise),
    _required("format", Bytewise),
    _required("external_id", Bytewise),
    Column("author", Bytewise),
    Column("topic_tag", Bytewise),
    Column("file_hash", Bytewise),
    Column("content_hash", Bytewise),
    Column("file_size", Large),
    _required("metadata", JSON),
    Column("updated_at", UtcDateTime),
    Column("ingested_at", UtcDateTime),
    Column("error_message", Text),
    # What its source says of readers; empty where it says nothing, and the document keeps those that it has.
    Column("readers", JSON(none_as_null=True)),
    _required("created_at", UtcDateTime),
    # Order of deaths: versions that die in one transaction share a number.
    Column("died", Integer),
    # When readers saw it; `live_until` is empty while they do, both where they never did or must never again.
    Column("live_from", UtcDateTime),
    Column("live_until", UtcDateTime),
    # Dead, out of the index in use, and not forgotten yet: what is asked as of a time before finds it.
    _required("kept", Boolean, server_default=false()),
    CheckConstraint("state IN ('building', 'live', 'dead')", name="state"),
    Index(None, "document_id"),
    Index(None, "state", "died", "id"),
)

passages = Table(
    "passages",
    metadata,
    Column("version_id", Bytewise, ForeignKey("document_versions.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    _required("passage_id", Bytewise),
    _required("document_id", Bytewise),
    _required("text", Text),
    _required("start_offset", Integer),
    _required("end_offset", Integer),
    _required("content_hash", Bytewise),
    _required("token_count", Integer),
    _required("title", Bytewise),
    _required("url", Bytewise),
    _required("external_id", Bytewise),
    _required("section_path", JSON),
    Column("page", Integer),
    _required("has_code", Boolean),
    _required("has_formula", Boolean),
    _required("has_table", Boolean),
    _required("language", Bytewise),
    Column("topic_tag", Bytewise),
    Column("ingested_at", UtcDateTime),
    Column("document_updated_at", UtcDateTime),
    _required("metadata", JSON),
    Index(None, "passage_id", "version_id"),
)

passage_indexes = Table(
    "passage_indexes",
    metadata,
    Column("passage_id", Bytewise, primary_key=True),
    Column("index_name", Bytewise, primary_key=True),
    # When the vector was made; empty for those of before this was kept.
    Column("embedded_at", UtcDateTime),
    sqlite_with_rowid=False,
)
"""Which passages have their vector in which physical index. Holds ids of live and staged versions only."""

collection_indexes = Table(
    "collection_indexes",
    metadata,
    Column("tenant", Bytewise, primary_key=True),
    Column("collection", Bytewise, primary_key=True),
    Column("index_name", Bytewise, primary_key=True),
    _required("generation", Integer),
    _required("embedder", Bytewise),
    _required("dimension", Integer),
    _required("state", Bytewise),
    ForeignKeyConstraint(["tenant", "collection"], ["collections.tenant", "collections.name"]),
    CheckConstraint("state IN ('building', 'kept', 'dropping')", name="state"),
)
"""Physical indexes beside the one that `collections` names."""

ingestion_jobs = Table(
    "ingestion_jobs",
    metadata,
    Column("id", Bytewise, primary_key=True),
    _required("tenant", Bytewise),
    _required("collection", Bytewise),
    _required("kind", Bytewise),
    _required("mode", Bytewise),
    _required("request", JSON),
    Column("document_id", Bytewise),
    _required("status", Bytewise, server_default="queued"),
    Column("current_step", Bytewise),
    _required("progress", Integer, server_default="0"),
    Column("total_chunks", Integer),
    _required("processed_chunks", Integer, server_default="0"),
    _required("files_discovered", Integer, server_default="0"),
    _required("files_processed", Integer, server_default="0"),
    _required("files_new", Integer, server_default="0"),
    _required("files_skipped", Integer, server_default="0"),
    _required("files_failed", Integer, server_default="0"),
    _required("files_deleted", Integer, server_default="0"),
    _required("passages_created", Integer, server_default="0"),
    _required("passages_deleted", Integer, server_default="0"),
    _required("errors", JSON),
    _required("warnings", JSON),
    Column("error_message", Text),
    _required("created_at", UtcDateTime),
    Column("started_at", UtcDateTime),
    Column("completed_at", UtcDateTime),
    CheckConstraint("progress BETWEEN 0 AND 100", name="progress"),
    Index(None, "tenant", "created_at"),
    Index(None, "status"),
)

analytics_sessions = Table(
    "analytics_sessions",
    metadata,
    Column("tenant", Bytewise, primary_key=True),
    Column("id", Bytewise, primary_key=True),
    _required("started_at", UtcDateTime),
    Column("ended_at", UtcDateTime),
    _required("user_hash", Bytewise),
)

rag_queries = Table(
    "rag_queries",
    metadata,
    Column("id", Bytewise, primary_key=True),
    _required("tenant", Bytewise),
    Column("session_id", Bytewise),
    _required("timestamp", UtcDateTime),
    _required("user_hash", Bytewise),
    _required("query_hash", Bytewise),
    _required("execution_time_ms", Float),
    _required("vector_hits", Integer),
    _required("graph_hits", Integer),
    _required("strategy_used", Bytewise),
    ForeignKeyConstraint(["tenant", "session_id"], ["analytics_sessions.tenant", "analytics_sessions.id"]),
    Index(None, "tenant", "timestamp"),
    Index(None, "tenant", "session_id"),
    Index(None, "tenant", "user_hash"),
    Index(None, "timestamp"),
)

retrieval_metrics = Table(
    "retrieval_metrics",
    metadata,
    Column("id", Bytewise, primary_key=True),
    _required("query_id", Bytewise, ForeignKey("rag_queries.id"), unique=True),
    Column("vector_search_ms", Float),
    Column("vector_result_count", Integer),
    Column("vector_top_score", Float),
    Column("vector_avg_score", Float),
    Column("graph_traversal_ms", Float),
    Column("graph_result_count", Integer),
    Column("graph_max_depth", Integer),
    Column("concepts_found", Integer),
    Column("fusion_ms", Float),
    Column("overlap_count", Integer),
    Column("rrf_top_score", Float),
    Column("rerank_ms", Float),
    Column("rerank_top_score", Float),
    Column("confidence_threshold_met", Boolean),
    Column("final_context_tokens", Integer),
    Column("citation_count", Integer),
    # What a query measured beyond the columns above.
    _required("extra", JSON),
    _required("created_at", UtcDateTime),
)

query_words = Table(
    "query_words",
    metadata,
    # The words of questions, where the setting `keep_questions` says so; none else has them.
    Column("tenant", Bytewise, primary_key=True),
    Column("query_hash", Bytewise, primary_key=True),
    _required("words", Text),
)

feedback_events = Table(
    "feedback_events",
    metadata,
    Column("id", Bytewise, primary_key=True),
    _required("query_id", Bytewise, ForeignKey("rag_queries.id")),
    _required("rating", Integer),
    # `five`: 1 to 5; `binary`: 0 for no, 1 for yes.
    _required("scale", Bytewise, server_default="five"),
    Column("comment", Text),
    _required("created_at", UtcDateTime),
    CheckConstraint(
        "(scale = 'five' AND rating BETWEEN 1 AND 5) OR (scale = 'binary' AND rating BETWEEN 0 AND 1)", name="rating"
    ),
    Index(None, "query_id"),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Bytewise, primary_key=True),
    _required("tenant", Bytewise),
    _required("user_hash", Bytewise),
    _required("name", Text),
    _required("created_at", UtcDateTime),
    _required("updated_at", UtcDateTime),
    Index(None, "tenant", "user_hash", "updated_at"),
    Index(None, "updated_at"),
)

conversation_turns = Table(
    "conversation_turns",
    metadata,
    Column("id", Bytewise, primary_key=True),
    _required("conversation_id", Bytewise, ForeignKey("conversations.id")),
    _required("number", Integer),
    _required("question", Text),
    _required("collection", Bytewise),
    _required("created_at", UtcDateTime),
    _required("filter", JSON),
    _required("content", Text),
    _required("citations", JSON),
    _required("metadata", JSON),
    Index(None, "conversation_id", "number"),
)

connected_sources = Table(
    "connected_sources",
    metadata,
    Column("id", Bytewise, primary_key=True),
    _required("tenant", Bytewise),
    _required("collection", Bytewise),
    _required("name", Bytewise),
    _required("url", Bytewise),
    _required("every", Float),
    _required("options", JSON),
    # References such as `env:NAME`, never the secrets themselves.
    _required("secrets", JSON),
    _required("documents", Integer),
    Column("held", JSON(none_as_null=True)),
    Column("last_run", JSON(none_as_null=True)),
    _required("cursor", Text),
    Column("begun_at", UtcDateTime),
    _required("created_at", UtcDateTime),
    UniqueConstraint("tenant", "name"),
)

source_items = Table(
    "source_items",
    metadata,
    Column("source_id", Bytewise, ForeignKey("connected_sources.id"), primary_key=True),
    Column("key", Bytewise, primary_key=True),
    _required("url", Bytewise),
    Column("fingerprint", Bytewise),
    Column("content_hash", Bytewise),
    _required("several", Boolean),
    Column("format", Bytewise),
    _required("size", Large),
    _required("note", JSON),
    Index(None, "url"),
)
