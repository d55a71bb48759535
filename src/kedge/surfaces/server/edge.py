"""The server's edge, around every request: an id, limits on size, number and time, a log line, a trace, and a net for
what nobody expected.
"""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import suppress
from uuid import uuid4

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from kedge.core import telemetry
from kedge.core.acting import acting_as
from kedge.core.errors import KedgeError, TimeoutExceededError
from kedge.core.settings import Settings
from kedge.core.stages import watched
from kedge.core.telemetry import Metrics
from kedge.core.values import Actor
from kedge.engine.tracing import Watch
from kedge.surfaces.server import sse
from kedge.surfaces.server.errors import respond, unexpected
from kedge.surfaces.server.guard import check_request
from kedge.surfaces.server.traffic import Flight, Traffic
from kedge.surfaces.server.wire import REQUEST_ID, Incoming, Outgoing
from kedge.surfaces.server.within import admitted

log = logging.getLogger(__name__)
access = logging.getLogger("kedge.access")

MAX_JSON_BYTES = 1 << 20
MULTIPART_OVERHEAD = 1 << 16
LAST_WORDS_SECONDS = 1.0
"""For telling a client why its stream ends, if it still listens."""
CLIENT_LEFT = 499
"""In logs and metrics, for a request whose client went away before the end."""
ALWAYS = ("/health", "/ready", "/metrics")
"""Served by a full server too: whoever watches it must see that it is full."""
KEYED = ("/api/", "/v1/", "/mcp")
"""Addresses for whose requests it is asked whose they are before they take a place and before anything of their body
is read. The rest is files, small and the same for all."""
_GIVEN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{7,127}")


class EdgeMiddleware:
    """ASGI middleware. Errors that reach it are logged with the request's id; the caller learns only the id."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics, traffic: Traffic, watch: Watch) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._traffic = traffic
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        clock = asyncio.timeout(None)
        flight = Flight(self._traffic, _id(headers), clock)
        flight.facts["request_id"] = flight.request_id
        state = scope.setdefault("state", {})
        state["request_id"], state["flight"] = flight.request_id, flight
        outgoing = Outgoing(send, flight)
        nobody = acting_as(Actor())  # whom a route forgets to name reads what everybody may, and no more
        request = self._watch.request(scope["method"], headers, flight.facts)
        with nobody, request as span, watched(self._watch, flight.facts):
            try:
                await self._bounded(scope, receive, outgoing, flight)
            except TimeoutError:
                if not clock.expired():
                    raise
                if not flight.left:
                    await self._late(scope, receive, outgoing, flight)
            finally:
                if flight.streams:
                    self._traffic.leave_stream()
                status = CLIENT_LEFT if flight.left else outgoing.status
                self._count(scope, flight, status)
                span.answered(_route(scope), status)

    async def _bounded(self, scope: Scope, receive: Receive, outgoing: Outgoing, flight: Flight) -> None:
        """Within the limits, and with every error in the one shape."""
        incoming: Incoming | None = None
        try:
            check_request(scope, self._settings)
            known = _needs_key(scope)
            if known:  # who has no key takes no place, however many of them come at once
                await admitted(Request(scope))
            if scope["path"] not in ALWAYS:
                flight.take_place()
            async with flight.clock:
                admit = None if known else lambda: admitted(Request(scope))
                outgoing.incoming = incoming = Incoming(receive, scope, flight, self._limit(scope), admit)
                await self._app(scope, incoming, outgoing)
            if outgoing.instead is not None:
                raise outgoing.instead
        except KedgeError as error:
            await respond(Request(scope), error)(scope, receive, outgoing)
        except Exception as error:
            if isinstance(error, TimeoutError) and flight.clock.expired():
                raise
            log.exception("request %s (%s %s) failed", flight.request_id, scope["method"], _route(scope))
            if outgoing.status:
                raise
            await respond(Request(scope), unexpected(flight.request_id))(scope, receive, outgoing)
        finally:
            flight.over = True
            flight.forget_caller()
            flight.leave_place()
            if incoming is not None:
                await incoming.close()

    async def _late(self, scope: Scope, receive: Receive, outgoing: Outgoing, flight: Flight) -> None:
        """The clock has broken the work off. Say why, if anybody is there to hear it."""
        self._metrics.add(telemetry.TIMEOUTS, flight.late)
        error = _timed_out(flight, self._settings)
        if not outgoing.status:
            await respond(Request(scope), error)(scope, receive, outgoing)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_SECONDS):
                await outgoing({"type": "http.response.body", "body": sse.error_event(error, Request(scope)).encode()})
                return
        abort = scope["state"].get("abort")
        if abort is not None:  # a client that takes nothing would hold the connection for ever
            abort()

    def _count(self, scope: Scope, flight: Flight, status: int) -> None:
        route = _route(scope)
        if flight.left:
            self._metrics.add(telemetry.LEFT)
        self._metrics.add(telemetry.REQUESTS, scope["method"], route, str(status))
        self._metrics.observe(telemetry.HTTP_SECONDS, flight.seconds(), route)
        if access.isEnabledFor(logging.INFO):
            ms = round(1000 * flight.seconds(), 1)
            facts = {**flight.facts, "method": scope["method"], "route": route, "status": status, "duration_ms": ms}
            access.info("%s %s %d %.1f ms", scope["method"], route, status, ms, extra={"facts": facts})

    def _limit(self, scope: Scope) -> int:
        if Headers(scope=scope).get("content-type", "").startswith("multipart/"):
            return self._settings.max_upload_bytes + MULTIPART_OVERHEAD
        return MAX_JSON_BYTES


def _timed_out(flight: Flight, settings: Settings) -> TimeoutExceededError:
    if flight.late == "stream":
        return TimeoutExceededError(
            f"Nothing came for {settings.stream_timeout:g} s, so the stream was ended.",
            hint="Ask again, or raise stream_timeout.",
            details={"seconds": settings.stream_timeout},
        )
    if flight.late == "wait":
        return TimeoutExceededError(
            f"Another write into the collection has taken longer than {settings.wait_timeout:g} s; nothing was done.",
            hint="Try again when it has ended, or raise wait_timeout.",
            details={"seconds": settings.wait_timeout},
        )
    return TimeoutExceededError(
        f"The request took longer than {settings.request_timeout:g} s and was broken off.",
        hint="Ask for less, try again when the server has less to do, or raise request_timeout.",
        details={"seconds": settings.request_timeout},
    )


def _id(headers: Headers) -> str:
    """The id that the caller gave, if it can be one; else a new one."""
    given = headers.get(REQUEST_ID, "")
    return given if _GIVEN_ID.fullmatch(given) else uuid4().hex


def _needs_key(scope: Scope) -> bool:
    """Whether the address is one of those that ask whose the request is; browsers ask without a key what they may."""
    return bool(scope["path"].startswith(KEYED)) and scope["method"] != "OPTIONS"


def _route(scope: Scope) -> str:
    """The route's pattern, so that ids in paths do not make endless series."""
    return getattr(scope.get("route"), "path", "other")
