"""`kedge session create|list|show|bad-rows|update|export|delete`: tables and what they hold."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.core.errors import UsageError
from kedge.core.excerpt import excerpt
from kedge.core.outside import to_json
from kedge.core.values import DEFAULT_TENANT, MAX_OFFSET, Deleted
from kedge.kinds.tables.surfaces.opened import sessions_of
from kedge.kinds.tables.values import ExportedRows
from kedge.surfaces.cli.common import CommandRun, command, scope
from kedge.surfaces.cli.tables import confirm, plain_table, show_fields

if TYPE_CHECKING:
    from kedge.engine.engine import Engine

app = typer.Typer(no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the session, which is its collection's.")]


@command(app, "create")
def create(
    session: CommandRun,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name; without one it gets an id.")] = None,
    *,
    no_rag: Annotated[bool, typer.Option("--no-rag", help="Embed nothing: figures, and rows by words alone.")] = False,
    expires_after: Annotated[
        float | None, typer.Option(min=0, help="Seconds after the last feed; 0: never. Default: session_ttl.")
    ] = None,
) -> None:
    """Make a session, or change the options of one."""

    async def work(engine: Engine) -> None:
        made = await sessions_of(engine).make(DEFAULT_TENANT, name, use_rag=not no_rag, expires_after=expires_after)
        show_fields(session, to_json(made))

    session.with_engine(session.settings(), work)


@command(app, "list")
def list_(session: CommandRun) -> None:
    """List all sessions."""
    found = session.with_engine(session.settings(), lambda engine: sessions_of(engine).all(DEFAULT_TENANT))
    if session.json:
        session.emit([to_json(one) for one in found])
        return
    if not found:
        session.note("No sessions yet. Begin with: kedge ingest FILE.csv --kind table --collection NAME")
        return
    table = plain_table("name", "status", "rows", "bad rows", "columns", "files", "fed at")
    for one in found:
        fed = one.fed_at.isoformat(sep=" ", timespec="seconds") if one.fed_at else "-"
        files = ", ".join(file.name for file in one.files) or "-"
        table.add_row(one.id, one.status, f"{one.rows:,}", f"{one.bad_rows:,}", str(len(one.columns)), files, fed)
    session.out.print(table)


@command(app, "show")
def show(session: CommandRun, name: Name) -> None:
    """Show a session: its state, files and columns."""
    settings = session.settings()
    found = session.with_engine(settings, lambda engine: sessions_of(engine).get(scope(settings, name)))
    fields = to_json(found)
    if session.json:
        session.emit(fields)
        return
    show_fields(session, {key: value for key, value in fields.items() if key != "columns"})
    table = plain_table("column", "type", "distinct", "empty")
    for column in found.columns:
        table.add_row(column.name, column.type.value, f"{column.distinct:,}", f"{column.empty:,}")
    session.out.print("")
    session.out.print(table)


@command(app, "bad-rows")
def bad_rows(
    session: CommandRun,
    name: Name,
    limit: Annotated[int, typer.Option(min=1, help="How many.")] = 100,
    offset: Annotated[int, typer.Option(min=0, max=MAX_OFFSET, help="How many to leave out first.")] = 0,
) -> None:
    """List the rows that were put aside, with file, line and reason."""
    settings = session.settings()
    found = session.with_engine(
        settings, lambda engine: sessions_of(engine).bad_rows(scope(settings, name), limit, offset)
    )
    if session.json:
        session.emit([to_json(row) for row in found])
        return
    table = plain_table("file", "line", "reason", "text")
    for row in found:
        table.add_row(row.file, str(row.line), row.reason, excerpt(row.text, 80))
    session.out.print(table)
    if len(found) == limit:
        session.note(f"There may be more: --offset {offset + limit}")


@command(app, "update")
def update(
    session: CommandRun,
    name: Name,
    rows: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="JSONL with the rows to put in.")] = None,
    *,
    key: Annotated[str, typer.Option(help="Column that tells which row is which.")],
    delete: Annotated[list[str] | None, typer.Option(help="Key of a row to delete; may be repeated.")] = None,
) -> None:
    """Change single rows by their key: fields that are given replace the old ones, unknown keys become new rows."""
    settings = session.settings()
    given = _objects(rows) if rows else []
    if not given and not delete:
        raise UsageError("Nothing to change.", hint="Name a JSONL file, or --delete KEY.")

    async def work(engine: Engine) -> None:
        done = await sessions_of(engine).update(scope(settings, name), key, given, delete or [])
        if session.json:
            session.emit(to_json(done))
        else:
            session.out.print(f"{done.updated} updated, {done.inserted} inserted, {done.deleted} deleted")

    session.with_engine(settings, work)


@command(app, "export")
def export(
    session: CommandRun,
    name: Name,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: stdout.")] = None,
    bad: Annotated[bool, typer.Option("--bad", help="The rows that were put aside instead.")] = False,
) -> None:
    """Write the rows as CSV. Cells that a spreadsheet would take for a formula begin with an apostrophe."""
    settings = session.settings()
    if session.json and output is None:
        raise UsageError("With --json the rows go to a file.", hint="Name it with --output.")

    async def work(engine: Engine) -> int:
        if output is None:
            return await sessions_of(engine).export(scope(settings, name), sys.stdout, bad=bad)
        with output.open("w", encoding="utf-8", newline="") as target:
            return await sessions_of(engine).export(scope(settings, name), target, bad=bad)

    count = session.with_engine(settings, work)
    if session.json:
        session.emit(to_json(ExportedRows(count, str(output))))
    else:
        session.note(f"{count:,} rows written")


@command(app, "delete")
def delete_(
    session: CommandRun, name: Name, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Delete a session with all its rows."""
    settings = session.settings()
    confirm(session, f"Delete session {name!r} with all its rows?", yes)

    async def work(engine: Engine) -> None:
        await sessions_of(engine).get(scope(settings, name))
        await engine.delete_collection(scope(settings, name))

    session.with_engine(settings, work)
    if session.json:
        session.emit(to_json(Deleted(name)))
    else:
        session.out.print(f"deleted {name}", markup=False)


def _objects(path: Path) -> list[dict[str, Any]]:
    try:
        found = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as JSONL: {error}.", hint="Write one object per line.") from error
    if not all(isinstance(item, dict) for item in found):
        raise UsageError(f"{path} holds something else than objects.", hint="Write one object per line.")
    return found
