"""Indexes for forgetting queries: by age, and by user."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision: str | None = "0005"


def upgrade() -> None:
    op.create_index(op.f("ix_rag_queries_tenant_user_hash"), "rag_queries", ["tenant", "user_hash"])
    op.create_index(op.f("ix_rag_queries_timestamp"), "rag_queries", ["timestamp"])
