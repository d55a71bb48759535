"""Runs the app on uvicorn: binds first, so that a taken port is a clear error, and announces the address when ready."""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import TypeAlias

import uvicorn
from fastapi import FastAPI

from kedge.core.errors import KedgeError, UsageError
from kedge.core.settings import Settings
from kedge.core.urls import is_loopback
from kedge.core.values import Access
from kedge.engine.engine import Engine
from kedge.engine.home import Lasts
from kedge.surfaces.server.app import create_app
from kedge.surfaces.server.home_socket import listening
from kedge.surfaces.server.protocol import Connections, protocol_for
from kedge.surfaces.server.traffic import Traffic

log = logging.getLogger(__name__)

OTHER_FILES = 512
"""Open files of a server beside its connections."""
Announce: TypeAlias = Callable[[str, Access], None]


def run_server(settings: Settings, announce: Announce, opening: AbstractAsyncContextManager[Engine]) -> None:
    """Serve the engine until SIGINT or SIGTERM; running requests get a moment to end."""
    with bind(settings.host, settings.port) as bound:
        serve_on(bound, settings, announce, opening)


def serve_on(
    bound: socket.socket, settings: Settings, announce: Announce, opening: AbstractAsyncContextManager[Engine]
) -> None:
    """The same on a socket that listens already."""
    asyncio.run(_serve(settings, bound, announce, opening))


async def _serve(
    settings: Settings, bound: socket.socket, announce: Announce, opening: AbstractAsyncContextManager[Engine]
) -> None:
    async with opening as engine:
        access = await check_access(settings, engine, str(bound.getsockname()[0]))
        engine.start_worker()
        warming = asyncio.create_task(_warm_up(engine))
        app = create_app(settings, engine)
        started = partial(announce, url_of(settings.host, bound), access)
        server = UvicornServer(app, settings, started, engine.stop_worker)
        with listening(settings, Lasts.WORKING) as own:
            app.state.socket = own.getsockname() if own else None
            try:
                await server.serve(sockets=[bound, *([own] if own else [])])
            finally:
                warming.cancel()


async def _warm_up(engine: Engine) -> None:
    """Load the model behind the first requests, so that the first question is as quick as any."""
    try:
        await engine.warm_up()
    except KedgeError as error:
        log.warning("the embedding model cannot be loaded: %s", error)
    if threading.current_thread() is threading.main_thread():  # the process is the server's own
        _keep_what_is_loaded()


def _keep_what_is_loaded() -> None:
    """Have the collector of garbage pass over modules and models: every search through all of them stops the server for
    a tenth of a second."""
    gc.collect()
    gc.freeze()


async def check_access(settings: Settings, engine: Engine, address: str) -> Access:
    """Without keys a server is the local user's own: beyond loopback it does not start, unless the settings say so.

    `address` is the one that was really bound, whatever name the settings have for it.
    """
    if settings.oidc_issuer:
        return Access.TOKENS
    if await engine.stores.catalog.keys.exist():
        return Access.KEYS
    if settings.open_access:
        log.warning("%s is bound and no key is asked for (open_access): who reaches it may use it", settings.host)
        return Access.OPEN
    if not is_loopback(address):
        raise UsageError(
            f"{settings.host or address} is not loopback, and nobody would be asked for a key.",
            hint="Make one with `kedge key create NAME`, or set open_access where something else keeps strangers out.",
        )
    return Access.LOCAL


class UvicornServer(uvicorn.Server):
    """uvicorn that says when it is ready, and when it is no more."""

    def __init__(
        self,
        app: FastAPI,
        settings: Settings,
        ready: Callable[[], None],
        stop_work: Callable[[], Awaitable[None]] | None = None,
        *,
        signals: bool = True,
    ) -> None:
        """`stop_work` is awaited while running requests end: what works in the background takes nothing new.

        `signals`: SIGINT and SIGTERM stop it; else they are somebody else's.
        """
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol_for(settings.client_timeout, Connections(_most_connections(settings))),
                log_config=None,
                log_level=settings.log_level,
                access_log=False,  # `kedge.surfaces.server.edge` writes one that knows more and tells less
                timeout_graceful_shutdown=math.ceil(settings.drain_timeout),
                server_header=False,
            )
        )
        self._ready = ready
        self._traffic: Traffic = app.state.traffic
        self._notice = settings.drain_notice
        self._stop_work = stop_work
        self._signals = signals
        self._enough = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM and return, so that the engine is closed; uvicorn's own way raises them again."""
        if not self._signals or threading.current_thread() is not threading.main_thread():
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

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Say at once that no more should come. A second signal ends the notice, a second Ctrl-C all waiting."""
        if self._traffic.draining:
            self._enough.set()
        self._traffic.draining = True
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Hand the running job back, keep listening for `drain_notice`, then let what runs end."""
        self._traffic.draining = True
        stopping = asyncio.ensure_future(self._stop_work()) if self._stop_work else None
        if self._notice and not self.force_exit:
            log.info("stopping: /ready says so for %g s", self._notice)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._notice):
                    await self._enough.wait()
        await super().shutdown(sockets)
        if stopping is not None:
            await stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then announce."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def _most_connections(settings: Settings) -> int:
    """As many as the settings say, as far as the system allows: each is an open file, and stores have some too."""
    try:
        import resource
    except ImportError:  # not a POSIX system
        return settings.max_connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.max_connections + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return settings.max_connections if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft) - OTHER_FILES)


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
