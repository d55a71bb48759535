"""Ctrl-C ends a command in order, and soon in any case: a thread that reads on must not hold it up."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

ORDER_SECONDS = 4.0
"""For ending in order. Whatever is broken off then is taken up by the next run, as after a kill."""
INTERRUPTED_CODE = 130


def end_when_interrupted() -> None:
    """From the first Ctrl-C on the process has a few seconds. Commands that stop in their own way set their own."""

    def interrupted(number: int, frame: FrameType | None) -> None:
        watch = threading.Timer(ORDER_SECONDS, _end)
        watch.daemon = True
        watch.start()
        signal.default_int_handler(number, frame)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, interrupted)


def _end() -> None:
    pool = sys.modules.get("kedge.ingest.apart.pool")
    if pool is not None:
        pool.end_all()
    os._exit(INTERRUPTED_CODE)
