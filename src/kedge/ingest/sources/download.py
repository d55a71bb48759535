"""A downloaded file that goes away with the object that holds it."""

from __future__ import annotations

import os
import tempfile
import weakref
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


def _remove(close: object, path: Path) -> None:
    if callable(close):
        close()
    path.unlink(missing_ok=True)
