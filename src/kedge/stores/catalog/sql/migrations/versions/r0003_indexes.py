"""Indexes beside the one in use, and uploads that wait for a worker."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision: str | None = "0002"

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "collection_indexes",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("index_name", TEXT, nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("embedder", TEXT, nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.CheckConstraint("state IN ('building', 'kept', 'dropping')", name=op.f("ck_collection_indexes_state")),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_collection_indexes_tenant_collection"),
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", "index_name", name=op.f("pk_collection_indexes")),
    )
    op.create_table(
        "upload_pieces",
        sa.Column("upload_id", TEXT, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("piece", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("upload_id", "number", name=op.f("pk_upload_pieces")),
    )
