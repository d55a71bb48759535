"""`kedge collection list|show|reindex|delete`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer
from rich.table import Table

from kedge.cli.common import Session, command, scope
from kedge.cli.progress import phase_progress, settle
from kedge.cli.tables import confirm, plain_table, show_fields
from kedge.engine import Engine
from kedge.shapes import collection_json
from kedge.types import DEFAULT_TENANT, Collection

app = typer.Typer(no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the collection.")]


@command(app, "list")
def list_(session: Session) -> None:
    """List all collections."""
    found = session.with_engine(session.settings(), lambda engine: engine.collections(DEFAULT_TENANT))
    if session.json:
        session.emit([collection_json(collection) for collection in found])
        return
    if not found:
        session.note("No collections yet. Begin with: kedge ingest PATH")
        return
    session.out.print(_table(found))


@command(app, "show")
def show(session: Session, name: Name) -> None:
    """Show one collection."""
    settings = session.settings()
    found = session.with_engine(settings, lambda engine: engine.collection(scope(settings, name)))
    show_fields(session, collection_json(found))


@command(app, "reindex")
def reindex(
    session: Session,
    name: Name,
    embedder: Annotated[str | None, typer.Option(help="Embedder of the new index; default: the setting's.")] = None,
) -> None:
    """Build the index anew beside the old one, with another embedder if wanted, and switch to it."""
    settings = session.settings()

    async def work(engine: Engine) -> None:
        with phase_progress(session) as on_progress:
            wanted = embedder or settings.embedder
            done = await engine.reindex(scope(settings, name), wanted, partial(on_progress, "embedding"))
        show_fields(session, collection_json(done))
        await settle(session, engine)

    session.with_engine(settings, work)


@command(app, "delete")
def delete(
    session: Session, name: Name, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Delete a collection with everything in it."""
    settings = session.settings()
    confirm(session, f"Delete collection {name!r} with everything in it?", yes)
    session.with_engine(settings, lambda engine: engine.delete_collection(scope(settings, name)))
    if session.json:
        session.emit({"deleted": name})
    else:
        session.out.print(f"deleted {name}", markup=False)


def _table(collections: list[Collection]) -> Table:
    table = plain_table("name", "kind", "embedder", "documents", "passages")
    for one in collections:
        table.add_row(one.scope.collection, one.kind, one.embedder, str(one.documents), str(one.passages))
    return table
