"""Brings a database to the newest schema, with the Alembic revisions shipped inside the package.

Runs in one write transaction: two processes that open a new database at once do it one after the other, and a kill
in the middle leaves the old schema.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, Engine, inspect, text

from kedge.core.errors import StoreError
from kedge.stores.catalog.sql.schema import REVISION
from kedge.stores.catalog.sql.sqlite import WRITES
from kedge.stores.queries import load_queries

SCRIPTS = Path(__file__).parent / "migrations"
QUERIES = load_queries(__package__, "queries.sql")
_ALEMBIC = Lock()
"""Alembic's `context` and `op` are process-wide, so only one migration runs at a time."""


def migrate(engine: Engine, target: str = "head") -> None:
    """Upgrade to `target`. A database of a newer Kedge is refused with StoreError and left as it is."""
    with engine.execution_options(**{WRITES: False}).connect() as connection, connection.begin():
        found = revision(connection)
        if found == REVISION and target == "head":
            return
    with engine.begin() as connection, _ALEMBIC:
        _upgrade(connection, target)


def revision(connection: Connection) -> str | None:
    """The revision the database is at; None when it is empty."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text(QUERIES["revision"])).scalar()
    return found


def _upgrade(connection: Connection, target: str) -> None:
    from alembic import command  # 0.2 s, and not needed when the schema is current
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = revision(connection)
    if found is not None and found not in known:
        raise StoreError(
            f"The database was written by a newer Kedge (schema {found}, this one knows up to {REVISION}).",
            hint="Upgrade Kedge, or open another home.",
            details={"found": found, "known": REVISION},
        )
    command.upgrade(config, target)
