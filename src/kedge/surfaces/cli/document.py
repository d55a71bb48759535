"""`kedge document list|show|delete`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from kedge.core.excerpt import excerpt
from kedge.core.outside import to_json
from kedge.core.values import DEFAULT_TENANT, DocumentStatus, DocumentWithPassages, Passage
from kedge.surfaces.cli.common import CollectionOption, CommandRun, command, scope
from kedge.surfaces.cli.tables import confirm, plain_table, show_fields

app = typer.Typer(no_args_is_help=True)
DocumentId = Annotated[str, typer.Argument(metavar="ID", help="Id of the document.")]


@command(app, "list")
def list_(
    run: CommandRun,
    collection: CollectionOption = None,
    status: Annotated[DocumentStatus | None, typer.Option(help="Only documents in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many.")] = 100,
    offset: Annotated[int, typer.Option(min=0, help="How many to leave out first.")] = 0,
) -> None:
    """List the documents of a collection."""
    settings = run.settings()
    where = scope(settings, collection)
    found = run.with_engine(settings, lambda engine: engine.documents(where, status=status, limit=limit, offset=offset))
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
def show(run: CommandRun, document_id: DocumentId) -> None:
    """Show a document and its passages."""
    document, passages = run.with_engine(run.settings(), lambda engine: engine.document(DEFAULT_TENANT, document_id))
    if run.json:
        run.emit(to_json(DocumentWithPassages(document, tuple(passages))))
        return
    show_fields(run, to_json(document))
    for passage in passages:
        _show_passage(run, passage)


@command(app, "delete")
def delete(
    run: CommandRun,
    document_id: DocumentId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a document: nothing of it is found any more; the catalog keeps it as archived."""
    confirm(run, f"Delete document {document_id}?", yes)
    gone = run.with_engine(run.settings(), lambda engine: engine.delete_document(DEFAULT_TENANT, document_id))
    if run.json:
        run.emit(to_json(gone))
    else:
        run.out.print(f"deleted {gone.identity} ({gone.url})", markup=False)


def _show_passage(run: CommandRun, passage: Passage) -> None:
    where = " › ".join(passage.section_path) or passage.title
    run.out.print(Text.assemble(f"\n#{passage.index} ", (where, "bold"), f"  {passage.id}"))
    run.out.print(Padding.indent(Text(excerpt(passage.text)), 4))
