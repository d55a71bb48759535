"""The server's edge, around every request: an id, a limit on the body, a count, and a net for what nobody expected."""

from __future__ import annotations

import logging
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kedge import telemetry
from kedge.config import Settings
from kedge.errors import KedgeError, SourceTooLargeError
from kedge.server.errors import respond, unexpected
from kedge.server.guard import add_headers, check_request
from kedge.telemetry import Metrics

log = logging.getLogger(__name__)

MAX_JSON_BYTES = 1 << 20
MULTIPART_OVERHEAD = 1 << 16
REQUEST_ID = "x-request-id"


class Edge:
    """ASGI middleware. Errors that reach it are logged with the request's id; the caller learns only the id."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sending = _Sending(send, uuid4().hex, self._settings)
        scope.setdefault("state", {})["request_id"] = sending.request_id
        try:
            check_request(scope, self._settings)
            await self._app(scope, _Limited(receive, self._limit(scope), _announced(scope)), sending)
        except KedgeError as error:
            await respond(Request(scope), error)(scope, receive, sending)
        except Exception:
            log.exception("request %s (%s %s) failed", sending.request_id, scope["method"], scope["path"])
            if sending.status:
                raise
            await respond(Request(scope), unexpected(sending.request_id))(scope, receive, sending)
        finally:
            self._metrics.add(telemetry.REQUESTS, scope["method"], _route(scope), str(sending.status))

    def _limit(self, scope: Scope) -> int:
        if Headers(scope=scope).get("content-type", "").startswith("multipart/"):
            return self._settings.max_upload_bytes + MULTIPART_OVERHEAD
        return MAX_JSON_BYTES


class _Sending:
    """`send` that adds the request's id and the headers of every response, and remembers the status."""

    def __init__(self, send: Send, request_id: str, settings: Settings) -> None:
        self._send = send
        self._settings = settings
        self.request_id = request_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = self.request_id
            add_headers(headers, self._settings)
        await self._send(message)


class _Limited:
    """`receive` that counts the body's bytes and stops at the limit."""

    def __init__(self, receive: Receive, limit: int, announced: int) -> None:
        self._receive = receive
        self._limit = limit
        self._seen = 0
        self._check(announced)

    async def __call__(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        self._check(self._seen)
        return message

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise SourceTooLargeError(
                f"The request's body is larger than {self._limit} bytes.",
                hint="Send less at once, or raise max_upload_bytes for uploads.",
                details={"limit": self._limit},
            )


def _announced(scope: Scope) -> int:
    """The size that the request says its body has; what is no number is left to be counted."""
    said = Headers(scope=scope).get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() else 0


def _route(scope: Scope) -> str:
    """The route's pattern, so that ids in paths do not make endless series."""
    return getattr(scope.get("route"), "path", "other")
