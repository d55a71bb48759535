"""The one place where the driver's errors become Kedge's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from iris import dbapi

from kedge.core.errors import KedgeError, NotFoundError, StoreError

_CODE = re.compile(r"SQLCODE:?\s*<?(-?\d+)>?")
_NO_TABLE = -30
_TYPES_DIFFER = -259
_REFUSED = ("access denied", "invalid username", "login failed", "authentication", "password")
_SHOWN = 300


@contextmanager
def translated(address: str) -> Iterator[None]:
    """Turn what the driver raises about the server at `address` into Kedge's errors."""
    try:
        yield
    except dbapi.Error as error:
        raise _error(error, address) from error


def code_of(error: Exception) -> int:
    """The SQLCODE in the driver's message; 0 when there is none."""
    found = _CODE.search(str(error))
    return int(found.group(1)) if found else 0


def _error(error: Exception, address: str) -> KedgeError:
    message = str(error)[:_SHOWN].strip()
    if code_of(error) == _NO_TABLE:
        return NotFoundError("A table of the vector index is gone.", hint="Run `kedge check --repair` to rebuild it.")
    if code_of(error) == _TYPES_DIFFER:
        return StoreError(
            f"The IRIS server at {address} wants vectors of another type: {message}.",
            hint="The column's own type belongs into the URL: ?vector_type=double (or float, decimal).",
        )
    if any(sign in message.lower() for sign in _REFUSED):
        return StoreError(
            f"The IRIS server at {address} refused the user.",
            hint="Check the user in the store's URL and the password there or in vector_key (KEDGE_VECTOR_KEY).",
        )
    if isinstance(error, (dbapi.OperationalError, dbapi.InterfaceError)) and not code_of(error):
        return StoreError(
            f"The IRIS server at {address} cannot be reached: {message or type(error).__name__}.",
            hint="Check that it runs, and the host, port and namespace in its URL.",
        )
    return StoreError(
        f"The IRIS server at {address} failed: {message or type(error).__name__}.",
        hint="See its messages log; `kedge check --repair` rebuilds the vectors from the catalog.",
    )
