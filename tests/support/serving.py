"""A server in a thread of the tests, and keys for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from fastapi import FastAPI

from kedge.core.settings import Settings
from kedge.core.values import Right
from kedge.engine.access.keys import make_key
from kedge.stores import registry
from kedge.surfaces.server.app import create_app
from kedge.surfaces.server.run import UvicornServer, bind, url_of


@dataclass(frozen=True)
class Running:
    """A server in a thread."""

    url: str
    app: FastAPI
    server: UvicornServer


@contextmanager
def running(settings: Settings) -> Iterator[Running]:
    """A server with these settings on a free port, until the block ends."""
    ready = threading.Event()
    with bind(settings.host, 0) as bound:
        app = create_app(settings)
        server = UvicornServer(app, settings, ready.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        try:
            assert ready.wait(60)
            yield Running(url_of(settings.host, bound), app, server)
        finally:
            server.should_exit = True
            thread.join(60)


@contextmanager
def served(settings: Settings) -> Iterator[str]:
    """The address of a server with these settings."""
    with running(settings) as one:
        yield one.url


def put_key(settings: Settings, tenant: str, right: Right, **changes: Any) -> str:
    """Make a key, with fields changed before it is kept; returns the token."""
    token, key = make_key(tenant, "test", right)

    async def put() -> None:
        catalog = registry.open_catalog(settings)
        await catalog.keys.put(replace(key, **changes))
        await catalog.close()

    asyncio.run(put())
    return token
