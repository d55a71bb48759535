"""What comes from and goes to one client: bounded in size, in time, and watched for its end."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from kedge.core import telemetry
from kedge.core.errors import KedgeError, SlowClientError, SourceTooLargeError
from kedge.core.tasks import stop
from kedge.surfaces.server.guard import add_headers
from kedge.surfaces.server.lively import is_comment, is_sign
from kedge.surfaces.server.traffic import Flight

REQUEST_ID = "x-request-id"
Admit: TypeAlias = Callable[[], Awaitable[None]]


class Incoming:
    """`receive` that counts the body's bytes, waits only so long for the next, and notices when the client leaves."""

    def __init__(self, receive: Receive, scope: Scope, flight: Flight, limit: int, admit: Admit | None = None) -> None:
        """`admit` is awaited before anything of a body is read, and says whether it may be."""
        headers = Headers(scope=scope)
        self._receive = receive
        self._admit = admit
        self._began = time.monotonic()
        self._flight = flight
        self._limit = limit
        self._seen = 0
        self._gone = asyncio.Event()
        self._watch: asyncio.Task[None] | None = None
        self.failed: KedgeError | None = None
        """Why the body could not be read."""
        announced = headers.get("content-length", "0")
        self._check(int(announced) if announced.isdecimal() else 0)
        self._bodiless = announced == "0" and "transfer-encoding" not in headers
        """Whether the app still has to hear that there is no body."""
        if self._bodiless:
            self._watch_for_end()

    async def __call__(self) -> Message:
        if self._watch is not None:
            if self._bodiless:
                self._bodiless = False
                return {"type": "http.request", "body": b"", "more_body": False}
            await self._gone.wait()
            return {"type": "http.disconnect"}
        try:
            if self._admit is not None:
                admit, self._admit = self._admit, None
                await admit()
            message = await self._next()
            self._seen += len(message.get("body", b""))
            self._check(self._seen)
        except KedgeError as error:
            self.failed = error
            raise
        if message["type"] == "http.disconnect":
            self._flight.leave()
        elif not message.get("more_body", False):
            self._watch_for_end()
        return message

    async def close(self) -> None:
        """Stop watching."""
        if self._watch is not None:
            await stop(self._watch)

    async def _next(self) -> Message:
        settings = self._flight.traffic.settings
        pause = settings.client_timeout or math.inf
        wait = min(pause, self._left())
        try:
            async with asyncio.timeout(max(wait, 0.0) if wait < math.inf else None):
                return await self._receive()
        except TimeoutError as error:
            self._flight.traffic.metrics.add(telemetry.TIMEOUTS, "client")
            slow = wait < pause
            raise SlowClientError(
                f"The request came with less than {settings.body_rate:,} bytes a second."
                if slow
                else f"Nothing more of the request came for {pause:g} s.",
                hint=f"Send it faster, or raise client_timeout{' or lower body_rate' if slow else ''}.",
                details={"seconds": settings.client_timeout},
            ) from error

    def _left(self) -> float:
        """Seconds until the body as a whole is too slow: what has come by then must have come at the least rate."""
        settings = self._flight.traffic.settings
        if not settings.body_rate or not settings.client_timeout:
            return math.inf
        return self._began + settings.client_timeout + self._seen / settings.body_rate - time.monotonic()

    def _watch_for_end(self) -> None:
        self._watch = asyncio.create_task(self._until_gone())

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self._flight.over:
            self._flight.leave()
        self._gone.set()

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise SourceTooLargeError(
                f"The request's body is larger than {self._limit} bytes.",
                hint="Send less at once, or raise max_upload_bytes for uploads.",
                details={"limit": self._limit},
            )


class Outgoing:
    """`send` that adds the headers of every response, remembers the status and moves the clock of a stream."""

    def __init__(self, send: Send, flight: Flight) -> None:
        self._send = send
        self._flight = flight
        self.incoming: Incoming | None = None
        self.status = 0
        self.instead: KedgeError | None = None
        """Why the body could not be read: to be answered instead of what the app made of that."""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            failed = self.incoming.failed if self.incoming is not None else None
            self.instead = failed if failed is not None and failed.status != message["status"] else None
        if self.instead is not None:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._flight.breaks = self._flight.breaks and not self._flight.streams  # a stream ends by itself then
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = self._flight.request_id
            add_headers(headers, self._flight.traffic.settings)
        elif self._flight.streams and not self._flight.facts.get("first_event_ms") and not is_sign(message["body"]):
            self._first()
        ends = message["type"] == "http.response.body" and not message.get("more_body", False)
        self._flight.over = self._flight.over or ends
        still = is_comment(message.get("body", b""))  # the clock of a stream that stands still runs on
        if not still:
            self._flight.moved()  # a client that takes nothing holds `send` up
        await self._send(message)
        if not still:
            self._flight.moved()

    def _first(self) -> None:
        seconds = time.perf_counter() - self._flight.started
        self._flight.facts["first_event_ms"] = round(1000 * seconds, 1)
        self._flight.traffic.metrics.observe(telemetry.FIRST_EVENT, seconds)
