"""`kedge ingest`: take documents in, with a progress bar."""

from __future__ import annotations

from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from kedge.core.errors import UnreadableError, UsageError
from kedge.core.outside import to_json
from kedge.core.values import (
    DEFAULT_KIND,
    IngestMode,
    IngestPlan,
    IngestRequest,
    Job,
    JobStatus,
    Json,
    Scope,
    parse_readers,
)
from kedge.engine.home import Lasts
from kedge.kinds import installed
from kedge.kinds.ports import Units
from kedge.surfaces.cli.cataloged import with_library
from kedge.surfaces.cli.common import FAILED, CollectionOption, CommandRun, scope
from kedge.surfaces.cli.progress import ingest_progress, settle

if TYPE_CHECKING:
    from kedge.core.settings import Settings
    from kedge.engine.library import Library
    from kedge.surfaces.cli.beside import Answers

SHOWN_FAULTS = 20


def ingest(
    run: CommandRun,
    *,
    sources: Annotated[list[str], typer.Argument(metavar="PATH…", help="Files, folders, globs, URLs, JSONL corpora.")],
    collection: CollectionOption = None,
    kind: Annotated[str, typer.Option(help="Kind of knowledge.")] = DEFAULT_KIND,
    mode: Annotated[
        IngestMode, typer.Option(help="incremental skips the unchanged; full takes all; recreate empties first.")
    ] = IngestMode.INCREMENTAL,
    topic: Annotated[str | None, typer.Option(help="Topic tag of every passage.")] = None,
    title: Annotated[str | None, typer.Option(help="Title, instead of the detected one (single source).")] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", help="docx, html, markdown, pdf, rst …, or a plug-in's, instead of the detected one."),
    ] = None,
    metadata: Annotated[list[str] | None, typer.Option("--meta", help="key=value kept with every document.")] = None,
    readers: Annotated[
        str | None,
        typer.Option(help="Who may read it, whatever the sources say: user:NAME,group:NAME or public."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what is new, modified and gone.")] = False,
    follow: Annotated[bool, typer.Option("--watch", help="Stay and take every change in as it is made.")] = False,
    options: Annotated[
        list[str] | None,
        typer.Option("--option", help="key=value for the kind; tables: delimiter, encoding, header=yes|no."),
    ] = None,
) -> None:
    """Take documents in. Unchanged files are skipped; an interrupted run goes on where it stopped."""
    settings = run.settings()
    where = scope(settings, collection)
    _some_there(sources, settings, where, may_be_empty=follow)
    request = IngestRequest(
        scope=where,
        sources=tuple(sources),
        kind=kind,
        mode=mode,
        topic=topic,
        title=title,
        format=format_,
        metadata=dict(pair(item) for item in metadata or []),
        options=dict(_option(item) for item in options or []),
        readers=None if readers is None else parse_readers(readers),
    )

    if dry_run:
        show_plan(run, run.with_engine(settings, lambda engine: engine.plan(request)))
        return
    if follow:
        from kedge.surfaces.cli.watch import watch

        run.with_engine(settings, lambda engine: watch(run, engine, request, report), Lasts.UNTIL_STOPPED)
        return

    async def work(engine: Answers) -> Job:
        with ingest_progress(run) as on_progress:
            job = await engine.ingest(request, on_progress)
        report(run, job)
        await settle(run, engine)
        return job

    if failed(run.with_answers(settings, work, Lasts.LONG)):
        raise typer.Exit(FAILED)


def _some_there(sources: list[str], settings: Settings, where: Scope, *, may_be_empty: bool) -> None:
    """UnreadableError where nothing is at any of the paths: no collection is made for a slip of the pen.

    Empty folders may be what is left of folders that were taken in before.
    """
    left = [one for one in sources if "://" in one or has_magic(one) or Path(one).exists()]
    if left and (may_be_empty or any("://" in one or has_magic(one) or _holds_a_file(Path(one)) for one in left)):
        return
    if not left or not with_library(settings, lambda library: _is_known(library, where)):
        named = ", ".join(sources[:SHOWN_FAULTS])
        raise UnreadableError(f"There is nothing at {named}.", hint="Give files, folders, globs or URLs that exist.")


def _holds_a_file(path: Path) -> bool:
    return any(one.is_file() for one in path.rglob("*")) if path.is_dir() else path.exists()


async def _is_known(library: Library, where: Scope) -> bool:
    return any(one.scope == where for one in await library.collections(where.tenant))


def show_plan(run: CommandRun, plan: IngestPlan) -> None:
    """Say what would be done."""
    if run.json:
        run.emit(to_json(plan))
        return
    for what, names in (("new", plan.new), ("modified", plan.modified), ("gone", plan.deleted)):
        for name in names:
            run.out.print(f"{what:9}{name}", markup=False)
    for error in plan.errors[:SHOWN_FAULTS]:
        run.note(f"cannot be read: {error.url}: {error.message} {error.hint}".rstrip())
    counts = f"{len(plan.new)} new, {len(plan.modified)} modified, {len(plan.deleted)} gone, {plan.unchanged} unchanged"
    run.out.print(f"{counts}; nothing was taken in", markup=False)


def failed(job: Job) -> bool:
    """Nothing could be taken in. Single faults among many files are reported, and the run counts as done."""
    nothing = job.files_processed + job.files_skipped + job.files_deleted == 0
    return job.status is JobStatus.FAILED or (job.files_failed > 0 and nothing)


def report(run: CommandRun, job: Job) -> None:
    """Say what the job did."""
    if run.json:
        run.emit(to_json(job))
        return
    if job.error_message:
        run.note(f"failed: {job.error_message}")
    run.out.print(f"[bold]{escape(job.scope.collection)}[/]: {_summary(job)}")
    for error in job.errors[:SHOWN_FAULTS]:
        run.note(f"not taken in: {error.url}: {error.message} {error.hint}".rstrip())
    if len(job.errors) > SHOWN_FAULTS:
        run.note(f"… and {len(job.errors) - SHOWN_FAULTS} more: kedge job show {job.id}")
    for warning in job.warnings[:SHOWN_FAULTS]:
        run.note(f"note: {warning}")


def _summary(job: Job) -> str:
    kept = job.processed_passages - job.passages_created
    kind = installed().get(job.kind)
    units = kind.units if kind is not None else Units()
    made = f"{job.passages_created:,} {units.parts}" + (
        f" embedded, {kept:,} kept" if kept and units == Units() else ""
    )
    parts = [f"{job.files_processed} {units.sources} ({made})"]
    if job.files_skipped:
        parts.append(f"{job.files_skipped} unchanged")
    if job.files_deleted:
        parts.append(f"{job.files_deleted} gone")
    if job.passages_deleted:
        parts.append(f"{job.passages_deleted} passages deleted")
    if job.files_failed:
        parts.append(f"{job.files_failed} could not be read")
    if job.started_at and job.completed_at:
        parts.append(f"{(job.completed_at - job.started_at).total_seconds():.1f} s")
    return ", ".join(parts)


def pair(item: str, flag: str = "--meta") -> tuple[str, str]:
    """The two halves of `key=value`. UsageError."""
    key, found, value = item.partition("=")
    if not found or not key.strip():
        raise UsageError(f"{flag} {item!r} cannot be read.", hint=f"Write {flag} key=value.")
    return key.strip(), value.strip()


def _option(item: str) -> tuple[str, Json]:
    key, value = pair(item, "--option")
    return key, {"yes": True, "true": True, "no": False, "false": False}.get(value.lower(), value)
