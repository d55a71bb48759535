"""Downloaded files that go away with the object that holds them, and such as are fetched when they are wanted."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path


class Download:
    """Bytes in a temporary file; it is removed when nobody holds this any more."""

    def __init__(self) -> None:
        handle, name = tempfile.mkstemp(prefix="kedge-download-")
        self.path = Path(name)
        self._file = os.fdopen(handle, "wb")
        self._remove = weakref.finalize(self, _remove, self._file.close, self.path)
        self.size = 0

    def write(self, data: bytes) -> None:
        """Append."""
        self._file.write(data)
        self.size += len(data)

    def finish(self) -> None:
        """No more to write; the file can be read now."""
        self._file.close()

    def discard(self) -> None:
        """Remove the file now."""
        self._remove()


class Deferred:
    """Bytes that are fetched when somebody wants to read them, once."""

    def __init__(self, fetch: Callable[[], Path | Download | bytes]) -> None:
        """`fetch` may raise SourceFault."""
        self._fetch = fetch
        self._held: Path | Download | None = None

    @property
    def path(self) -> Path:
        """The file they are in. Raises what fetching raises."""
        if self._held is None:
            self._held = as_file(self._fetch())
        return self._held if isinstance(self._held, Path) else self._held.path


def as_file(content: Path | Download | bytes) -> Path | Download:
    """The same bytes in a file."""
    if not isinstance(content, bytes):
        return content
    download = Download()
    download.write(content)
    download.finish()
    return download


def _remove(close: object, path: Path) -> None:
    if callable(close):
        close()
    path.unlink(missing_ok=True)
