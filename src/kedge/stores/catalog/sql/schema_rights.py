"""The catalog's tables of who may read what, of holds, and of the audit log; in the same metadata as `schema`.

Documents with the same readers share an *audience*. What each audience counts is kept by the transactions that switch
and retire documents, so that a collection can be counted for somebody who sees a part of it without looking at it.
"""

from __future__ import annotations

from sqlalchemy import JSON, Column, ForeignKeyConstraint, Index, Integer, Table, Text

from kedge.stores.catalog.sql.schema import Bytewise, UtcDateTime, metadata

audiences = Table(
    "audiences",
    metadata,
    Column("id", Bytewise, primary_key=True),
    Column("tenant", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Column("live_documents", Integer, nullable=False, server_default="0"),
    Column("live_passages", Integer, nullable=False, server_default="0"),
    Index(None, "tenant", "collection"),
)

audience_readers = Table(
    "audience_readers",
    metadata,
    Column("audience", Bytewise, primary_key=True),
    Column("principal", Bytewise, primary_key=True),
    Index(None, "principal"),
)

reading_rules = Table(
    "reading_rules",
    metadata,
    # Readers of a whole collection (label empty), or of the nodes of a type in a graph.
    Column("tenant", Bytewise, primary_key=True),
    Column("collection", Bytewise, primary_key=True),
    Column("label", Bytewise, primary_key=True),
    Column("readers", JSON, nullable=False),
    Column("audience", Bytewise, nullable=False),
    ForeignKeyConstraint(["tenant", "collection"], ["collections.tenant", "collections.name"]),
)

unsettled_documents = Table(
    "unsettled_documents",
    metadata,
    # Documents whose points in the vector store may still name their former readers.
    Column("document_id", Bytewise, primary_key=True),
    Column("tenant", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Index(None, "tenant", "collection"),
)

legal_holds = Table(
    "legal_holds",
    metadata,
    Column("document_id", Bytewise, primary_key=True),
    Column("tenant", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Column("reason", Text, nullable=False),
    Column("held_by", Bytewise, nullable=False),
    Column("since", UtcDateTime, nullable=False),
    Index(None, "tenant", "collection"),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("id", Bytewise, primary_key=True),
    Column("tenant", Bytewise, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("who", Bytewise, nullable=False),
    Column("action", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Column("query_id", Bytewise),
    Column("words_hash", Bytewise, nullable=False),
    Column("words", Text),
    Index(None, "tenant", "at"),
    Index(None, "at"),
)

audit_documents = Table(
    "audit_documents",
    metadata,
    Column("entry_id", Bytewise, primary_key=True),
    Column("document_id", Bytewise, primary_key=True),
    Index(None, "document_id"),
)
