"""What is told to stop stops, also where a cancellation was lost on the way."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from kedge.core.tasks import stop


async def _lose_two() -> None:
    lost = 0

    async def loses_two() -> None:
        nonlocal lost
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if lost == 2:
                    raise
                lost += 1

    task = asyncio.create_task(loses_two())
    await asyncio.sleep(0)
    await stop(task, again=0.001)
    assert (task.cancelled(), lost) == (True, 2)


async def _fail() -> None:
    async def fails() -> None:
        raise LookupError("no such thing")

    task = asyncio.create_task(fails())
    await asyncio.wait({task})
    with pytest.raises(LookupError, match="no such thing"):
        await stop(task)


async def _be_cancelled() -> None:
    """With a plain suppress around the waiting it would be, and its caller could not be ended any more."""
    ended = asyncio.Event()

    async def slow_to_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await ended.wait()

    inner = asyncio.create_task(slow_to_end())
    await asyncio.sleep(0)
    outer = asyncio.create_task(stop(inner))
    await asyncio.sleep(0)
    outer.cancel()
    with suppress(asyncio.CancelledError):
        await outer
    assert outer.cancelled()
    ended.set()
    await asyncio.wait({inner})
    assert inner.cancelled()


def test_a_task_that_lost_its_cancellation_ends() -> None:
    asyncio.run(_lose_two())


def test_one_that_ended_tells_its_failure() -> None:
    asyncio.run(_fail())


def test_the_cancellation_of_whoever_waits_is_not_lost() -> None:
    asyncio.run(_be_cancelled())
