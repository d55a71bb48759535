"""Conversations that are kept for users; the digest of a source's bytes, by which its file is known again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
revision = "0008"
down_revision: str | None = "0007"


def upgrade() -> None:
    for table in ("documents", "document_versions"):
        op.add_column(table, sa.Column("content_hash", TEXT, nullable=True))
    op.create_table(
        "conversations",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("user_hash", TEXT, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
    )
    used = ["tenant", "user_hash", "updated_at"]
    op.create_index(op.f("ix_conversations_tenant_user_hash_updated_at"), "conversations", used)
    op.create_index(op.f("ix_conversations_updated_at"), "conversations", ["updated_at"])
    op.create_table(
        "conversation_turns",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("conversation_id", TEXT, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("filter", sa.JSON(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("citations", sa.JSON(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name=op.f("fk_conversation_turns_conversation_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversation_turns")),
    )
    op.create_index(
        op.f("ix_conversation_turns_conversation_id_number"), "conversation_turns", ["conversation_id", "number"]
    )
