"""`kedge worker`."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.core.outside import to_json
from kedge.core.values import JobsDone
from kedge.engine.home import Lasts
from kedge.surfaces.cli.common import CommandRun
from kedge.surfaces.cli.progress import settle

if TYPE_CHECKING:
    from kedge.engine.engine import Engine


def worker(
    run: CommandRun, once: Annotated[bool, typer.Option("--once", help="Run what is queued, then stop.")] = False
) -> None:
    """Run queued and unfinished ingestions; several at a time may share them where every store is a server."""
    settings = run.settings()
    if once:
        run.with_engine(settings, partial(_work_once, run), Lasts.LONG)
        return
    run.with_engine(settings, partial(_work_until_stopped, run), Lasts.WORKING)
    run.note("worker stopped")


async def _work_once(run: CommandRun, engine: Engine) -> None:
    done = await engine.drain()
    if run.json:
        run.emit(to_json(JobsDone(done)))
    else:
        run.out.print(f"{done} jobs done")
    await settle(run, engine)


async def _work_until_stopped(run: CommandRun, engine: Engine) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    engine.start_worker(max(1, engine.settings.workers))
    run.note("worker running; stop it with Ctrl-C")
    await stopped.wait()
