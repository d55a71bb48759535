"""The one place where the engine's errors become Kedge's.

The engine raises bare `Exception` with a Rust message, so the message is all there is to go by.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kedge.core.errors import DiskFullError, HomeBusyError, KedgeError, StoreError

_BUSY = ("Can't init WAL: Kind(WouldBlock)", "Resource temporarily unavailable")
_FULL = ("No space left on device", "os error 28", "StorageFull", "Disk quota exceeded", "os error 122")


@contextmanager
def translated(folder: Path) -> Iterator[None]:
    """Turn what the engine or the file system raises about `folder` into Kedge's errors."""
    try:
        yield
    except OSError as error:
        raise _from_os(error, folder) from error
    except Exception as error:
        if type(error) is not Exception:  # the engine's own are exactly this type; ours and real bugs pass through
            raise
        raise _from_message(str(error), folder) from error


def require_space(folder: Path, least: int) -> None:
    """Refuse to write when less is free: a full disk would end the process with SIGBUS, not with an error."""
    if shutil.disk_usage(folder).free < least:
        raise _full(folder)


def _from_os(error: OSError, folder: Path) -> KedgeError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(folder)
    return StoreError(
        f"The vector store in {folder} failed: {error.strerror or error}.",
        hint="Check that the folder is there and can be written.",
        details={"folder": str(folder)},
    )


def _from_message(message: str, folder: Path) -> KedgeError:
    if any(sign in message for sign in _BUSY):
        return HomeBusyError(
            f"Another process uses the vector store in {folder}.",
            hint="Stop it, or give this one a home of its own (--home).",
            details={"folder": str(folder)},
        )
    if any(sign in message for sign in _FULL):
        return _full(folder)
    return StoreError(
        f"The vector store in {folder} failed: {message}.",
        hint="`kedge check --repair` rebuilds the vectors from the catalog.",
        details={"folder": str(folder)},
    )


def _full(folder: Path) -> DiskFullError:
    return DiskFullError(
        f"The disk that holds {folder} is full.",
        hint="Free some space and try again; what was stored before is intact.",
        details={"folder": str(folder)},
    )
