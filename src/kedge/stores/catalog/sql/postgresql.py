"""PostgreSQL as Kedge uses it: `postgresql://user:password@host:port/database?schema=kedge`.

Readers see one moment (repeatable read). Writers go one after the other, as on SQLite, held back by an advisory lock
that is as wide as the schema: no clashes to retry, and what two processes do is as if one had done it.
Options of Kedge in the URL are `schema` and those of the vectors (`m`, `ef_construction`, `ef_search`); all others,
such as `sslmode` or `connect_timeout`, go to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL

from kedge.core.errors import ConfigError, MissingExtraError
from kedge.stores.catalog.sql.sqlite import BUSY_SECONDS, WRITES
from kedge.stores.queries import load_queries

OPTIONS = frozenset({"schema", "m", "ef_construction", "ef_search"})
CONNECT_SECONDS = "10"
_SESSION = {"lock_timeout": f"{BUSY_SECONDS}s", "jit": "off", "plan_cache_mode": "force_custom_plan"}
"""Compiling a query, and plans that do not look at its values, both cost more than they gain here."""
QUERIES = load_queries(__package__, "queries.sql")
_LOCK, _FIND_SCHEMA = text(QUERIES["wait_for_writers"]), text(QUERIES["find_schema"])

OnConnect = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Where the tables are, as the URL says it."""

    url: URL
    schema: str = ""
    """Empty: whatever the server's `search_path` puts first."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of Kedge other than the schema."""

    @property
    def where(self) -> str:
        """For messages: without user and password."""
        place = f"{self.url.host or 'localhost'}:{self.url.port or 5432}/{self.url.database or ''}"
        return f"{place} (schema {self.schema})" if self.schema else place


def parse(url: URL) -> PostgresAddress:
    """Take Kedge's own options out of the URL. ConfigError when one is given twice."""
    given = {name: value for name, value in url.query.items() if name in OPTIONS}
    twice = sorted(name for name, value in given.items() if not isinstance(value, str))
    if twice:
        raise ConfigError(f"The database URL names {', '.join(twice)} more than once.", hint="Name each once.")
    options = {name: str(value) for name, value in given.items()}
    rest = url.difference_update_query(list(given))
    if "connect_timeout" not in rest.query:
        rest = rest.update_query_dict({"connect_timeout": CONNECT_SECONDS})
    return PostgresAddress(rest.set(drivername="postgresql+psycopg"), options.pop("schema", ""), options)


def open_engine(server: PostgresAddress, connections: int, part: str, on_connect: OnConnect | None = None) -> Engine:
    """An engine for one part of Kedge (catalog and graph, or vectors): each part has its own order of writers.

    A connection is tried before it is used, so that a server that went away and came back is found again.
    """
    try:
        import psycopg  # noqa: F401 (the driver is an extra, and SQLAlchemy's message does not name it)
    except ImportError as error:
        raise MissingExtraError("The database 'postgresql'", "postgresql") from error
    engine = create_engine(server.url, pool_size=connections, max_overflow=0, pool_pre_ping=True)

    def configure(connection: Any, _record: object) -> None:
        _configure(connection, server.schema, part)
        if on_connect is not None:
            on_connect(connection)

    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(WRITES, False):
            connection.execute(_LOCK, {"name": f"kedge/{server.schema}/{part}"})

    event.listen(engine, "connect", configure, insert=True)
    event.listen(engine, "begin", begin)
    return engine


def create_schema(connection: Connection, schema: str) -> None:
    """Make the schema if it is not there; looked up first, because making it needs a right that using it does not."""
    known = connection.execute(_FIND_SCHEMA, {"name": schema}).first()
    if known is None:
        quoted = connection.dialect.identifier_preparer.quote_identifier(schema)
        connection.exec_driver_sql("CREATE SCHEMA " + quoted.replace("%", "%%"))


def _configure(connection: Any, schema: str, part: str) -> None:
    """Settings of the session. Vectors look into `public` too, where the extension's type and operators are."""
    from psycopg.sql import Identifier

    settings = dict(_SESSION)
    if schema:
        path = [schema, "public"] if part == "vectors" else [schema]
        settings["search_path"] = ", ".join(Identifier(name).as_string(connection) for name in path)
    before, connection.autocommit = connection.autocommit, True
    calls = ", ".join(["set_config(%s, %s, false)"] * len(settings))
    connection.execute(f"SELECT {calls}", [part for setting in settings.items() for part in setting])
    connection.autocommit = before
