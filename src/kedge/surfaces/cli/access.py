"""`kedge access check|set|collection|hold|release|log|report|erase`: these open the catalog alone, so they also work
beside a running server, for which a change holds from the next request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from kedge.core.outside import to_json
from kedge.core.values import CollectionReaders, Readers, Released, parse_readers
from kedge.surfaces.cli.cataloged import with_catalog
from kedge.surfaces.cli.common import CollectionOption, CommandRun, command, scope
from kedge.surfaces.cli.tables import confirm, plain_table, show_fields

if TYPE_CHECKING:
    from kedge.core.values import Scope
    from kedge.engine.access.keeper import AccessKeeper
    from kedge.engine.library import Library
    from kedge.stores.catalog.ports import Catalog

app = typer.Typer(no_args_is_help=True)
T = TypeVar("T")
Named = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Its id, path, address, file name or title.")]
ReadersOption = Annotated[
    str | None, typer.Option(help="user:NAME, group:NAME or public, comma-separated; not given: what sources say.")
]


@command(app, "check")
def check(
    run: CommandRun,
    user: Annotated[str, typer.Argument(help="ann, or user:ann,group:board; groups also come from keys of the user.")],
    document: Named,
    collection: CollectionOption = None,
) -> None:
    """Explain why somebody may read a document, or may not."""

    async def work(keeper: AccessKeeper, library: Library, where: Scope) -> None:
        who = await keeper.somebody(where.tenant, user)
        found = await keeper.check(where.tenant, who, await library.document_id(where, document))
        if run.json:
            run.emit(to_json(found))
            return
        run.out.print(found.why, markup=False)
        run.note(f"{found.title}; asked for {', '.join(found.principals)}")
        if found.hold is not None:
            run.note(f"It is on legal hold: {found.hold}.")

    _kept(run, collection, work)


@command(app, "set")
def set_(run: CommandRun, document: Named, readers: ReadersOption = None, collection: CollectionOption = None) -> None:
    """Say who may read a document, whatever its sources say. It holds from the next request on."""
    said = None if readers is None else parse_readers(readers)

    async def work(keeper: AccessKeeper, library: Library, where: Scope) -> None:
        found = await keeper.give(where.tenant, await library.document_id(where, document), said)
        if run.json:
            run.emit(to_json(found))
        else:
            run.out.print(f"{found.identity}: {_shown(found.readers)}", markup=False)

    _kept(run, collection, work)


@command(app, "collection")
def collection_(
    run: CommandRun,
    name: Annotated[str, typer.Argument(help="Collection or session.")],
    readers: ReadersOption = None,
    label: Annotated[str, typer.Option(help="Only the nodes of this type of a graph.")] = "",
    show: Annotated[bool, typer.Option("--show", help="Only show what is said.")] = False,
) -> None:
    """Say who may read a collection, a table session, or the nodes of a type in a graph; without readers everybody."""
    said = None if readers is None else parse_readers(readers)

    async def work(keeper: AccessKeeper, _library: Library, where: Scope) -> None:
        rules = await (keeper.rules(where) if show else keeper.give_collection(where, said, label))
        found = CollectionReaders.of(name, rules)
        if run.json:
            run.emit(to_json(found))
            return
        run.out.print(f"{name}: {_shown(found.readers)}", markup=False)
        for rule in found.labels:
            run.out.print(f"{name}, nodes of type {rule.label}: {_shown(rule.readers)}", markup=False)

    _kept(run, name, work)


@command(app, "hold")
def hold(
    run: CommandRun,
    document: Named,
    reason: Annotated[str, typer.Option(help="Why, for whoever meets the hold.")],
    collection: CollectionOption = None,
) -> None:
    """Keep a document from being deleted or replaced until it is released."""

    async def work(keeper: AccessKeeper, library: Library, where: Scope) -> None:
        held = await keeper.hold(where.tenant, await library.document_id(where, document), reason)
        if run.json:
            run.emit(to_json(held))
        else:
            run.out.print(f"held {held.document_id}: {held.reason}", markup=False)

    _kept(run, collection, work)


@command(app, "release")
def release(run: CommandRun, document: Named, collection: CollectionOption = None) -> None:
    """End the hold of a document."""

    async def work(keeper: AccessKeeper, library: Library, where: Scope) -> None:
        document_id = await library.document_id(where, document)
        await keeper.release(where.tenant, document_id)
        if run.json:
            run.emit(to_json(Released(document_id)))
        else:
            run.out.print(f"released {document_id}", markup=False)

    _kept(run, collection, work)


@command(app, "log")
def log(
    run: CommandRun,
    who: Annotated[str | None, typer.Option(help="user:NAME, a key's id, or owner.")] = None,
    document: Annotated[str | None, typer.Option(help="Only entries that name this document.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many.")] = 50,
    collection: CollectionOption = None,
) -> None:
    """Show who asked, when, and how many documents were cited or found; newest first."""

    async def work(keeper: AccessKeeper, library: Library, where: Scope) -> None:
        named = None if document is None else await library.document_id(where, document)
        found = await keeper.log(where.tenant, who=who, document_id=named, limit=limit)
        if run.json:
            run.emit([to_json(entry) for entry in found])
            return
        table = plain_table("at", "who", "action", "collection", "documents", "words")
        for one in found:
            words = one.words or f"#{one.words_hash[:12]}"
            at = one.at.isoformat(" ", "seconds")
            table.add_row(at, one.who, one.action, one.collection, str(len(one.documents)), words)
        run.out.print(table)

    _kept(run, collection, work)


@command(app, "report")
def report(
    run: CommandRun,
    document: Annotated[str | None, typer.Option(help="Also what is kept of the use of this document.")] = None,
    collection: CollectionOption = None,
) -> None:
    """Show what is kept and for how long, what is held, and what is not for everybody."""

    async def work(keeper: AccessKeeper, library: Library, where: Scope) -> None:
        named = None if document is None else await library.document_id(where, document)
        found = await keeper.report(where.tenant, named)
        if run.json:
            run.emit(to_json(found))
        else:
            show_fields(run, to_json(found))

    _kept(run, collection, work)


@command(app, "erase")
def erase(
    run: CommandRun,
    document: Named,
    collection: CollectionOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget what audit log, analytics and conversations hold of a document; the document itself stays."""
    confirm(run, f"Forget who used document {document}, and what was said of it?", yes)

    async def work(keeper: AccessKeeper, library: Library, where: Scope) -> None:
        gone = await keeper.erase(where.tenant, await library.document_id(where, document))
        if run.json:
            run.emit(to_json(gone))
        else:
            show_fields(run, to_json(gone))

    _kept(run, collection, work)


def _kept(run: CommandRun, collection: str | None, work: Callable[[AccessKeeper, Library, Scope], Awaitable[T]]) -> T:
    from kedge.engine.access.keeper import AccessKeeper
    from kedge.engine.library import Library

    settings = run.settings()
    where = scope(settings, collection)

    async def opened(catalog: Catalog) -> T:
        library = Library(settings, catalog)
        return await work(AccessKeeper(settings, catalog, library), library, where)

    return with_catalog(settings, opened)


def _shown(readers: Readers | None) -> str:
    return "everybody" if readers is None else ", ".join(readers) or "nobody but the owner"
