"""Since when and until when a version was live, and whether it is kept behind that."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision: str | None = "0010"


def upgrade() -> None:
    for name in ("live_from", "live_until"):
        op.add_column("document_versions", sa.Column(name, sa.DateTime(timezone=True), nullable=True))
    op.add_column("document_versions", sa.Column("kept", sa.Boolean(), nullable=False, server_default=sa.false()))
    versions = sa.table(
        "document_versions",
        sa.column("state"),
        sa.column("live_from"),
        sa.column("ingested_at"),
        sa.column("created_at"),
    )
    since = sa.func.coalesce(versions.c.ingested_at, versions.c.created_at)
    op.execute(sa.update(versions).where(versions.c.state == "live").values(live_from=since))
