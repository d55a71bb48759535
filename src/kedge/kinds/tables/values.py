"""What is said of table sessions: how far one is, what it holds, what was odd, what an update did."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from kedge.core.outside import outside
from kedge.core.values import Metadata
from kedge.kinds.tables.schema import Column

Status: TypeAlias = Literal["empty", "building", "ready", "failed", "expired"]


@outside({"bad_rows": "bad"}, hidden=("size", "hash", "relation", "columns", "notes", "offset", "place"))
@dataclass(frozen=True, slots=True)
class TablePart:
    """A file that was fed, as it lies in the database."""

    url: str
    name: str
    format: str
    size: int
    hash: str
    relation: str
    """`part_0`, … ; row numbers in it are those of the file."""
    columns: tuple[tuple[str, str], ...]
    """(name, type) in the order of c0, c1, …"""
    rows: int
    bad: int
    notes: tuple[str, ...] = ()
    role: str = "rows"
    """`rows`, or `lookup` when its columns are joined to the rows."""
    offset: int = 0
    """Row numbers of the table less those of the file."""
    place: int = 0
    """Number of the file in `bad_rows`."""


@outside({"session_id": "id"})
@dataclass(frozen=True, slots=True)
class TableSession:
    """A table session now."""

    id: str
    """The name of its collection."""
    status: Status
    """While it is building, readers see the table of the last feed."""
    table: str
    """What people call it: the file's name without its suffix."""
    rows: int
    bad_rows: int
    """Rows that were put aside."""
    columns: tuple[Column, ...]
    files: tuple[TablePart, ...]
    use_rag: bool
    """Texts are embedded, so that rows are found by meaning."""
    persist: bool
    """It is kept when the server ends."""
    index: Metadata | None
    """The index by itself: `status` (building, ready or failed), `transaction_count` (rows in it),
    `embedding_dimensions`, `indexed_at`, `error`, and how it was built; null: nothing was fed yet."""
    error: str | None
    """Why the last feed failed, or why there is no index."""
    notes: tuple[str, ...]
    """What was odd."""
    job_id: str | None
    """The feed that has not ended yet."""
    progress: int | None
    """Of that feed, 0–100."""
    created_at: datetime | None
    fed_at: datetime | None
    expires_at: datetime | None


@outside()
@dataclass(frozen=True, slots=True)
class TableSessionList:
    """All sessions."""

    sessions: tuple[TableSession, ...]


@outside()
@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A record that could not be used."""

    file: str
    line: int
    reason: str
    text: str


@outside()
@dataclass(frozen=True, slots=True)
class RefusedRowPage:
    """One page of the rows put aside."""

    bad_rows: tuple[RefusedRow, ...]
    limit: int
    offset: int


@outside()
@dataclass(frozen=True, slots=True)
class RowsChanged:
    """What an update of rows did."""

    updated: int
    inserted: int
    deleted: int


@outside()
@dataclass(frozen=True, slots=True)
class ExportedRows:
    """Rows that were written to a file."""

    rows: int
    file: str
