"""Many readers or one exclusive holder: a shard is never closed under a running search."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Readers pass together; `exclusive` waits until none is inside and keeps new ones out."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the gate open with others."""
        with self._changed:
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the gate alone; keep it short."""
        with self._changed:
            self._changed.wait_for(lambda: self._readers == 0)
            yield
