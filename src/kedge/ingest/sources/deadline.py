"""An end to downloads that nothing else ends."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any


class DeadlineWatch:
    """Ends the connection when the time is over, also one that sends a byte now and then to keep it open."""

    def __init__(self) -> None:
        self.late = False
        self._streams: list[Any] = []

    @contextmanager
    def until(self, deadline: float) -> Iterator[None]:
        timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """httpcore's own hook: remembers every connection that was made."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._streams.append(info["return_value"])

    def _end(self) -> None:
        self.late = True
        for stream in self._streams:
            with suppress(OSError):  # closed already
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
