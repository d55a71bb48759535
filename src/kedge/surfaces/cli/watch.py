"""`kedge ingest --watch`: takes edits in as they are made.

Editors write in bursts (a copy, a rename, the file itself), so changes are gathered until none came for a moment. What
changed is found by the incremental ingest itself, which compares hashes: a missed or doubled event does no harm.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from watchfiles import DefaultFilter, awatch

from kedge.core.errors import KedgeError, UsageError
from kedge.core.outside import to_json
from kedge.core.values import IngestMode, IngestRequest, Job
from kedge.surfaces.cli.common import CommandRun, show_error
from kedge.surfaces.cli.progress import ingest_progress

if TYPE_CHECKING:
    from kedge.engine.engine import Engine

QUIET_MS = 300
"""Changes are taken in when none came for so long …"""
LONGEST_MS = 3000
"""… or when they have been coming for so long."""

Report = Callable[[CommandRun, Job], None]


async def watch(run: CommandRun, engine: Engine, request: IngestRequest, report: Report) -> None:
    """Take the sources in, then every change to them, until interrupted."""
    places = watched(request.sources)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        await follow(run, engine, request, _changes(places, stopped), report)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    run.note("stopped watching")


async def follow(
    run: CommandRun, engine: Engine, request: IngestRequest, changes: AsyncIterator[object], report: Report
) -> None:
    """One ingest at once, and one after each sign of a change; a failed one is reported and does not end it."""
    upcoming = asyncio.ensure_future(_next(changes))
    await asyncio.sleep(0)  # the watcher starts before the first look, so that no edit falls in between
    first = True
    while True:
        try:
            if first:
                with ingest_progress(run) as on_progress:
                    job = await engine.ingest(request, on_progress)
            else:
                job = await engine.ingest(replace(request, mode=IngestMode.INCREMENTAL))
            if first or _did_anything(job):
                _tell(run, job, report)
        except KedgeError as error:
            if first:
                upcoming.cancel()
                raise
            show_error(run, error)
        if first:
            run.note("watching for changes; stop with Ctrl-C")
        first = False
        if await upcoming is None:
            return
        upcoming = asyncio.ensure_future(_next(changes))


def watched(sources: Sequence[str]) -> list[Path]:
    """Files and folders of the request. UsageError for what cannot be watched."""
    if any("://" in source for source in sources):
        raise UsageError("Only files and folders can be watched.", hint="Leave --watch out, or name a folder.")
    places = [Path(source).expanduser() for source in sources]
    for place in places:
        if not place.exists():
            raise UsageError(f"{place} is not there, so it cannot be watched.", hint="Name an existing folder.")
    return places


async def _changes(places: Sequence[Path], stopped: asyncio.Event) -> AsyncIterator[object]:
    only = DefaultFilter()
    async for change in awatch(*places, watch_filter=only, stop_event=stopped, step=QUIET_MS, debounce=LONGEST_MS):
        yield change


async def _next(changes: AsyncIterator[object]) -> object | None:
    return await anext(changes, None)


def _did_anything(job: Job) -> bool:
    return bool(job.files_processed or job.files_deleted or job.files_failed)


def _tell(run: CommandRun, job: Job, report: Report) -> None:
    """As one line of JSON, or as after any ingest."""
    if run.json:
        sys.stdout.write(json.dumps(to_json(job), ensure_ascii=False) + "\n")
        sys.stdout.flush()
    else:
        report(run, job)
