"""What HTTP expects of every address: HEAD where there is GET, a tag to ask again by, and packed bodies.

Streams pass through as they come.
"""

from __future__ import annotations

import hashlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALLEST = 1000
"""Bytes from which a body is packed."""
LEVEL = 5
UNPACKED = ("/api/backup",)
"""What is packed already, and long."""
NOT_MODIFIED = 304


class MannersMiddleware:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self._plain = TagMiddleware(app)
        self._packing = GZipMiddleware(self._plain, minimum_size=SMALLEST, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._plain if scope.get("path") in UNPACKED else self._packing
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await app(scope, receive, send)
            return
        got = {**scope, "method": "GET"}
        try:
            await app(got, receive, _without_body(send))
        finally:
            scope["route"] = got.get("route")  # what metrics and the log know the address by


class TagMiddleware:
    """Gives what is got as a whole an ETag of its content, and answers 304 to who has it already."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _Tagging(send, Headers(scope=scope).get("if-none-match", "")))


class _Tagging:
    """`send` that waits with the head of a response for its body."""

    def __init__(self, send: Send, known: str) -> None:
        self._send = send
        self._known = {one.strip().removeprefix("W/") for one in known.split(",")}
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                message = self._tag(start, message)
            await self._send(start)
        await self._send(message)

    def _tag(self, start: Message, body: Message) -> Message:
        headers = MutableHeaders(scope=start)
        tag = f'"{hashlib.sha256(body.get("body", b"")).hexdigest()[:32]}"'
        headers.setdefault("etag", f"W/{tag}")
        if not self._known & {tag, "*"}:
            return body
        start["status"] = NOT_MODIFIED
        for name in ("content-length", "content-type", "content-encoding"):
            del headers[name]
        return {**body, "body": b""}


def _without_body(send: Send) -> Send:
    async def head(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return head
