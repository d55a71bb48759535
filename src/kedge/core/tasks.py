"""Ending a task for sure: a cancellation can be lost, and whoever waits for the task then waits for ever."""

from __future__ import annotations

import asyncio

AGAIN_SECONDS = 10.0
"""Longer than anything here takes to end in order, so that a second cancellation breaks nothing off."""


async def stop(task: asyncio.Task[None], again: float = AGAIN_SECONDS) -> None:
    """Cancel the task and wait for its end; raises what it failed with. A cancellation of the caller stays one.

    It is cancelled again while it goes on: one that arrives just as a driver's wait has ended, or while the task waits
    for something that it cancelled itself, is taken for that other end.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=again)
    if not task.cancelled():
        task.result()
