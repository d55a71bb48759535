"""uvicorn's HTTP protocol with two things more: a request's head must come in time, and a connection can be cut."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol


def protocol_for(head_seconds: float) -> type[H11Protocol]:
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
            self._expect_head()

        @property
        def _idle(self) -> bool:
            return getattr(self.cycle, "response_complete", True)  # there is no cycle before the first request

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if not self._idle:
                self._forget_head()
            elif self._head is None and self.timeout_keep_alive_task is None:
                self._expect_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget_head()
            super().connection_lost(exc)

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
            if self._idle:
                self.transport.abort()

        async def _with_abort(self, scope: Scope, receive: Receive, send: Send) -> None:
            scope["state"]["abort"] = self.transport.abort
            await self._app(scope, receive, send)

    return KedgeProtocol
