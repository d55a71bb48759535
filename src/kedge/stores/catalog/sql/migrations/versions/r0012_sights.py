"""What stands for what each actor sees of a collection, new with each transaction that changes it."""

from __future__ import annotations

from uuid import uuid4

import sqlalchemy as sa
from alembic import op

TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
revision = "0012"
down_revision: str | None = "0011"


def upgrade() -> None:
    op.add_column("collections", sa.Column("rights_state", TEXT, nullable=False, server_default=""))
    op.create_index(op.f("ix_audience_readers_principal"), "audience_readers", ["principal"])
    collections = sa.table("collections", sa.column("tenant"), sa.column("name"), sa.column("rights_state"))
    connection = op.get_bind()
    for tenant, name in connection.execute(sa.select(collections.c.tenant, collections.c.name)).all():
        this = (collections.c.tenant == tenant) & (collections.c.name == name)
        connection.execute(sa.update(collections).where(this).values(rights_state=uuid4().hex))
