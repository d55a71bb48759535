"""Whether each part works now: asked at once, within a bounded time, and never twice while the last question waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

from kedge.core.errors import KedgeError
from kedge.core.values import Json

Probe = Callable[[], Awaitable[object]]


class Readiness:
    """Asks the parts. A part that does not answer keeps its question: a hanging store is not asked again and again."""

    def __init__(self, probes: Mapping[str, Probe], seconds: float) -> None:
        self._probes = probes
        self._seconds = seconds
        self._asked: dict[str, asyncio.Task[float]] = {}

    async def parts(self) -> dict[str, Json]:
        """For each part `ok`, and its `ms` or what is wrong."""
        found = await asyncio.gather(*(self._part(name) for name in self._probes))
        return dict(zip(self._probes, found, strict=True))

    async def close(self) -> None:
        """Forget questions that wait."""
        waiting = [task for task in self._asked.values() if not task.done()]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _part(self, name: str) -> dict[str, Json]:
        task = self._asked.get(name)
        if task is None or task.done():
            task = self._asked[name] = asyncio.create_task(_timed(self._probes[name]))
        await asyncio.wait({task}, timeout=self._seconds)
        if not task.done():
            return {"ok": False, "message": f"It did not answer within {self._seconds:g} s."}
        error = task.exception()
        if error is None:
            return {"ok": True, "ms": task.result()}
        if isinstance(error, KedgeError):
            return {"ok": False, "message": str(error)}
        return {"ok": False, "message": f"Something unexpected: {type(error).__name__}."}


async def _timed(probe: Probe) -> float:
    started = time.perf_counter()
    await probe()
    return round(1000 * (time.perf_counter() - started), 2)
