"""SQLite as Kedge uses it: a file in WAL mode, with `synchronous=NORMAL`.

What was acknowledged survives a kill of the process at any point; after a power cut the last moments may be missing,
never torn, and an ingest takes them up again. `FULL` would cost a disk flush per document (8 ms on the machine this was
measured on, instead of 0.02).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from kedge.core.errors import ConfigError

WRITES = "kedge_writes"
"""Execution option of connections that may write."""
BUSY_SECONDS = 60
"""How long a writer waits for one in another process (or for the graph store's, which has its own connection)."""

_PRAGMAS = {
    "journal_mode": "WAL",
    "synchronous": "NORMAL",
    "foreign_keys": "ON",
    "busy_timeout": BUSY_SECONDS * 1000,
    "cache_size": -32768,
    # Reads come from the file's own pages, which the system shares and may drop; else every connection would fill a
    # cache of the size above. Writes never go through the map.
    "mmap_size": 1 << 30,
    "temp_store": "MEMORY",
    "wal_autocheckpoint": 4000,
}


def check(url: URL) -> None:
    """A file is named."""
    if url.database in (None, "", ":memory:"):
        raise ConfigError("SQLite needs a file here.", hint="Use sqlite:///path/to/catalog.db, or memory://.")


def is_fixed(path: Path) -> bool:
    """The file is there, and nothing can be written beside it: it can be read, and that is all."""
    return path.exists() and not os.access(path.parent, os.W_OK)


def open_engine(url: URL, connections: int) -> Engine:
    """An engine whose transactions begin as `WRITES` says. The connection used last is used next: its cache is warm.

    A file whose folder cannot be written to is only read.
    """
    path = Path(str(url.database))
    fixed = is_fixed(path)
    engine = create_engine(
        _read_only(url, path) if fixed else url,
        pool_size=connections,
        max_overflow=0,
        pool_use_lifo=True,
        connect_args={"check_same_thread": False},
    )
    event.listen(engine, "connect", _configure_fixed if fixed else _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _read_only(url: URL, path: Path) -> URL:
    """The same file without the wish to write; where it has no log beside it, nobody else can be changing it."""
    log = path.with_name(f"{path.name}-wal")
    unchanging = {} if log.exists() and log.stat().st_size else {"immutable": "1"}
    return url.set(database=f"file:{quote(str(path.absolute()))}", query={"mode": "ro", "uri": "true", **unchanging})


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    _set(connection, _PRAGMAS)


def _configure_fixed(connection: sqlite3.Connection, _record: object) -> None:
    _set(connection, {name: value for name, value in _PRAGMAS.items() if name != "journal_mode"})


def _set(connection: sqlite3.Connection, pragmas: Mapping[str, object]) -> None:
    connection.isolation_level = None  # transactions are begun by `_begin` alone
    for name, value in pragmas.items():
        connection.execute(f"PRAGMA {name}={value}").close()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES, False)
    driver = connection.connection.driver_connection  # by itself: a statement of SQLAlchemy costs ten times as much
    assert driver is not None
    driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN").close()
