"""Tables: rows in sessions, asked for figures and for themselves (requirements T)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kedge.kinds.ports import CommandGroup, Kind, OnPage, Parts, RouteGroup, Surfaces, Units

if TYPE_CHECKING:
    from kedge.core.settings import Settings
    from kedge.core.values import Collection
    from kedge.kinds.tables.tables import Tables

NAME = "table"


class TableKind(Kind["Tables"]):
    """Rows. They lie in DuckDB, not in the stores of passages."""

    name = NAME
    index_prefix = "table_rows"
    embedder = "minilm:int8"  # taught to tell likeness, which cells of a few words need: docs/decisions/026
    concepts = False
    each_has_readers = False
    units = Units("files fed", "rows")
    files = "kedge.kinds.tables.files:FILES"
    surfaces = Surfaces(
        routes=(
            RouteGroup(
                "sessions",
                "Tables: feed files, ask for figures and rows.",
                ("kedge.kinds.tables.surfaces.routes:router",),
            ),
        ),
        commands=(
            CommandGroup(
                "session",
                "Make, list, show, change and delete table sessions.",
                "kedge.kinds.tables.surfaces.commands:app",
            ),
        ),
        client="kedge.kinds.tables.surfaces.client",
        blocking="kedge.kinds.tables.surfaces.blocking:TablesFacade",
        blocking_name="tables",
        page=OnPage(
            label="Table",
            help="CSV, Excel, JSONL or Parquet. Answers count, sum and compare its rows.",
            suffixes=(".csv", ".tsv", ".jsonl", ".parquet", ".xlsx", ".xlsm", ".xlsb", ".ods"),
            files="One table, in one or several files",
            source=("file", "files"),
            part=("row", "rows"),
            counts_parts=True,
            replaces=True,
            opens=False,
        ),
    )

    def starts(self, settings: Settings) -> bool:
        """To clear sessions that were not to last, or whose time is over."""
        from kedge.kinds.tables.state import Folders

        return any(state.over or not state.persist for state in Folders(settings.home).all())

    def counted(self, collection: Collection, settings: Settings) -> Collection:
        """With its files and rows in the place of documents and passages."""
        from kedge.kinds.tables.state import Folders

        state = Folders(settings.home).read(collection.scope)
        return collection if state is None else replace(collection, documents=len(state.parts), passages=state.rows)

    def open(self, parts: Parts) -> Tables:
        from kedge.kinds.tables.tables import Tables

        return Tables(self, parts)


KIND = TableKind()
