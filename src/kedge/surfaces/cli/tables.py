"""Small pieces of terminal output that several nouns share."""

from __future__ import annotations

import json
from collections.abc import Mapping

import typer
from rich.table import Table
from rich.text import Text

from kedge.core.errors import UsageError
from kedge.core.values import Json
from kedge.surfaces.cli.common import CommandRun


def plain_table(*columns: str) -> Table:
    """A table without lines, good for reading and for pipes."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def show_fields(run: CommandRun, fields: Mapping[str, Json]) -> None:
    """One thing as a list of fields, or as JSON with `--json`."""
    if run.json:
        run.emit(dict(fields))
        return
    width = max(map(len, fields), default=0)
    for name, value in fields.items():
        run.out.print(Text.assemble((f"{name:<{width}}  ", "dim"), _shown(value)))


def confirm(run: CommandRun, question: str, yes: bool) -> None:
    """Ask before something that cannot be undone; where nobody can be asked, `--yes` is needed."""
    if yes:
        return
    if run.json or not run.notes.is_terminal:
        raise UsageError("This cannot be undone, and nobody can be asked.", hint="Say --yes.")
    typer.confirm(question, abort=True, err=True)


def _shown(value: Json) -> str:
    if value is None or value in ([], {}):
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
