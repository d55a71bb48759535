"""`kedge faq`."""

from __future__ import annotations

import typer

from kedge.core.outside import to_json
from kedge.surfaces.cli.common import CollectionOption, CommandRun, command, scope
from kind_faq.entry import EntryList
from kind_faq.kind import KIND

app = typer.Typer(no_args_is_help=True)


@app.callback()
def group() -> None:
    """Questions with their answers."""


@command(app, "list")
def list_entries(run: CommandRun, collection: CollectionOption = None) -> None:
    """Show the questions of a collection with their answers."""
    settings = run.settings()
    found = run.with_engine(settings, lambda engine: engine.kinds.opened(KIND).entries(scope(settings, collection)))
    if run.json:
        run.emit(to_json(EntryList(tuple(found))))
        return
    for entry in found:
        run.out.print(f"{entry.question}\n    {entry.answer}", markup=False)
