"""Progress on stderr: a bar in a terminal, a line per step elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from kedge.core.values import Job
from kedge.surfaces.cli.common import CommandRun

if TYPE_CHECKING:
    from kedge.surfaces.cli.beside import Answers

SOON = 0.5
"""Seconds that something may take without a word about it."""
BUILDING = "building the search index (Ctrl-C is safe: everything is taken in, the next ingest goes on with the index)"


@contextmanager
def ingest_progress(run: CommandRun) -> Iterator[Callable[[Job], None]]:
    """A callback for `Engine.ingest` that shows files, passages, passages per second and the step."""
    if not run.notes.is_terminal:
        yield StepLines(run)
        return
    with _bar(run) as progress:
        yield JobBar(progress)


@contextmanager
def phase_progress(run: CommandRun) -> Iterator[Callable[[str, int, int], None]]:
    """A callback (phase, done, total; 0 when unknown) with a bar; silent when stderr is no terminal."""
    if not run.notes.is_terminal:
        yield lambda _phase, _done, _total: None
        return
    with _bar(run) as progress:
        task = progress.add_task("starting", total=None, detail="")
        yield lambda phase, done, total: progress.update(
            task, description=phase, completed=done, total=total or None, detail=f"{done}/{total or '?'}"
        )


async def settle(run: CommandRun, engine: Answers) -> None:
    """Wait for what the engine does behind an ingest; say so when it takes long."""
    settling = asyncio.create_task(engine.settle())
    await asyncio.wait([settling], timeout=SOON)
    if settling.done() or not run.notes.is_terminal:
        if not settling.done():
            run.note(BUILDING)
        await settling
        return
    with run.notes.status(BUILDING):
        await settling


def _bar(run: CommandRun) -> Progress:
    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
        console=run.notes,
        transient=True,
    )


class JobBar:
    """Draws a job as one bar."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID = progress.add_task("starting", total=100, detail="")
        self._rate = Rate()

    def __call__(self, job: Job) -> None:
        rate = self._rate(job.processed_passages)
        files = f"{job.files_processed + job.files_skipped + job.files_failed}/{job.files_discovered} files"
        passages = f"{job.processed_passages}/{job.total_passages or '?'} passages"
        self._progress.update(
            self._task,
            completed=job.progress,
            description=job.current_step or job.status.value,
            detail=f"{files} · {passages} · {rate:.0f}/s",
        )


class StepLines:
    """Writes one line whenever the step changes, and at every tenth of the way."""

    def __init__(self, run: CommandRun) -> None:
        self._session = run
        self._told: tuple[str, int] = ("", 0)

    def __call__(self, job: Job) -> None:
        step = job.current_step or job.status.value
        if (step, job.progress // 10) != self._told:
            self._told = (step, job.progress // 10)
            self._session.note(f"{step} ({job.progress} %, {job.files_discovered} files)")


class Rate:
    """Things per second since the first one was counted."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None

    def __call__(self, count: int) -> float:
        now = time.monotonic()
        if self._first is None:
            self._first = (now, count)
        begun, base = self._first
        return (count - base) / (now - begun) if now > begun else 0.0
