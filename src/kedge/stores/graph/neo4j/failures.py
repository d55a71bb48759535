"""The driver's errors become Kedge's here, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConstraintError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from kedge.core.errors import ConflictError, DiskFullError, KedgeError, StoreError, UsageError

_REACH = "Check that the server runs and that host, port and scheme of the graph URL are right."
_AUTH = "Check user and password in the graph URL; special characters in them are written as in any URL (%40 for @)."
_CODES = {
    "Neo.ClientError.Database.DatabaseNotFound": "Create the database, or name another one in the graph URL.",
    "Neo.ClientError.Security.Forbidden": "The user needs the right to read, write and to create constraints.",
    "Neo.TransientError.General.OutOfMemoryError": "Give the server more memory, or ingest in smaller parts.",
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError": "Give the server more memory for transactions.",
    "Neo.TransientError.General.TransactionOutOfMemoryError": "Give the server more memory for transactions.",
}
"""The server's status code → what to do."""


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Raise what the driver raises inside as an error of Kedge; `where` names the server, without its password."""
    try:
        yield
    except (AuthError, ConfigurationError) as error:
        raise StoreError(f"Neo4j at {where} refused the connection: {_said(error)}", hint=_AUTH) from error
    except ConstraintError as error:
        raise ConflictError(
            f"The change clashes with what the graph holds: {_said(error)}", hint="Read it again, then try once more."
        ) from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise StoreError(f"Neo4j at {where} cannot be reached: {_said(error)}", hint=_REACH) from error
    except (Neo4jError, DriverError) as error:
        raise _refused(error, where) from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise UsageError(f"A value cannot be stored: {error}.", hint="Clean the text before it is stored.") from error
    except OSError as error:
        raise StoreError(f"Neo4j at {where} cannot be reached: {error.strerror or error}.", hint=_REACH) from error


def _refused(error: Neo4jError | DriverError, where: str) -> KedgeError:
    code = (error.code if isinstance(error, Neo4jError) else None) or ""
    if "NoSpaceLeft" in code or "No space left" in str(error):
        return DiskFullError(f"No space is left for Neo4j at {where}.", hint="Free some space there and try again.")
    return StoreError(f"Neo4j at {where} failed: {_said(error)}", hint=_CODES.get(code, "Its log tells more."))


def _said(error: Exception) -> str:
    """The first line of what the driver or the server said, as a sentence."""
    text = (error.message if isinstance(error, Neo4jError) else None) or str(error) or type(error).__name__
    return text.splitlines()[0].rstrip(".") + "."
