"""A server in a thread of the tests, and keys for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kedge.core.settings import Settings
from kedge.core.values import Right
from kedge.engine.access.keys import make_key
from kedge.stores import registry
from kedge.surfaces.server.app import create_app
from kedge.surfaces.server.run import UvicornServer, bind, url_of


@contextmanager
def served(settings: Settings) -> Iterator[str]:
    """The address of a server with these settings."""
    ready = threading.Event()
    with bind(settings.host, 0) as bound:
        server = UvicornServer(create_app(settings), settings, ready.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            assert ready.wait(60)
            yield url_of(settings.host, bound)
        finally:
            server.should_exit = True
            thread.join()


def put_key(settings: Settings, tenant: str, right: Right, **changes: Any) -> str:
    """Make a key, with fields changed before it is kept; returns the token."""
    token, key = make_key(tenant, "test", right)

    async def put() -> None:
        catalog = registry.open_catalog(settings)
        await catalog.keys.put(replace(key, **changes))
        await catalog.close()

    asyncio.run(put())
    return token
