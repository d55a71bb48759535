"""Processes to be killed: forked from one that has imported everything, so that each begins in milliseconds."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from multiprocessing.connection import Connection
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
        "kedge.stores.catalog.sql.migrate",
        "kedge.stores.graph.sql.concepts",
        "kedge.stores.graph.sql.nodes",
        "kedge.stores.vectors.edge.store",
        "alembic.runtime.environment",
        "alembic.runtime.migration",
        "alembic.script",
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
