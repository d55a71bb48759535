"""The tables of users' own graphs (G-01), in the catalog's metadata and database.

Edges refer to nodes by a small number; `user_node_names` holds every key that a node is found by.
"""

from __future__ import annotations

from sqlalchemy import JSON, Column, ForeignKey, Index, Integer, Table, Text

from kedge.stores.catalog.sql.schema import Bytewise, UtcDateTime, metadata

user_nodes = Table(
    "user_nodes",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("tenant", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Column("id", Bytewise, nullable=False),
    Column("type", Bytewise, nullable=False),
    Column("title", Bytewise, nullable=False),
    Column("description", Text, nullable=False),
    Column("aliases", JSON, nullable=False),
    Column("properties", JSON, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index(None, "tenant", "collection", "id", unique=True),
    Index("ix_user_nodes_by_type", "tenant", "collection", "type", "id"),
)

user_node_names = Table(
    "user_node_names",
    metadata,
    Column("tenant", Bytewise, primary_key=True),
    Column("collection", Bytewise, primary_key=True),
    Column("key", Bytewise, primary_key=True),
    Column("node_seq", Integer, ForeignKey("user_nodes.seq"), primary_key=True, autoincrement=False),
    Index(None, "node_seq"),
    sqlite_with_rowid=False,
)

user_edges = Table(
    "user_edges",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("tenant", Bytewise, nullable=False),
    Column("collection", Bytewise, nullable=False),
    Column("id", Bytewise, nullable=False),
    Column("source_seq", Integer, ForeignKey("user_nodes.seq"), nullable=False),
    Column("target_seq", Integer, ForeignKey("user_nodes.seq"), nullable=False),
    Column("type", Bytewise, nullable=False),
    Column("properties", JSON, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index(None, "tenant", "collection", "id", unique=True),
    Index("ix_user_edges_from", "source_seq", "type"),
    Index("ix_user_edges_to", "target_seq", "type"),
)
