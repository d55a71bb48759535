"""The socket in the home: where other commands of the same user reach the process that has it.

It is a Unix socket that only its owner may open; who may is the user whose home it is, and needs no key. Where a system
has no such sockets, commands wait for each other instead.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kedge.engine.home import Lasts, Owner, tell_owner
from kedge.stores import registry

if TYPE_CHECKING:
    from kedge.core.settings import Settings

NAME = "socket"
LONGEST = 100
"""Bytes of a path that every system takes."""


@contextmanager
def listening(settings: Settings, lasts: Lasts) -> Iterator[socket.socket | None]:
    """The socket of a home that this process has, told to others; None where there cannot or need not be one."""
    if not hasattr(socket, "AF_UNIX") or registry.on_servers(settings):
        yield None
        return
    path = settings.home.resolve() / NAME
    apart = Path(tempfile.mkdtemp(prefix="kedge-")) if len(os.fsencode(path)) > LONGEST else None
    path = apart / NAME if apart else path
    path.unlink(missing_ok=True)  # of a process that was killed
    with socket.socket(socket.AF_UNIX) as bound:
        mask = os.umask(0o177)
        try:
            bound.bind(str(path))
        finally:
            os.umask(mask)
        bound.listen()
        bound.setblocking(False)
        tell_owner(settings.home, Owner(os.getpid(), str(path), lasts))
        try:
            yield bound
        finally:
            tell_owner(settings.home, Owner(os.getpid(), None, lasts))
            path.unlink(missing_ok=True)
            if apart:
                shutil.rmtree(apart, ignore_errors=True)
