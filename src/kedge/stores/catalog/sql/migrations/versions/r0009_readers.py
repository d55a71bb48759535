"""Who may read what; documents that are held; the audit log; for whom a key acts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
revision = "0009"
down_revision: str | None = "0008"


def upgrade() -> None:
    op.add_column("documents", sa.Column("readers", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("documents", sa.Column("audience", TEXT, nullable=True))
    given: sa.Column[bool] = sa.Column("readers_given", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("documents", given)
    op.add_column("document_versions", sa.Column("readers", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("api_keys", sa.Column("user", TEXT, nullable=True))
    op.add_column("api_keys", sa.Column("groups", sa.JSON(none_as_null=True), nullable=True))
    _who_may_read()
    _who_read()


def _who_may_read() -> None:
    op.create_table(
        "audiences",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("live_documents", sa.Integer(), server_default="0", nullable=False),
        sa.Column("live_passages", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audiences")),
    )
    op.create_index(op.f("ix_audiences_tenant_collection"), "audiences", ["tenant", "collection"])
    op.create_table(
        "audience_readers",
        sa.Column("audience", TEXT, nullable=False),
        sa.Column("principal", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("audience", "principal", name=op.f("pk_audience_readers")),
    )
    op.create_table(
        "reading_rules",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("label", TEXT, nullable=False),
        sa.Column("readers", sa.JSON(), nullable=False),
        sa.Column("audience", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"], ["collections.tenant", "collections.name"], name=op.f("fk_reading_rules_tenant")
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", "label", name=op.f("pk_reading_rules")),
    )
    op.create_table(
        "unsettled_documents",
        sa.Column("document_id", TEXT, nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_unsettled_documents")),
    )
    op.create_index(op.f("ix_unsettled_documents_tenant_collection"), "unsettled_documents", ["tenant", "collection"])
    op.create_table(
        "legal_holds",
        sa.Column("document_id", TEXT, nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("held_by", TEXT, nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_legal_holds")),
    )
    op.create_index(op.f("ix_legal_holds_tenant_collection"), "legal_holds", ["tenant", "collection"])


def _who_read() -> None:
    op.create_table(
        "audit_log",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", TEXT, nullable=False),
        sa.Column("action", TEXT, nullable=False),
        sa.Column("collection", TEXT, nullable=False),
        sa.Column("query_id", TEXT, nullable=True),
        sa.Column("words_hash", TEXT, nullable=False),
        sa.Column("words", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index(op.f("ix_audit_log_tenant_at"), "audit_log", ["tenant", "at"])
    op.create_index(op.f("ix_audit_log_at"), "audit_log", ["at"])
    op.create_table(
        "audit_documents",
        sa.Column("entry_id", TEXT, nullable=False),
        sa.Column("document_id", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("entry_id", "document_id", name=op.f("pk_audit_documents")),
    )
    op.create_index(op.f("ix_audit_documents_document_id"), "audit_documents", ["document_id"])
