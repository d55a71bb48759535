"""Sources that collections stay in step with, and what is remembered of their entries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
LARGE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
revision = "0010"
down_revision: str | None = "0009"


def upgrade() -> None:
    op.create_table(
        "connected_sources",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("url", TEXT, nullable=False),
        sa.Column("every", sa.Float(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("secrets", sa.JSON(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("held", sa.JSON(), nullable=True),
        sa.Column("last_run", sa.JSON(), nullable=True),
        sa.Column("cursor", sa.Text(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_connected_sources")),
        sa.UniqueConstraint("tenant", "name", name=op.f("uq_connected_sources_tenant_name")),
    )
    op.create_table(
        "source_items",
        sa.Column("source_id", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("url", TEXT, nullable=False),
        sa.Column("fingerprint", TEXT, nullable=True),
        sa.Column("content_hash", TEXT, nullable=True),
        sa.Column("several", sa.Boolean(), nullable=False),
        sa.Column("format", TEXT, nullable=True),
        sa.Column("size", LARGE, nullable=False),
        sa.Column("note", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["connected_sources.id"], name=op.f("fk_source_items_source_id")),
        sa.PrimaryKeyConstraint("source_id", "key", name=op.f("pk_source_items")),
    )
    op.create_index(op.f("ix_source_items_url"), "source_items", ["url"])
