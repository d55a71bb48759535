"""Signs of life of a stream: what it is at while its words are not there yet, and that it is still at it."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from kedge.core.stages import heard
from kedge.core.tasks import AGAIN_SECONDS
from kedge.core.values import StreamEvent

STAGE = "stage"
"""Name of the events that say what is done."""
EVERY = 10.0
"""Seconds of silence after which a stream says that it is still there."""
Doing: TypeAlias = Literal["searching", "reading", "writing"]
_ORDER = get_args(Doing)
_DOING: dict[str, Doing] = {
    **dict.fromkeys(("wait", "embed", "vectors", "keywords", "graph", "fuse", "rerank", "live"), "searching"),
    **dict.fromkeys(("compute", "plan", "read", "judge"), "reading"),
    **dict.fromkeys(("answer", "llm"), "writing"),
}


@dataclass(frozen=True, slots=True)
class LifeSign:
    """What is done now; None: the same as before, for a while already."""

    doing: Doing | None = None


def sign_line(sign: LifeSign) -> str:
    """The sign as it goes over the wire: an event `stage`, or a comment, which every client skips."""
    if sign.doing is None:
        return comment(sign)
    return f"event: {STAGE}\ndata: {json.dumps({'type': STAGE, 'stage': sign.doing})}\n\n"


def comment(sign: LifeSign) -> str:
    """The sign for clients that know no events beside the answer's own."""
    return f": {sign.doing or 'still at work'}\n\n"


def is_comment(body: bytes) -> bool:
    """Whether a piece of a stream says nothing but that it goes on."""
    return body.startswith(b":")


def is_sign(body: bytes) -> bool:
    """Whether a piece of a stream is none of the answer's own."""
    return is_comment(body) or body.startswith(f"event: {STAGE}\n".encode())


class _Listener:
    """Hears stages and keeps each step of the way once, in their order, whatever is done twice or side by side."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._told = -1
        self.signs: deque[LifeSign] = deque()
        self.news = self._loop.create_future()

    def __call__(self, stage: str) -> None:
        doing = _DOING.get(stage)
        if doing is not None:
            self._loop.call_soon_threadsafe(self._put, doing)

    def _put(self, doing: Doing) -> None:
        step = _ORDER.index(doing)
        early = doing == "writing" and self._told < 0  # a model completes a follow-up before anything is searched for
        if step > self._told and not early:
            self._told = step
            self.signs.append(LifeSign(doing))
            if not self.news.done():
                self.news.set_result(None)

    async def taken(self, step: asyncio.Task[StreamEvent | None], every: float) -> list[LifeSign]:
        """Wait for the step, for signs or so long; what has been heard since, or that nothing was."""
        done, _ = await asyncio.wait((step, self.news), timeout=every, return_when=asyncio.FIRST_COMPLETED)
        heard_now = list(self.signs) if done else [LifeSign()]
        self.signs.clear()
        self.news = self._loop.create_future()
        return heard_now


async def lively(
    events: AsyncIterator[StreamEvent], every: float = EVERY
) -> AsyncGenerator[StreamEvent | LifeSign, None]:
    """The events, and between them what is done; a sign without words after every so many seconds of silence.

    What is wrong with a question is raised before anything is yielded. The events are closed however this ends.
    """
    listener, silent = _Listener(), True
    step = asyncio.create_task(_next(events, listener))
    try:
        while True:
            signs = await listener.taken(step, every)
            if silent and step.done():
                step.result()  # raises: who has heard nothing yet gets the error alone
            silent = False
            for sign in signs:
                yield sign
            if step.done():
                event = step.result()
                if event is None:
                    return
                yield event
                step = asyncio.create_task(_next(events, listener))
    finally:
        await _closed(step, events)


async def _next(events: AsyncIterator[StreamEvent], listener: _Listener) -> StreamEvent | None:
    with heard(listener):
        return await anext(events, None)


async def _closed(step: asyncio.Task[StreamEvent | None], events: AsyncIterator[StreamEvent]) -> None:
    """Break the step off, if it runs, and close what it steps through."""
    while not step.done():
        step.cancel()
        await asyncio.wait({step}, timeout=AGAIN_SECONDS)
    if not step.cancelled():
        step.exception()  # seen
    if isinstance(events, AsyncGenerator):
        await events.aclose()
