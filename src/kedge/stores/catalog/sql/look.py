"""A look at a database without changing it: opening it would make or upgrade its tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from kedge.core.errors import StoreError
from kedge.stores.catalog.sql import postgresql, sqlite
from kedge.stores.catalog.sql.database import read_url
from kedge.stores.catalog.sql.failures import translated
from kedge.stores.catalog.sql.schema import REVISION
from kedge.stores.catalog.sql.upgrade import SCRIPTS, revision


@dataclass(frozen=True, slots=True)
class SeenDatabase:
    """What a database is."""

    server: str
    """Such as `SQLite 3.40.1`."""
    revision: str | None
    """Of its schema; None when it has none of Kedge's tables yet."""
    pending: int
    """Migrations that opening it would run."""


def look(url: str) -> SeenDatabase | None:
    """The state of the database; None for a file that is not there. StoreError when it cannot be used."""
    parsed = read_url(url)
    server = postgresql.parse(parsed) if parsed.get_backend_name() == "postgresql" else None
    where = server.where if server else str(parsed.database)
    if server is None and not Path(where).exists():
        return None
    with translated(where):
        engine = sqlite.open_engine(parsed, 1) if server is None else postgresql.open_engine(server, 1, "look")
        try:
            with engine.connect() as connection:
                return _seen(connection)
        finally:
            engine.dispose()


def _seen(connection: Connection) -> SeenDatabase:
    dialect = connection.dialect
    version = ".".join(map(str, dialect.server_version_info or ()))
    found = revision(connection)
    name = "SQLite" if dialect.name == "sqlite" else "PostgreSQL"
    return SeenDatabase(f"{name} {version}", found, 0 if found == REVISION else _pending(found))


def _pending(found: str | None) -> int:
    from alembic.script import ScriptDirectory  # 0.2 s, and not needed when the schema is current

    newest_first = [script.revision for script in ScriptDirectory(str(SCRIPTS)).walk_revisions()]
    if found is None:
        return len(newest_first)
    if found not in newest_first:
        raise StoreError(
            f"The database was written by a newer Kedge (schema {found}, this one knows up to {REVISION}).",
            hint="Upgrade Kedge, or open another home.",
        )
    return newest_first.index(found)
