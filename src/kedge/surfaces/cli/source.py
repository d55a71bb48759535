"""`kedge source add|list|show|sync|remove`. All but syncing work beside a running server, which sees the change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from kedge.core.outside import to_json
from kedge.core.values import DEFAULT_TENANT, ConnectedSource, Deleted, SourceRun
from kedge.engine.home import Lasts
from kedge.surfaces.cli.cataloged import with_catalog
from kedge.surfaces.cli.common import FAILED, CollectionOption, CommandRun, command, scope
from kedge.surfaces.cli.tables import confirm as ask_first
from kedge.surfaces.cli.tables import plain_table, show_fields

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kedge.core.settings import Settings
    from kedge.engine.connected import SourceBook
    from kedge.surfaces.cli.beside import Answers

T = TypeVar("T")
app = typer.Typer(no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the source.")]


@command(app, "add")
def add(
    run: CommandRun,
    url: Annotated[str, typer.Argument(metavar="URL", help="Folder, archive, or address: s3://, git+https://, …")],
    *,
    collection: CollectionOption = None,
    name: Annotated[str, typer.Option(help="What to call it; made from the address if not given.")] = "",
    every: Annotated[str, typer.Option(help="How often it is looked at while a server or worker runs: 15m, 6h.")] = "0",
    options: Annotated[list[str] | None, typer.Option("--option", help="key=value for what reads it.")] = None,
    secrets: Annotated[
        list[str] | None, typer.Option("--secret", help="key=env:NAME or key=file:/path: what it signs in with.")
    ] = None,
) -> None:
    """Connect a source, so that a collection stays in step with it. Nothing is read before it is synced."""
    from kedge.engine.connected import Wanted, seconds_of
    from kedge.surfaces.cli.ingest import pair

    settings = run.settings()
    wanted = Wanted(
        scope=scope(settings, collection),
        url=url,
        name=name,
        every=seconds_of(every),
        options=dict(pair(item, "--option") for item in options or []),
        secrets=dict(pair(item, "--secret") for item in secrets or []),
    )
    source = _with_book(settings, lambda book: book.add(wanted))
    if run.json:
        run.emit(to_json(source))
        return
    run.out.print(f"added {source.name}: {source.url} → {source.scope.collection}", markup=False)
    when = "a running server or worker takes it in" if source.every else "nothing looks at it by itself"
    run.note(f"{when}; now: kedge source sync {source.name}")


@command(app, "list")
def list_(run: CommandRun) -> None:
    """List sources with what came of their last run."""
    found = _with_book(run.settings(), lambda book: book.all(DEFAULT_TENANT))
    if run.json:
        run.emit([to_json(source) for source in found])
        return
    if not found:
        run.note("No sources yet. Begin with: kedge source add URL --collection NAME")
        return
    table = plain_table("name", "collection", "state", "documents", "last run", "errors", "every", "address")
    for one in found:
        last = one.last_run
        ran = last.ended_at.isoformat(" ", "minutes") if last else "-"
        failed = str(last.failed) if last else "-"
        every = f"{one.every:g} s" if one.every else "-"
        where = one.scope.collection
        table.add_row(one.name, where, one.state.replace("_", " "), str(one.documents), ran, failed, every, one.url)
    run.out.print(table)


@command(app, "show")
def show(run: CommandRun, name: Name) -> None:
    """Show a source with its last run and the errors it met."""
    show_fields(run, to_json(_with_book(run.settings(), lambda book: book.get(DEFAULT_TENANT, name))))


@command(app, "sync")
def sync(
    run: CommandRun,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Name of the source; all if not given.")] = None,
    *,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="What is gone is meant to be gone: take it out, however much it is.")
    ] = False,
) -> None:
    """Take in what changed at a source and take out what is gone; exit 1 when one failed or is held.

    A source that is suddenly empty, or lost more than half, is held: nothing is taken out before --confirm.
    """
    settings = run.settings()
    if name is None and confirm:
        raise typer.BadParameter("say which source is meant", param_hint="NAME")
    names = [name] if name else [one.name for one in _with_book(settings, lambda book: book.all(DEFAULT_TENANT))]

    async def work(engine: Answers) -> list[ConnectedSource]:
        from kedge.surfaces.cli.progress import settle

        found = [await _synced(run, engine, one, confirm=confirm) for one in names]
        await settle(run, engine)
        return found

    found = run.with_answers(settings, work, Lasts.LONG) if names else []
    if run.json and name:
        run.emit(to_json(found[0]))
    elif run.json:
        run.emit([to_json(one) for one in found])
    elif not found:
        run.note("No sources yet. Begin with: kedge source add URL --collection NAME")
    if any(one.state in ("failed", "held") for one in found):
        raise typer.Exit(FAILED)


@command(app, "remove")
def remove(
    run: CommandRun,
    name: Name,
    *,
    documents: Annotated[
        bool, typer.Option("--documents", help="Take out the documents that came from it alone, too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget a source. Its documents stay, unless --documents is given."""
    settings = run.settings()
    if documents:
        ask_first(run, f"Remove the source {name!r} with the documents that came from it?", yes)

    async def work(engine: Answers) -> None:
        await engine.remove_source(DEFAULT_TENANT, name, documents=documents)

    run.with_answers(settings, work)
    if run.json:
        run.emit(to_json(Deleted(name)))
    else:
        run.out.print(f"removed {name}{' with its documents' if documents else '; its documents stay'}", markup=False)


async def _synced(run: CommandRun, engine: Answers, name: str, *, confirm: bool) -> ConnectedSource:
    """Run one, say what came of it, and return how the source stands now."""
    from kedge.core.errors import KedgeError
    from kedge.surfaces.cli.progress import ingest_progress

    failed: KedgeError | None = None
    try:
        with ingest_progress(run) as on_progress:
            await engine.sync_source(DEFAULT_TENANT, name, on_progress, confirm=confirm)
    except KedgeError as error:
        failed = error
    source = await engine.source(DEFAULT_TENANT, name)
    if source.last_run is None and failed is not None:
        raise failed
    if not run.json and source.last_run is not None:
        _tell(run, source, source.last_run)
    return source


def _tell(run: CommandRun, source: ConnectedSource, last: SourceRun) -> None:
    counts = f"{last.new} new, {last.modified} changed, {last.unchanged} unchanged, {last.deleted} gone"
    wrong = f", {last.failed} could not be read" if last.failed else ""
    run.out.print(f"{source.name}: {counts}{wrong}; {last.embedded} passages embedded", markup=False)
    if last.outcome == "failed":
        run.note(f"failed: {last.message}")
    elif last.message:
        run.note(last.message)
    for error in last.errors:
        run.note(f"not taken in: {error.url}: {error.message} {error.hint}".rstrip())


def _with_book(settings: Settings, work: Callable[[SourceBook], Awaitable[T]]) -> T:
    from kedge.engine.connected import SourceBook

    return with_catalog(settings, lambda catalog: work(SourceBook(settings, catalog)))
