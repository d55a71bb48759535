"""Server-sent events: `event: <type>` and `data: <json>`. A client that leaves ends the work.

A stream speaks at once: `event: stage` says what is done while the words are not there yet, and a comment after ten
seconds of silence that it still is.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from fastapi import Request
from fastapi.responses import StreamingResponse

from kedge.core.errors import KedgeError
from kedge.core.outside import to_json
from kedge.core.values import StreamEvent
from kedge.surfaces.server.errors import count_error, info_of, unexpected
from kedge.surfaces.server.lively import LifeSign, lively, sign_line
from kedge.surfaces.server.traffic import Flight

log = logging.getLogger(__name__)
MEDIA_TYPE = "text/event-stream"
HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


async def respond(events: AsyncIterator[StreamEvent], request: Request) -> StreamingResponse:
    """Stream the events. What is wrong with a question is raised, so that it gets a proper HTTP status; what fails once
    something is searched for is an event.

    OverloadedError when the server has as many streams as it takes.
    """
    begin(request)
    said = lively(events)
    first = await anext(said, None)
    return StreamingResponse(_encoded(first, said, request), media_type=MEDIA_TYPE, headers=HEADERS)


def begin(request: Request) -> None:
    """Count the stream, whose clock starts anew with every event. OverloadedError."""
    flight: Flight | None = getattr(request.state, "flight", None)
    if flight is not None:
        flight.begin_stream()


async def _encoded(
    first: StreamEvent | LifeSign | None, said: AsyncGenerator[StreamEvent | LifeSign, None], request: Request
) -> AsyncIterator[str]:
    async with aclosing(said):
        try:
            if first is not None:
                yield _line(first)
            async for one in said:
                yield _line(one)
        except KedgeError as error:
            yield error_event(error, request)
        except Exception:
            request_id: str = request.state.request_id
            log.exception("request %s failed while streaming", request_id)
            yield error_event(unexpected(request_id), request)


@asynccontextmanager
async def closing(events: AsyncIterator[StreamEvent]) -> AsyncIterator[None]:
    """Close the generator behind the events at once, however the block is left."""
    try:
        yield
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()


def _line(said: StreamEvent | LifeSign) -> str:
    return encode(said) if isinstance(said, StreamEvent) else sign_line(said)


def encode(event: StreamEvent) -> str:
    """One event as it goes over the wire."""
    return f"event: {event.type}\ndata: {json.dumps(to_json(event), ensure_ascii=False)}\n\n"


def error_event(error: KedgeError, request: Request) -> str:
    """The error as the last event; it carries what an error response carries, and is counted like one."""
    count_error(request, error)
    return encode(StreamEvent("error", error=to_json(info_of(error, request))))
