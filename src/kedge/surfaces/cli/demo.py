"""`kedge demo`: a small handbook of seamanship, three questions, real answers."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kedge.core.outside import to_json
from kedge.core.values import Answer, Demonstration, IngestRequest, Job, Query, Scope
from kedge.surfaces.cli.common import FAILED, CommandRun, scope
from kedge.surfaces.cli.ingest import failed, report
from kedge.surfaces.cli.progress import ingest_progress
from kedge.surfaces.cli.render import show_answer

if TYPE_CHECKING:
    from kedge.engine.engine import Engine

COLLECTION = "demo"
QUESTIONS = (
    ("a plain question", "What scope should an all-chain rode have overnight?"),
    ("needs two documents", "What is the knot that ties the warp to a kedge also called?"),
    ("not in the handbook", "Who invented the bowline?"),
)
"""Picked from fifteen that were tried, because they come out right: a show, not a measure. `kedge eval` measures."""


def demo(run: CommandRun) -> None:
    """Take in a small bundled handbook and ask it three questions; the last one it must refuse."""
    settings = run.settings()
    where = scope(settings, COLLECTION)
    with (
        resources.as_file(resources.files("kedge") / "data" / "demo") as folder,
        ingest_progress(run) as on_progress,
    ):
        request = IngestRequest(where, (str(folder),))

        async def work(engine: Engine) -> tuple[Job, Sequence[Answer]]:
            job = await engine.ingest(request, on_progress)
            return job, [await engine.ask(Query(text, where)) for _, text in QUESTIONS]

        job, answers = run.with_engine(settings, work)
    if run.json:
        run.emit(to_json(Demonstration(job, tuple(answers))))
    else:
        _show(run, job, answers, where)
    if failed(job):
        raise typer.Exit(FAILED)


def _show(run: CommandRun, job: Job, answers: Sequence[Answer], where: Scope) -> None:
    report(run, job)
    for (kind, question), answer in zip(QUESTIONS, answers, strict=True):
        run.out.print(f"\n--- {kind} ---", style="dim")
        run.out.print(f'$ kedge ask "{question}" --collection {where.collection}\n', style="bold", markup=False)
        show_answer(run, answer)
    run.out.print("\n--- your turn ---", style="dim")
    name = _command()
    for line in (
        f"{name} ingest YOUR_FOLDER        take in your own documents",
        f'{name} ask "YOUR QUESTION"       ask them',
        f"{name} serve                     the page at /rag, and the HTTP API",
    ):
        run.out.print(f"  {line}", markup=False)


def _command() -> str:
    """What to type here: `kedge` where the shell finds this very command, else its path."""
    own = Path(sys.executable).with_name("kedge")
    found = shutil.which("kedge")
    if found is not None and Path(found).resolve() == own.resolve():
        return "kedge"
    return str(own.relative_to(Path.cwd())) if own.is_relative_to(Path.cwd()) else str(own)
