"""Where the contract tests on PostgreSQL keep their tables: a database for the run, a schema for each test."""

from __future__ import annotations

import atexit
import hashlib
import os
from functools import cache
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier
from sqlalchemy.engine import make_url

from tests.services import need


def url_of(folder: Path) -> str:
    """A schema named after the folder, so that tests do not meet."""
    return f"{_database(need('postgresql'))}?schema=t_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"


@cache
def _database(server: str) -> str:
    """Made on first use, dropped when the run ends."""
    name = f"kedge_{os.getpid()}_{os.urandom(4).hex()}"
    _run(server, SQL("CREATE DATABASE {}").format(Identifier(name)).as_string())
    atexit.register(_run, server, SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)).as_string())
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def _run(server: str, statement: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement.encode())
