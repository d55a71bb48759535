"""uvicorn's HTTP protocol with three things more: a request's head must come in time, a connection can be cut, and
there are only so many of them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, Protocol

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol


class HeldConnection(Protocol):
    """What is known of a connection."""

    @property
    def idle(self) -> bool:
        """It has no request in work."""

    def cut(self) -> None:
        """End it at once, without an answer."""


class Connections:
    """All connections of a server. Where there are too many, one that has no request makes place for the next."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[HeldConnection, str] = {}
        """With the machine that each came from, the oldest first."""

    def add(self, connection: HeldConnection, peer: str) -> None:
        """One more. Of the machine that has most without a request, the oldest one goes."""
        self._open[connection] = peer
        if len(self._open) > self._most:
            idle = [one for one in self._open if one is not connection and one.idle]
            of_peer = Counter(self._open[one] for one in idle)
            last = max(idle, key=lambda one: of_peer[self._open[one]], default=connection)  # the first of equals
            self.remove(last)
            last.cut()

    def remove(self, connection: HeldConnection) -> None:
        """It has ended."""
        self._open.pop(connection, None)


def protocol_for(head_seconds: float, connections: Connections) -> type[H11Protocol]:
    """The protocol with this limit; 0: none."""

    class KedgeProtocol(H11Protocol):
        """One connection."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._head: asyncio.TimerHandle | None = None
            self._app: ASGIApp = self.app
            self.app = self._with_abort

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            connections.add(self, self.client[0] if self.client else "")
            self._expect_head()

        @property
        def idle(self) -> bool:
            return getattr(self.cycle, "response_complete", True)  # there is no cycle before the first request

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if not self.idle:
                self._forget_head()
            elif self._head is None and self.timeout_keep_alive_task is None:
                self._expect_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget_head()
            connections.remove(self)
            super().connection_lost(exc)

        def cut(self) -> None:
            self.transport.abort()

        def _expect_head(self) -> None:
            if head_seconds and not self.transport.is_closing():
                self._head = self.loop.call_later(head_seconds, self._late)

        def _forget_head(self) -> None:
            if self._head is not None:
                self._head.cancel()
                self._head = None

        def _late(self) -> None:
            """Nobody says in minutes what fits into a packet: cut it, without an answer."""
            self._head = None
            if self.idle:
                self.transport.abort()

        async def _with_abort(self, scope: Scope, receive: Receive, send: Send) -> None:
            scope["state"]["abort"] = self.transport.abort
            await self._app(scope, receive, send)

    return KedgeProtocol
