"""A network that breaks: a TCP proxy that drops, delays, swallows and refuses."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

HOST = "127.0.0.1"
WAYS = ("drop", "refuse", "delay", "deaf", "mute", "half")
"""Connections are reset · and new ones refused · all is late · requests are lost · answers are lost · answers end."""
_LATE = 0.15
_PART = 1 << 16


class Proxy:
    """Stands before one server; `break_for` makes the way to it bad for a while."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or HOST, parts.port or 0)
        self._old = parts.netloc.rpartition("@")[2]
        self._server: asyncio.Server | None = None
        self._port = 0
        self._open: set[asyncio.StreamWriter] = set()
        self._answers: set[asyncio.StreamWriter] = set()
        """Those of `_open` that lead to clients."""
        self._bad = ""

    async def __aenter__(self) -> Proxy:
        await self._listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._deafen()
        self._reset()

    def through(self, url: str) -> str:
        """The URL of the server, led through here."""
        return url.replace(self._old, f"{HOST}:{self._port}", 1)

    async def break_for(self, how: str, seconds: float) -> None:
        """Be bad in one of the `WAYS`, then good again. Cancelled, it is good at once."""
        self._bad = how
        try:
            if how in ("drop", "refuse"):
                self._reset()
            if how == "refuse":
                await self._deafen()
            if how == "half":
                self._end_answers()
            await asyncio.sleep(seconds)
        finally:
            self._bad = ""
            if how in ("deaf", "mute", "half"):
                self._reset()
            if how == "refuse":
                await self._listen()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, HOST, self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _deafen(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()
            await server.wait_closed()

    def _reset(self) -> None:
        for writer in self._open:
            writer.transport.abort()

    def _end_answers(self) -> None:
        for writer in self._answers:
            if not writer.transport.is_closing():
                writer.write_eof()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner_reader, inner_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, inner_writer}
        self._open |= both
        self._answers.add(writer)
        try:
            await asyncio.gather(
                self._copy(reader, inner_writer, ("deaf",)), self._copy(inner_reader, writer, ("mute", "half"))
            )
        finally:
            self._open -= both
            self._answers.discard(writer)
            for each in both:
                each.transport.abort()

    async def _copy(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, lost: tuple[str, ...]) -> None:
        with suppress(OSError):
            while part := await source.read(_PART):
                if self._bad == "delay":
                    await asyncio.sleep(_LATE)
                if self._bad not in lost:
                    target.write(part)
                    await target.drain()
        target.transport.abort()
