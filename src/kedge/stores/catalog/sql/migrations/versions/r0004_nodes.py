"""Users' own graphs: nodes, the names they are found by, and edges."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision: str | None = "0003"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "user_nodes",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("aliases", sa.JSON(), nullable=False),
        sa.Column("properties", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_user_nodes")),
    )
    op.create_index(
        op.f("ix_user_nodes_tenant_collection_id"), "user_nodes", ["tenant", "collection", "id"], unique=True
    )
    op.create_index("ix_user_nodes_by_type", "user_nodes", ["tenant", "collection", "type", "id"], unique=False)
    op.create_table(
        "user_node_names",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("node_seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["node_seq"], ["user_nodes.seq"], name=op.f("fk_user_node_names_node_seq")),
        sa.PrimaryKeyConstraint("tenant", "collection", "key", "node_seq", name=op.f("pk_user_node_names")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_user_node_names_node_seq"), "user_node_names", ["node_seq"], unique=False)
    op.create_table(
        "user_edges",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("source_seq", sa.Integer(), nullable=False),
        sa.Column("target_seq", sa.Integer(), nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("properties", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["source_seq"], ["user_nodes.seq"], name=op.f("fk_user_edges_source_seq")),
        sa.ForeignKeyConstraint(["target_seq"], ["user_nodes.seq"], name=op.f("fk_user_edges_target_seq")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_user_edges")),
    )
    op.create_index(
        op.f("ix_user_edges_tenant_collection_id"), "user_edges", ["tenant", "collection", "id"], unique=True
    )
    op.create_index("ix_user_edges_from", "user_edges", ["source_seq", "type"], unique=False)
    op.create_index("ix_user_edges_to", "user_edges", ["target_seq", "type"], unique=False)
