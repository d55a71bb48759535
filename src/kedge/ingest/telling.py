"""How far a long file is read, told to whoever listens: the process that parses tells the one that waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

OnPart = Callable[[int, int, bool], None]
"""Called with how many parts of how many are read, and whether that one was a picture, which takes its time."""

_listener: ContextVar[OnPart | None] = ContextVar("listener", default=None)


def tell(done: int, parts: int, *, picture: bool = False) -> None:
    """A page, a slide or a chapter is read."""
    listener = _listener.get()
    if listener is not None:
        listener(done, parts, picture)


@contextmanager
def listening(on_part: OnPart) -> Iterator[None]:
    """What is told inside goes there."""
    token = _listener.set(on_part)
    try:
        yield
    finally:
        _listener.reset(token)
