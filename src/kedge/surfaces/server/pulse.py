"""How the process itself does: memory, processor, files, and how long its event loop keeps others waiting."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import threading
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kedge.core import telemetry
from kedge.core.tasks import stop
from kedge.core.telemetry import Metric

BEAT_SECONDS = 0.5


class Pulse:
    """Beats in the event loop; a late beat shows that something held the loop up."""

    def __init__(self) -> None:
        self._longest = 0.0

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """For as long as the server lives."""
        task = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            await stop(task)

    def read(self) -> Mapping[Metric, float]:
        """What there is to tell now. The longest wait is since the last time."""
        longest, self._longest = self._longest, 0.0
        found = {telemetry.LOOP_LAG: longest, telemetry.CPU: time.process_time()}
        found[telemetry.THREADS] = float(threading.active_count())
        found[telemetry.RESIDENT] = float(_resident())
        with suppress(OSError):
            found[telemetry.FILES] = float(len(list(Path("/proc/self/fd").iterdir())))
        return found

    async def _beat(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(BEAT_SECONDS)
            self._longest = max(self._longest, time.monotonic() - before - BEAT_SECONDS)


def _resident() -> int:
    """Bytes in memory now; where the system does not tell that, the most so far."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
