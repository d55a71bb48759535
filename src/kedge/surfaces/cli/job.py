"""`kedge job list|show`."""

from __future__ import annotations

from typing import Annotated

import typer

from kedge.core.outside import to_json
from kedge.core.values import DEFAULT_TENANT
from kedge.surfaces.cli.cataloged import with_library
from kedge.surfaces.cli.common import CommandRun, command
from kedge.surfaces.cli.tables import plain_table, show_fields

app = typer.Typer(no_args_is_help=True)


@command(app, "list")
def list_(run: CommandRun, limit: Annotated[int, typer.Option(min=1, help="How many.")] = 50) -> None:
    """List ingestion jobs, newest first."""
    found = with_library(run.settings(), lambda library: library.jobs(DEFAULT_TENANT, limit))
    if run.json:
        run.emit([to_json(job) for job in found])
        return
    table = plain_table("id", "collection", "status", "progress", "files", "passages", "failed", "started")
    for one in found:
        started = one.started_at.isoformat(" ", "seconds") if one.started_at else "-"
        files, passages, failed = str(one.files_discovered), str(one.passages_created), str(one.files_failed)
        table.add_row(
            one.id, one.scope.collection, one.status.value, f"{one.progress} %", files, passages, failed, started
        )
    run.out.print(table)


@command(app, "show")
def show(run: CommandRun, job_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the job.")]) -> None:
    """Show a job with every fault it met."""
    job = with_library(run.settings(), lambda library: library.job(DEFAULT_TENANT, job_id))
    show_fields(run, to_json(job))
