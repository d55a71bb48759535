"""Runs the app on uvicorn: binds first, so that a taken port is a clear error, and announces the address when ready."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from kedge.config import Settings
from kedge.engine import Engine
from kedge.errors import KedgeError, UsageError
from kedge.server.app import create_app
from kedge.urls import is_loopback

log = logging.getLogger(__name__)
GRACE_SECONDS = 10


def run_server(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; running requests get a moment to end."""
    with bind(settings.host, settings.port) as bound:
        asyncio.run(_serve(settings, bound, announce))


async def _serve(settings: Settings, bound: socket.socket, announce: Callable[[str], None]) -> None:
    async with Engine.open(settings) as engine:
        await check_access(settings, engine)
        engine.start_worker()
        warming = asyncio.create_task(_warm_up(engine))
        server = Server(create_app(settings, engine), settings, lambda: announce(url_of(settings.host, bound)))
        try:
            await server.serve(sockets=[bound])
        finally:
            warming.cancel()


async def _warm_up(engine: Engine) -> None:
    """Load the model behind the first requests, so that the first question is as quick as any."""
    try:
        await engine.warm_up()
    except KedgeError as error:
        log.warning("the embedding model cannot be loaded: %s", error)


async def check_access(settings: Settings, engine: Engine) -> None:
    """Without keys a server is the local user's own: beyond loopback it does not start, unless the settings say so."""
    if is_loopback(settings.host) or await engine.stores.catalog.keys.exist():
        return
    if not settings.open_access:
        raise UsageError(
            f"{settings.host} is not loopback, and nobody would be asked for a key.",
            hint="Make one with `kedge key create NAME`, or set open_access where something else keeps strangers out.",
        )
    log.warning("%s is not loopback and no key is asked for (open_access): who reaches it may use it", settings.host)


class Server(uvicorn.Server):
    """uvicorn that says when it is ready."""

    def __init__(self, app: object, settings: Settings, ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,  # type: ignore[arg-type]
                log_config=None,
                log_level=settings.log_level,
                access_log=settings.log_level in ("debug", "info"),
                timeout_graceful_shutdown=GRACE_SECONDS,
                server_header=False,
            )
        )
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM and return, so that the engine is closed; uvicorn's own way raises them again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then announce."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def bind(host: str, port: int) -> socket.socket:
    """A listening socket, or an error that says why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise UsageError(
            f"The server cannot listen on {host}:{port}: {error.strerror or error}.",
            hint="Choose another port with --port, or --port 0 for a free one.",
            details={"host": host, "port": port},
        ) from error


def url_of(host: str, bound: socket.socket) -> str:
    """The address to type, with the port that was really taken."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{bound.getsockname()[1]}"
