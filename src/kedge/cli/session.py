"""`kedge session create|list|show|bad-rows|update|export|delete`: tables and what they hold."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.cli.common import Session, command, scope
from kedge.cli.tables import confirm, plain_table, show_fields
from kedge.engine import Engine
from kedge.errors import UsageError
from kedge.shapes import excerpt, session_json
from kedge.types import DEFAULT_TENANT

app = typer.Typer(no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the session, which is its collection's.")]


@command(app, "create")
def create(
    session: Session,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name; without one it gets an id.")] = None,
    *,
    no_rag: Annotated[bool, typer.Option("--no-rag", help="Embed nothing: figures, and rows by words alone.")] = False,
    expires_after: Annotated[
        float | None, typer.Option(min=0, help="Seconds after the last feed; 0: never. Default: session_ttl.")
    ] = None,
) -> None:
    """Make a session, or change the options of one."""

    async def work(engine: Engine) -> None:
        made = await engine.sessions.make(DEFAULT_TENANT, name, use_rag=not no_rag, expires_after=expires_after)
        show_fields(session, session_json(made))

    session.with_engine(session.settings(), work)


@command(app, "list")
def list_(session: Session) -> None:
    """List all sessions."""
    found = session.with_engine(session.settings(), lambda engine: engine.sessions.all(DEFAULT_TENANT))
    if session.json:
        session.emit([session_json(one) for one in found])
        return
    if not found:
        session.note("No sessions yet. Begin with: kedge ingest FILE.csv --kind table --collection NAME")
        return
    table = plain_table("name", "status", "rows", "bad rows", "columns", "files", "fed at")
    for one in found:
        state = one.state
        fed = state.fed_at.isoformat(sep=" ", timespec="seconds") if state.fed_at else "-"
        files = ", ".join(part.name for part in state.parts) or "-"
        table.add_row(one.id, one.status, f"{state.rows:,}", f"{state.bad_rows:,}", str(len(state.columns)), files, fed)
    session.out.print(table)


@command(app, "show")
def show(session: Session, name: Name) -> None:
    """Show a session: its state, files and columns."""
    settings = session.settings()
    found = session.with_engine(settings, lambda engine: engine.sessions.get(scope(settings, name)))
    fields = session_json(found)
    if session.json:
        session.emit(fields)
        return
    show_fields(session, {key: value for key, value in fields.items() if key != "columns"})
    table = plain_table("column", "type", "distinct", "empty")
    for column in found.state.columns:
        table.add_row(column.name, column.type.value, f"{column.distinct:,}", f"{column.empty:,}")
    session.out.print("")
    session.out.print(table)


@command(app, "bad-rows")
def bad_rows(
    session: Session,
    name: Name,
    limit: Annotated[int, typer.Option(min=1, help="How many.")] = 100,
    offset: Annotated[int, typer.Option(min=0, help="How many to leave out first.")] = 0,
) -> None:
    """List the rows that were put aside, with file, line and reason."""
    settings = session.settings()
    found = session.with_engine(settings, lambda engine: engine.sessions.bad_rows(scope(settings, name), limit, offset))
    if session.json:
        session.emit([dict(row) for row in found])
        return
    table = plain_table("file", "line", "reason", "text")
    for row in found:
        table.add_row(str(row["file"]), str(row["line"]), str(row["reason"]), excerpt(str(row["text"]), 80))
    session.out.print(table)
    if len(found) == limit:
        session.note(f"There may be more: --offset {offset + limit}")


@command(app, "update")
def update(
    session: Session,
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
        done = await engine.sessions.update(scope(settings, name), key, given, delete or [])
        if session.json:
            session.emit({"updated": done.updated, "inserted": done.inserted, "deleted": done.deleted})
        else:
            session.out.print(f"{done.updated} updated, {done.inserted} inserted, {done.deleted} deleted")

    session.with_engine(settings, work)


@command(app, "export")
def export(
    session: Session,
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
            return await engine.sessions.export(scope(settings, name), sys.stdout, bad=bad)
        with output.open("w", encoding="utf-8", newline="") as target:
            return await engine.sessions.export(scope(settings, name), target, bad=bad)

    count = session.with_engine(settings, work)
    if session.json:
        session.emit({"rows": count, "file": str(output)})
    else:
        session.note(f"{count:,} rows written")


@command(app, "delete")
def delete_(
    session: Session, name: Name, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Delete a session with all its rows."""
    settings = session.settings()
    confirm(session, f"Delete session {name!r} with all its rows?", yes)

    async def work(engine: Engine) -> None:
        await engine.sessions.get(scope(settings, name))
        await engine.delete_collection(scope(settings, name))

    session.with_engine(settings, work)
    if session.json:
        session.emit({"deleted": name})
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
