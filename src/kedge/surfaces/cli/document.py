"""`kedge document list|show|delete`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from kedge.core.excerpt import excerpt
from kedge.core.outside import to_json
from kedge.core.values import MAX_OFFSET, Document, DocumentStatus, DocumentWithPassages, Passage
from kedge.surfaces.cli.cataloged import with_library
from kedge.surfaces.cli.common import CollectionOption, CommandRun, command, scope
from kedge.surfaces.cli.tables import confirm, plain_table, show_fields

if TYPE_CHECKING:
    from kedge.engine.library import Library

app = typer.Typer(no_args_is_help=True)
Named = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Its id, path, address, file name or title.")]


@command(app, "list")
def list_(
    run: CommandRun,
    collection: CollectionOption = None,
    status: Annotated[DocumentStatus | None, typer.Option(help="Only documents in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many.")] = 100,
    offset: Annotated[int, typer.Option(min=0, max=MAX_OFFSET, help="How many to leave out first.")] = 0,
) -> None:
    """List the documents of a collection."""
    settings = run.settings()
    where = scope(settings, collection)
    found = with_library(settings, lambda library: library.documents(where, status=status, limit=limit, offset=offset))
    if run.json:
        run.emit([to_json(document) for document in found])
        return
    table = plain_table("id", "status", "passages", "identity", "url")
    for one in found:
        table.add_row(one.id, one.status.value, str(one.chunk_count), one.identity, one.url)
    run.out.print(table)
    if len(found) == limit:
        run.note(f"There may be more: --offset {offset + limit}")


@command(app, "show")
def show(run: CommandRun, document: Named, collection: CollectionOption = None) -> None:
    """Show a document and its passages."""
    settings = run.settings()
    where = scope(settings, collection)

    async def work(library: Library) -> tuple[Document, list[Passage]]:
        return await library.document(where.tenant, await library.document_id(where, document))

    found, passages = with_library(settings, work)
    if run.json:
        run.emit(to_json(DocumentWithPassages(found, tuple(passages))))
        return
    show_fields(run, to_json(found))
    for passage in passages:
        _show_passage(run, passage)


@command(app, "delete")
def delete(
    run: CommandRun,
    document: Named,
    collection: CollectionOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a document: nothing of it is found any more; the catalog keeps it as archived."""
    settings = run.settings()
    where = scope(settings, collection)
    document_id = with_library(settings, lambda library: library.document_id(where, document))
    confirm(run, f"Delete document {document}?", yes)
    gone = run.with_answers(settings, lambda engine: engine.delete_document(where.tenant, document_id))
    if run.json:
        run.emit(to_json(gone))
    else:
        run.out.print(f"deleted {gone.identity} ({gone.url})", markup=False)


def _show_passage(run: CommandRun, passage: Passage) -> None:
    where = " › ".join(passage.section_path) or passage.title
    run.out.print(Text.assemble(f"\n#{passage.index} ", (where, "bold"), f"  {passage.id}"))
    run.out.print(Padding.indent(Text(excerpt(passage.text)), 4))
