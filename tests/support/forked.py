"""Processes of the tests' own: forked from one that has imported everything, so that each begins in milliseconds.

That is for tests of what a process does. How `kedge` starts is tested with a fresh interpreter in `tests/surfaces/cli`.
"""

from __future__ import annotations

import asyncio
import faulthandler
import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

from kedge.core import plugins

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "kedge.engine.backup.restoring",
        "kedge.engine.backup.taking",
        "kedge.engine.engine",
        "kedge.engine.parts",
        "kedge.engine.reindex",
        "kedge.ingest.parse.markdown",
        "kedge.ingest.parse.own",
        "kedge.ingest.pipeline",
        "kedge.kinds.courses.kind",
        "kedge.kinds.documents.way_in",
        "kedge.kinds.graphs.kind",
        "kedge.kinds.passages",
        "kedge.kinds.tables.kind",
        "kedge.models.embed.hashed",
        "kedge.stores.catalog.sql.catalog",
        "kedge.stores.catalog.sql.upgrade",
        "kedge.stores.graph.sql.concepts",
        "kedge.stores.graph.sql.nodes",
        "kedge.stores.vectors.edge.store",
        "alembic.runtime.environment",
        "alembic.runtime.migration",
        "alembic.script",
        "kedge.surfaces.cli.check",
        "kedge.surfaces.cli.collection",
        "kedge.surfaces.cli.doctor",
        "kedge.surfaces.cli.ingest",
        "kedge.surfaces.cli.main",
        "kedge.surfaces.cli.query",
        "kedge.surfaces.cli.serve",
        "kedge.surfaces.cli.worker",
        "kedge.surfaces.client",
        "kedge.surfaces.server.bodies",
        "kedge.surfaces.server.deps",
        "kedge.surfaces.server.protocol",
        "kedge.surfaces.server.traffic",
        "kedge.stores.graph.sql.writing",
        "fastapi.routing",
        "multipart",
        "procrastinate",
        "psycopg_pool",
        "tests.campaigns.chaos.victim",
        "uvicorn.protocols.http.h11_impl",
    ]
)
"""There is one such parent in a process of pytest, whoever asks for it first: all that anyone forks is named here."""
OnStep: TypeAlias = Callable[[str], None]
SECONDS = 120.0


def run_victim(main: Callable[..., Awaitable[None]], *arguments: object, die_at: int) -> tuple[int, list[str]]:
    """Let a process run `main(on_step, *arguments)` and kill itself (SIGKILL) at that step, 0: never.

    Returns its exit code and the steps it came to.
    """
    ours, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=_live, args=(main, arguments, die_at, theirs))
    process.start()
    theirs.close()
    steps: list[str] = []
    with suppress(EOFError):
        while ours.poll(SECONDS):
            steps.append(ours.recv())
    process.join(SECONDS)
    code = process.exitcode
    assert code is not None, f"it hangs after {steps}"
    return code, steps


def _live(main: Callable[..., Any], arguments: tuple[object, ...], die_at: int, tell: Connection) -> None:
    steps = 0

    def on_step(name: str) -> None:
        nonlocal steps
        steps += 1
        tell.send(name)
        if steps == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(main(on_step, *arguments))


class Command:
    """A process that runs: a `kedge` command, or a script."""

    def __init__(self, process: multiprocessing.process.BaseProcess) -> None:
        self._process = process

    @property
    def returncode(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.exitcode

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    def send_signal(self, sent: signal.Signals) -> None:
        """Send it, if the command still runs."""
        if self._process.is_alive() and self._process.pid is not None:
            os.kill(self._process.pid, sent)

    def wait(self, seconds: float = SECONDS) -> int:
        """Its exit code."""
        self._process.join(seconds)
        code = self._process.exitcode
        if code is None:
            self.send_signal(signal.SIGUSR1)  # its error output then has where each of its threads stands
            self._process.join(1)
        assert code is not None, f"not ended within {seconds:.0f} s"
        return code


class Piped(Command):
    """One whose output is read here, as it comes."""

    def __init__(self, process: multiprocessing.process.BaseProcess, out: int, err: int) -> None:
        super().__init__(process)
        self.stdout = os.fdopen(out, encoding="utf-8")
        self._stderr = os.fdopen(err, encoding="utf-8")
        self._noted: list[str] = []
        self._more = threading.Condition()
        self._reading = threading.Thread(target=self._note, daemon=True)
        self._reading.start()  # a full pipe would make it wait

    def read_all(self, seconds: float = SECONDS) -> tuple[str, str]:
        """What it still says on stdout, and all that it said on stderr, once it has ended."""
        said = self.stdout.read()
        self.wait(seconds)
        self._reading.join(seconds)
        return said, "".join(self._noted)

    def wait_noted(self, text: str, seconds: float = SECONDS) -> None:
        """Until it has said this on stderr."""
        with self._more:
            assert self._more.wait_for(lambda: text in "".join(self._noted), seconds), "".join(self._noted)

    def _note(self) -> None:
        for line in self._stderr:
            with self._more:
                self._noted.append(line)
                self._more.notify_all()

    def close(self) -> None:
        """Read no more."""
        self._reading.join(SECONDS)
        self.stdout.close()
        self._stderr.close()


@contextmanager
def command(arguments: Sequence[str], environ: Mapping[str, str], out: Path, err: Path) -> Iterator[Command]:
    """`kedge` with these arguments in this environment, its output in two files; killed at the end if it still runs."""
    process = PROCESSES.Process(target=_into_files, args=(list(arguments), dict(environ), out, err))
    process.start()
    started = Command(process)
    try:
        yield started
    finally:
        started.send_signal(signal.SIGKILL)
        process.join(SECONDS)


@contextmanager
def piped(arguments: Sequence[str], environ: Mapping[str, str] | None = None, script: str = "") -> Iterator[Piped]:
    """The same with its output in pipes; with a script, that one runs instead of `kedge`.

    Without an environment it has that of this process.
    """
    (our_out, out), (our_err, err) = os.pipe(), os.pipe()
    theirs = Connection(out, readable=False), Connection(err, readable=False)
    environ = os.environ if environ is None else environ
    process = PROCESSES.Process(target=_into_pipes, args=(list(arguments), dict(environ), script, *theirs))
    process.start()
    for one in theirs:
        one.close()
    started = Piped(process, our_out, our_err)
    try:
        yield started
    finally:
        started.send_signal(signal.SIGKILL)
        process.join(SECONDS)
        started.close()


def said_first(started: Piped) -> str:
    """The first thing that it says on stdout: a line, or all lines of a JSON object."""
    said = started.stdout.readline()
    while said.startswith("{") and not said.endswith("}\n"):
        said += started.stdout.readline()
    assert said, started.read_all()
    return said


def ran(arguments: Sequence[str], environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """`kedge` with these arguments, run to its end."""
    with piped(arguments, environ) as started:
        out, err = started.read_all()
        return subprocess.CompletedProcess(["kedge", *arguments], started.wait(), out, err)


def ran_script(
    script: str, *arguments: str, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The script with these arguments, run to its end."""
    with piped(arguments, environ, script) as started:
        out, err = started.read_all()
        return subprocess.CompletedProcess(["-c", *arguments], started.wait(), out, err)


def _into_files(arguments: list[str], environ: dict[str, str], out: Path, err: Path) -> None:
    for number, path in ((1, out), (2, err)):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    _begin(arguments, environ)


def _into_pipes(arguments: list[str], environ: dict[str, str], script: str, out: Connection, err: Connection) -> None:
    for number, pipe in ((1, out), (2, err)):
        os.dup2(pipe.fileno(), number)
        pipe.close()
    _begin(arguments, environ, script)


def _begin(arguments: list[str], environ: dict[str, str], script: str = "") -> None:
    """As a fresh interpreter would with this environment, but for what has been imported."""
    faulthandler.register(signal.SIGUSR1, file=2)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["-c" if script else "kedge", *arguments]
    given = [path for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [*given, *(path for path in sys.path if path not in given)]
    importlib.invalidate_caches()
    assert plugins.everything.cache_info().currsize == 0, "what was imported above must not look for plug-ins"
    if script:
        exec(compile(script, "-c", "exec"), {"__name__": "__main__"})
        return
    from kedge.surfaces.cli.main import main

    main()
