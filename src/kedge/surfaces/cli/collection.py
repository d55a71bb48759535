"""`kedge collection list|show|reindex|delete`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from kedge.core.errors import UsageError
from kedge.core.outside import to_json
from kedge.core.values import DEFAULT_TENANT, Collection, CollectionShown, Deleted, OtherIndex
from kedge.engine.home import Lasts
from kedge.surfaces.cli.cataloged import with_library
from kedge.surfaces.cli.common import CommandRun, command, scope
from kedge.surfaces.cli.progress import phase_progress, settle
from kedge.surfaces.cli.tables import confirm, plain_table, show_fields

if TYPE_CHECKING:
    from kedge.engine.engine import Engine

app = typer.Typer(no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the collection.")]


@command(app, "list")
def list_(run: CommandRun) -> None:
    """List all collections."""
    found = with_library(run.settings(), lambda library: library.collections(DEFAULT_TENANT))
    if run.json:
        run.emit([to_json(collection) for collection in found])
        return
    if not found:
        run.note("No collections yet. Begin with: kedge ingest PATH")
        return
    run.out.print(_table(found))


@command(app, "show")
def show(run: CommandRun, name: Name) -> None:
    """Show one collection, with the indexes it has beside the one in use."""
    settings = run.settings()

    async def work(engine: Engine) -> CollectionShown:
        return await _shown(engine, await engine.collection(scope(settings, name)))

    show_fields(run, to_json(run.with_engine(settings, work)))


@command(app, "reindex")
def reindex(
    run: CommandRun,
    name: Name,
    *,
    embedder: Annotated[
        str | None, typer.Option(help="Embedder of the new index; unset: as of new collections.")
    ] = None,
    rollback: Annotated[bool, typer.Option("--rollback", help="Return to the index that was in use before.")] = False,
    drop_old: Annotated[bool, typer.Option("--drop-old", help="Do not keep the old index for a rollback.")] = False,
    discard: Annotated[
        bool, typer.Option("--discard", help="Only drop the kept index and half-built ones; re-index nothing.")
    ] = False,
) -> None:
    """Build the index anew beside the old one, with another embedder if wanted, and switch to it.

    Broken off, the same command goes on where it stopped.
    """
    if rollback + discard + (embedder is not None or drop_old) > 1:
        raise UsageError("--rollback and --discard go with no other option.", hint="Give one of them alone.")
    settings = run.settings()
    place = scope(settings, name)

    async def work(engine: Engine) -> None:
        with phase_progress(run) as on_progress:
            on_count = partial(on_progress, "embedding")
            if discard:
                await engine.discard_indexes(place)
            elif rollback:
                await engine.rollback(place, on_count)
            else:
                await engine.reindex(place, embedder, on_count, keep_old=not drop_old)
        show_fields(run, to_json(await _shown(engine, await engine.collection(place))))
        await settle(run, engine)

    run.with_engine(settings, work, Lasts.LONG)


@command(app, "delete")
def delete(
    run: CommandRun, name: Name, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
) -> None:
    """Delete a collection with everything in it."""
    settings = run.settings()
    confirm(run, f"Delete collection {name!r} with everything in it?", yes)
    run.with_engine(settings, lambda engine: engine.delete_collection(scope(settings, name)))
    if run.json:
        run.emit(to_json(Deleted(name)))
    else:
        run.out.print(f"deleted {name}", markup=False)


async def _shown(engine: Engine, collection: Collection) -> CollectionShown:
    """The collection, and for each of its other indexes what becomes of it and how many passages it holds."""
    others = []
    for one in await engine.spare_indexes(collection.scope):
        held = await engine.stores.vectors.count(one.index_name, collection.scope.tenant)
        others.append(OtherIndex(one.embedder, one.dimension, one.state.value, held))
    return CollectionShown(collection, tuple(others))


def _table(collections: list[Collection]) -> Table:
    table = plain_table("name", "kind", "embedder", "documents", "passages")
    for one in collections:
        table.add_row(one.scope.collection, one.kind, one.embedder, str(one.documents), str(one.passages))
    return table
