"""Tables inside documents: all rows of each, also where the table was cut into several passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kedge.answer.cite.beside import shown_beside
from kedge.answer.evidence import cut
from kedge.core.values import TABLE_HEAD, Passage, Query
from kedge.stores.catalog.ports import ReadPassages
from kedge.text.statements.statement import Statement

REACH = 100
"""ReadPassages before and behind one with a part of a table that are looked at for the rest of it; a table that goes on
beyond them is left alone: nothing is computed from half of it."""
FEWEST, MOST = 2, 1000
"""Rows of a table that anything is computed from."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A row and the passage that it stands in."""

    passage: Passage
    statement: Statement


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """All rows of a table of a document, in order."""

    rows: tuple[DocumentRow, ...]

    @property
    def passage(self) -> Passage:
        """The passage that it begins in."""
        return self.rows[0].passage

    @property
    def lead(self) -> str:
        """What it is called, with its unit."""
        return self.rows[0].statement.lead.strip()


async def tables_of(known: ReadPassages, query: Query, passages: Sequence[Passage]) -> list[DocumentTable]:
    """The tables that some of the passages have a part of, in their order, each once and whole, as far as the query's
    filter shows it."""
    found: dict[tuple[str, int], DocumentTable] = {}
    for passage in passages:
        parts = _parts(passage)
        for start in parts:
            if any(_holds(table, passage, start) for table in found.values()):
                continue
            whole = await _whole(known, query, passage, start, parts)
            if not whole:
                continue
            first = whole[0]
            key = (first.passage.id, first.statement.table)
            if key not in found and FEWEST <= len(whole) <= MOST:
                found[key] = DocumentTable(tuple(whole))
    return list(found.values())


def _parts(passage: Passage) -> dict[int, list[Statement]]:
    """The rows of a passage by the beginning of their table."""
    parts: dict[int, list[Statement]] = {}
    for one in cut(passage) if passage.has_table else ():
        if one.kind == "row":
            parts.setdefault(one.table, []).append(one)
    return parts


async def _whole(
    known: ReadPassages, query: Query, passage: Passage, start: int, parts: dict[int, list[Statement]]
) -> list[DocumentRow]:
    """A table with what of it stands in the passages before and behind; empty where one end of it is not there."""
    own = [DocumentRow(passage, one) for one in parts[start]]
    begun = start == min(parts) and TABLE_HEAD in passage.metadata
    goes_on = start == max(parts) and not passage.text[parts[start][-1].end :].strip("| \t\n")
    if not begun and not goes_on:
        return own
    first, last = passage.index - (REACH if begun else 0), passage.index + (REACH if goes_on else 0)
    near = await known.of_document(query.scope.tenant, passage.document_id, first=max(0, first), last=last)
    near = [one for one in near if shown_beside(query, passage, one)]
    before = _before([one for one in reversed(near) if one.index < passage.index]) if begun else []
    behind = _behind([one for one in near if one.index > passage.index]) if goes_on else []
    return [*before, *own, *behind] if before is not None and behind is not None else []


def _holds(table: DocumentTable, passage: Passage, start: int) -> bool:
    return any(row.passage.id == passage.id and row.statement.table == start for row in table.rows)


def _before(passages: Sequence[Passage]) -> list[DocumentRow] | None:
    """The rows of the last table of the passages, nearest first, up to its head; None where that is not among them."""
    rows: list[DocumentRow] = []
    at: int | None = None
    for one in passages:
        parts = _parts(one)
        if not parts or (at is not None and one.index != at - 1):
            return rows or None
        at = one.index
        rows = [*(DocumentRow(one, row) for row in parts[max(parts)]), *rows]
        if len(parts) > 1 or TABLE_HEAD not in one.metadata:
            return rows
    return None


def _behind(passages: Sequence[Passage]) -> list[DocumentRow] | None:
    """The rows of the first table of the passages, as long as they begin inside it; None where it goes on beyond."""
    rows: list[DocumentRow] = []
    for one in passages:
        parts = _parts(one)
        if not parts or TABLE_HEAD not in one.metadata:
            return rows
        rows += [DocumentRow(one, row) for row in parts[min(parts)]]
        if len(parts) > 1 or one.text[parts[min(parts)][-1].end :].strip("| \t\n"):
            return rows
    return rows if len(passages) < REACH else None
