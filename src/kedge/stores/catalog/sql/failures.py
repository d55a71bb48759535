"""Vendor errors become Kedge's here, and nowhere else."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from kedge.core.errors import ConflictError, DiskFullError, KedgeError, StoreError, UsageError

_PRIMARY = 0xFF
"""SQLite's extended result codes carry the primary code in their lowest byte."""

_DAMAGED = ("is damaged or is not a database", "Restore it from a backup, or move it away and ingest again.")
_LOCKED = ("is locked by another process", "Try again when that one is done.")
_KNOWN: dict[int | None, tuple[str, str]] = {
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: ("is read-only", "Let this user write to the file and its folder, or copy them."),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "Check the path and its permissions."),
}
"""Primary result code → what happened, what to do."""

_AWAY = ("cannot be reached", "Check that the server runs and that host, port and database in the URL are right.")
_STATES = {
    "08": _AWAY,
    "57P": _AWAY,
    "53300": ("has no connection left", "Raise max_connections of the server, or run fewer processes."),
    "28": ("does not let us in", "Check user and password in the URL."),
    "3D": ("is not there", "Create the database first: CREATE DATABASE …"),
    "42501": ("refused the right to do this", "Grant the user of the URL the right to create and change tables."),
    "55P03": _LOCKED,
    "40": _LOCKED,
    "57014": ("broke the work off", "Try again; look for a statement_timeout of the server."),
}
"""Beginning of PostgreSQL's SQLSTATE → what happened, what to do."""


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Raise what SQLAlchemy, the driver or the operating system raises inside as an error of Kedge."""
    try:
        yield
    except DBAPIError as error:
        raise _of_driver(error.orig, where) from error
    except SQLAlchemyError as error:
        raise StoreError(f"The database {where} could not be used: {error}.") from error
    except sqlite3.Error as error:
        raise _of_driver(error, where) from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise UsageError(f"A value cannot be stored: {error}.", hint="Clean the text before it is stored.") from error
    except OSError as error:
        raise _of_system(error, where) from error


def _of_driver(error: BaseException | None, where: str) -> KedgeError:
    if error is not None and type(error).__module__.startswith("psycopg"):
        return of_server(error, where)
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & _PRIMARY if isinstance(code, int) else None
    if primary == sqlite3.SQLITE_FULL:
        return _disk_full(where)
    if isinstance(error, sqlite3.IntegrityError):
        return ConflictError(f"The change clashes with what is stored: {error}.")
    problem, hint = _KNOWN.get(primary, ("failed", "`kedge check` tells whether it is sound."))
    return StoreError(f"The database {where} {problem}: {error}.", hint=hint)


def of_server(error: BaseException, where: str) -> KedgeError:
    """PostgreSQL says what happened by SQLSTATE; without one, the driver itself lost or never had the connection."""
    import psycopg  # an extra; whoever raises its errors has it

    state = getattr(error, "sqlstate", None) or ""
    said = str(error).partition("\n")[0].rstrip(".")
    if state == "53100":
        return _disk_full(where)
    if isinstance(error, psycopg.IntegrityError):
        return ConflictError(f"The change clashes with what is stored: {said}.")
    if isinstance(error, psycopg.DataError):
        return UsageError(f"A value cannot be stored: {said}.", hint="Clean the text before it is stored.")
    unknown = ("failed", "The server's log tells more.") if state else _AWAY
    problem, hint = next((known for begin, known in _STATES.items() if state.startswith(begin)), unknown)
    return StoreError(f"The database {where} {problem}: {said}.", hint=hint)


def _of_system(error: OSError, where: str) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _disk_full(where)
    return StoreError(f"The database {where} cannot be used: {error.strerror}.", hint="Check path and permissions.")


def _disk_full(where: str) -> DiskFullError:
    return DiskFullError(
        f"No space is left for the database {where}.",
        hint="Free some space and try again; what was stored before is intact.",
    )
