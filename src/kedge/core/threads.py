"""Work in a thread that can be told to stop: a thread cannot be cancelled, but most of what takes long can be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_stops: ContextVar[list[Callable[[], object]] | None] = ContextVar("kedge_stops", default=None)


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like `asyncio.to_thread`; when the caller is cancelled, what runs in the thread is told to stop."""
    stops: list[Callable[[], object]] = []
    token = _stops.set(stops)
    try:
        return await asyncio.to_thread(function, *args, **kwargs)
    except asyncio.CancelledError:
        for stop in list(stops):
            stop()
        raise
    finally:
        _stops.reset(token)


@contextmanager
def on_stop(stop: Callable[[], object]) -> Iterator[None]:
    """During the block, `stop` ends the work from another thread; it may be called too late, and must not mind."""
    stops = _stops.get()
    if stops is None:
        yield
        return
    stops.append(stop)
    try:
        yield
    finally:
        stops.remove(stop)
