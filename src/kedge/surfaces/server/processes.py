"""Several processes that serve together: one address, the stores on servers, ended together.

The first process binds the port and starts the others, which take connections from the one socket. One that ends by
itself is started again; when the first is told to stop, all end what they have begun. Each has a worker of its own, as
several servers over the same stores have.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType

from kedge.core import logs
from kedge.core.errors import KedgeError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import Access
from kedge.engine.engine import Engine
from kedge.engine.home import Lasts
from kedge.stores import registry
from kedge.surfaces.server.run import Announce, bind, serve_on

log = logging.getLogger(__name__)
_SPAWN = multiprocessing.get_context("spawn")
_STOPS = (signal.SIGINT, signal.SIGTERM)


def run_processes(settings: Settings, announce: Announce) -> None:
    """Serve in `settings.processes` processes until SIGINT or SIGTERM.

    UsageError where a store belongs to one process alone; a KedgeError of the first process that could not start.
    """
    if not registry.on_servers(settings):
        raise UsageError(
            "Only stores on servers can be shared by several processes, and one of these is embedded.",
            hint="Name servers in catalog_url, vector_url and graph_url, or serve in one process.",
        )
    with bind(settings.host, settings.port) as bound:
        _Processes(settings, bound).run(announce)


def share(settings: Settings) -> Settings:
    """What one of the processes works with: its part of the cores."""
    cores = os.cpu_count() or 1
    own = max(1, cores // settings.processes)
    more = {"threads": settings.threads or own, "answers_at_once": settings.answers_at_once or 2 * own}
    return settings.model_copy(update=more)


class _Processes:
    """All processes of one address."""

    def __init__(self, settings: Settings, bound: socket.socket) -> None:
        self._settings = settings
        self._bound = bound
        self._running: list[SpawnProcess] = []
        self._stopped_by: int | None = None

    def run(self, announce: Announce) -> None:
        with self._signals():
            try:
                url, access = self._started()
                for _ in range(self._settings.processes - 1):
                    self._started()
                announce(url, access)
                while self._running:
                    wait([process.sentinel for process in self._running])
                    self._replace_ended()
            finally:
                self._stop(signal.SIGTERM, None)
                for process in self._running:
                    process.join()

    def _started(self) -> tuple[str, Access]:
        """One more process, once it serves: its address, and who is let in."""
        ours, theirs = _SPAWN.Pipe(duplex=False)
        process = _SPAWN.Process(target=_member, args=(self._settings, self._bound, theirs), name="kedge serve")
        process.start()
        theirs.close()
        self._running.append(process)
        if self._stopped_by is not None:
            self._tell(process, self._stopped_by)
        try:
            said = ours.recv()
        except EOFError:
            process.join()
            raise UsageError(
                "A process of the server ended before it was ready.", hint="Its log says why; try one process alone."
            ) from None
        if isinstance(said, KedgeError):
            raise said
        url, access = said
        return str(url), Access(access)

    def _replace_ended(self) -> None:
        for process in [one for one in self._running if not one.is_alive()]:
            self._running.remove(process)
            if self._stopped_by is None:
                log.error("process %s ended by itself (%s); another is started", process.pid, process.exitcode)
                self._started()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._stop) for number in _STOPS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        """Pass the signal on; `run` ends when all have ended."""
        self._stopped_by = number
        for process in self._running:
            self._tell(process, number)

    @staticmethod
    def _tell(process: SpawnProcess, number: int) -> None:
        if process.is_alive() and process.pid is not None:
            os.kill(process.pid, number)


def _member(settings: Settings, bound: socket.socket, ready: Connection) -> None:
    """One process: serves on the socket until it is told to stop, or the first process is gone."""
    os.setpgid(0, 0)  # Ctrl-C reaches the first process alone, which passes it on
    os.umask(0o077)
    logs.configure(settings)
    threading.Thread(target=_stop_with_parent, daemon=True).start()

    def announced(url: str, access: Access) -> None:
        ready.send((url, access.value))
        ready.close()

    try:
        own = share(settings)
        serve_on(bound, own, announced, Engine.open(own, lasts=Lasts.WORKING))
    except KedgeError as error:
        if ready.closed:
            raise
        ready.send(error)


def _stop_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
