"""Alembic's entry point. The connection and its transaction come from `kedge.stores.catalog.sql.upgrade`."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
