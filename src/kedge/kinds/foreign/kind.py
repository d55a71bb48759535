"""Foreign tables: rows of text and vector that another program fills, read where they are and never written (Q-09)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kedge.kinds.ports import Kind, OnPage, Parts, Surfaces, Units

if TYPE_CHECKING:
    from kedge.core.settings import Settings
    from kedge.kinds.foreign.tables import Foreign


class ForeignKind(Kind["Foreign"]):
    """A collection is one table. It is told where the table is, and holds nothing of it."""

    name = "foreign"
    index_prefix = "foreign"
    embedder = "minilm:int8"  # most tables of vectors hold those of this model
    concepts = False
    each_has_readers = False
    units = Units("tables found", "rows copied")
    surfaces = Surfaces(page=OnPage(source=("table", "tables"), part=("row", "rows"), opens=False))

    def starts(self, settings: Settings) -> bool:  # noqa: ARG002
        return False

    def open(self, parts: Parts) -> Foreign:
        from kedge.kinds.foreign.tables import Foreign

        return Foreign(self, parts)


KIND = ForeignKind()
