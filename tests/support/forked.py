"""Processes of the tests' own: forked from one that has imported everything, so that each begins in milliseconds.

That is for tests of what a process does. How `kedge` starts is tested with a fresh interpreter in `tests/surfaces/cli`.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

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
        "kedge.surfaces.cli.worker",
        "kedge.stores.graph.sql.writing",
        "procrastinate",
        "psycopg_pool",
        "tests.campaigns.chaos.victim",
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
    """A `kedge` command that runs."""

    def __init__(self, process: multiprocessing.process.BaseProcess) -> None:
        self._process = process

    def send_signal(self, sent: signal.Signals) -> None:
        """Send it, if the command still runs."""
        if self._process.is_alive() and self._process.pid is not None:
            os.kill(self._process.pid, sent)

    def wait(self, seconds: float = SECONDS) -> int:
        """Its exit code."""
        self._process.join(seconds)
        code = self._process.exitcode
        assert code is not None, f"not ended within {seconds:.0f} s"
        return code


@contextmanager
def command(arguments: Sequence[str], environ: Mapping[str, str], out: Path, err: Path) -> Iterator[Command]:
    """`kedge` with these arguments in this environment, its output in two files; killed at the end if it still runs."""
    process = PROCESSES.Process(target=_command, args=(list(arguments), dict(environ), out, err))
    process.start()
    started = Command(process)
    try:
        yield started
    finally:
        started.send_signal(signal.SIGKILL)
        process.join(SECONDS)


def _command(arguments: list[str], environ: dict[str, str], out: Path, err: Path) -> None:
    for number, path in ((1, out), (2, err)):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["kedge", *arguments]
    from kedge.surfaces.cli.main import main

    main()
