"""The engine of a command, reached by other commands while it works."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kedge.engine.home import Lasts
from kedge.surfaces.server.home_socket import listening

if TYPE_CHECKING:
    from kedge.core.settings import Settings
    from kedge.engine.engine import Engine


@asynccontextmanager
async def reachable(settings: Settings, engine: Engine, lasts: Lasts) -> AsyncIterator[None]:
    """While the block runs, others reach the engine. Nothing of the server is loaded before the first of them comes."""
    with listening(settings, lasts) as bound:
        if bound is None:
            yield
            return
        loop, served = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(bound, served.set)
        serving = asyncio.create_task(_serve(settings, engine, bound, served))
        try:
            yield
        finally:
            loop.remove_reader(bound)
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


async def _serve(settings: Settings, engine: Engine, bound: socket.socket, wanted: asyncio.Event) -> None:
    await wanted.wait()
    asyncio.get_running_loop().remove_reader(bound)
    from kedge.surfaces.server.app import create_app
    from kedge.surfaces.server.run import UvicornServer

    app = create_app(settings, engine)
    app.state.socket = bound.getsockname()
    server = UvicornServer(app, settings.model_copy(update={"drain_notice": 0.0}), lambda: None, signals=False)
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        await asyncio.shield(serving)
    finally:
        server.should_exit = True
        await serving
