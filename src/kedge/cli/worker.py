"""`kedge worker`."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from typing import Annotated

import typer

from kedge.cli.common import Session, command
from kedge.cli.progress import settle
from kedge.engine import Engine


def register(app: typer.Typer) -> None:
    """Add the verb."""
    command(app, "worker")(worker)


def worker(
    session: Session, once: Annotated[bool, typer.Option("--once", help="Run what is queued, then stop.")] = False
) -> None:
    """Run queued and unfinished ingestions; several at a time may share them where every store is a server."""
    settings = session.settings()
    if once:
        session.with_engine(settings, partial(_work_once, session))
        return
    session.with_engine(settings, partial(_work_until_stopped, session))
    session.note("worker stopped")


async def _work_once(session: Session, engine: Engine) -> None:
    done = await engine.drain()
    if session.json:
        session.emit({"jobs": done})
    else:
        session.out.print(f"{done} jobs done")
    await settle(session, engine)


async def _work_until_stopped(session: Session, engine: Engine) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    engine.start_worker(max(1, engine.settings.workers))
    session.note("worker running; stop it with Ctrl-C")
    await stopped.wait()
