"""`kedge serve` and `kedge worker`."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from typing import Annotated

import typer

from kedge.cli.common import Session, command
from kedge.cli.progress import settle
from kedge.config import Settings
from kedge.engine import Engine


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    command(app, "serve")(serve)
    command(app, "worker")(worker)


def serve(
    session: Session,
    host: Annotated[str | None, typer.Option(help="Address to bind to; loopback by default.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = None,
) -> None:
    """Serve the HTTP API until interrupted, and run queued ingestions."""
    from kedge.server.run import run_server

    settings = session.settings(host=host, port=port)
    run_server(settings, lambda url: _announce(session, settings, url))


def worker(
    session: Session, once: Annotated[bool, typer.Option("--once", help="Run what is queued, then stop.")] = False
) -> None:
    """Run queued and unfinished ingestions."""
    settings = session.settings()
    if once:
        session.with_engine(settings, partial(_work_once, session))
        return
    session.note("worker running; stop it with Ctrl-C")
    session.with_engine(settings, _work_until_stopped)
    session.note("worker stopped")


async def _work_once(session: Session, engine: Engine) -> None:
    done = await engine.drain()
    if session.json:
        session.emit({"jobs": done})
    else:
        session.out.print(f"{done} jobs done")
    await settle(session, engine)


async def _work_until_stopped(engine: Engine) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    engine.start_worker()
    await stopped.wait()


def _announce(session: Session, settings: Settings, url: str) -> None:
    if session.json:
        session.emit({"url": url, "home": str(settings.home.resolve())})
    else:
        session.out.print(f"Kedge serves {settings.home} at {url}  (API: {url}/docs)", markup=False)
