"""Ratings may also say no and yes; words of questions, where somebody wants them; new files of a job;
when a vector was made."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
revision = "0007"
down_revision: str | None = "0006"
TABLE = "feedback_events"
CHECK = "(scale = 'five' AND rating BETWEEN 1 AND 5) OR (scale = 'binary' AND rating BETWEEN 0 AND 1)"


def upgrade() -> None:
    rating = op.f("ck_feedback_events_rating")
    op.add_column("ingestion_jobs", sa.Column("files_new", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("passage_indexes", sa.Column("embedded_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "query_words",
        sa.Column("tenant", TEXT, nullable=False),
        sa.Column("query_hash", TEXT, nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "query_hash", name=op.f("pk_query_words")),
    )
    scale = sa.Column("scale", TEXT, nullable=False, server_default="five")
    if op.get_bind().dialect.name != "sqlite":
        op.add_column(TABLE, scale)
        op.drop_constraint(rating, TABLE, type_="check")
        op.create_check_constraint(rating, TABLE, CHECK)
        return
    op.rename_table(TABLE, "feedback_before")  # SQLite cannot change the constraints of a table
    op.drop_index(op.f("ix_feedback_events_query_id"))
    op.create_table(
        TABLE,
        sa.Column("id", TEXT, nullable=False),
        sa.Column("query_id", TEXT, nullable=False),
        sa.Column("rating", sa.Integer(), nullable=False),
        scale,
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(CHECK, name=rating),
        sa.ForeignKeyConstraint(["query_id"], ["rag_queries.id"], name=op.f("fk_feedback_events_query_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback_events")),
    )
    op.create_index(op.f("ix_feedback_events_query_id"), TABLE, ["query_id"], unique=False)
    op.execute(
        "INSERT INTO feedback_events (id, query_id, rating, comment, created_at) "
        "SELECT id, query_id, rating, comment, created_at FROM feedback_before"
    )
    op.drop_table("feedback_before")
