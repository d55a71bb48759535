"""What is kept about a session beside its rows: one small file per session, replaced in one step.

The file names the generation that readers see. A generation is a folder that never changes once it is named, so a kill
at any moment leaves the session as it was, and readers go on with the generation they have begun with.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kedge.core.errors import NotFoundError, StoreError
from kedge.core.ids import new_id, sha256
from kedge.core.outside import outside
from kedge.core.values import Scope
from kedge.kinds.tables.schema import Column, ColumnType, Table
from kedge.kinds.tables.values import Status, TablePart

FILE = "session.json"
DATABASE = "table.duckdb"
INDEX = "index"
RELATION = "rows"
"""Name of the relation that holds a session's rows."""
FOLDER = "tables"
"""Where they are in a home."""
MOST_SECONDS = 1e10
"""Longest life of a session, about three hundred years: dates take no more."""


@outside({"embedder": "model", "embedded_whole": "whole", "embedded_words": "words"}, hidden=("embedder", "dimension"))
@dataclass(frozen=True, slots=True)
class RowIndexState:
    """How the index of a generation was built."""

    embedder: str
    """Empty: it knows words only."""
    texts: int
    whole: int
    """Texts with a vector of their own; the others are composed of their words'."""
    words: int
    bytes: int
    dimension: int = 0
    """Of its vectors; 0: it knows words only, or was built before this was kept."""

    @property
    def model(self) -> str | None:
        """The embedder; None where it knows words only."""
        return self.embedder or None


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session as it was last published."""

    scope: Scope
    status: Status = "empty"
    use_rag: bool = True
    persist: bool = True
    expires_after: float = 0.0
    """Seconds after the last feed; 0: never."""
    created_at: datetime | None = None
    fed_at: datetime | None = None
    generation: int = 0
    """0: no rows yet."""
    name: str = ""
    parts: tuple[TablePart, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: int = 0
    bad_rows: int = 0
    index: RowIndexState | None = None
    error: str = ""
    """Why the last feed failed, or why there is no index."""
    notes: tuple[str, ...] = ()

    @property
    def expires_at(self) -> datetime | None:
        begun = self.fed_at or self.created_at
        if not self.expires_after or not begun:
            return None
        return begun + timedelta(seconds=min(self.expires_after, MOST_SECONDS))

    @property
    def expired(self) -> bool:
        ends = self.expires_at
        return self.status == "expired" or (ends is not None and datetime.now(UTC) >= ends)

    @property
    def over(self) -> bool:
        """Whether its time is over and its rows are there still."""
        return self.expired and self.status != "expired"

    @property
    def next_generation(self) -> int:
        """A number that no generation of a session of this name has had, not even of one that was deleted."""
        return max(self.generation + 1, time.time_ns() // 1_000_000)

    @property
    def table(self) -> Table:
        """The table without the bounds of its columns."""
        return Table(self.name, RELATION, self.columns, self.rows)


class Folders:
    """The folders of all sessions of one home."""

    def __init__(self, home: Path) -> None:
        self._root = home / FOLDER

    def of(self, scope: Scope) -> Path:
        return self._root / sha256(f"{scope.tenant}\x1f{scope.collection}")[:24]

    def generation(self, scope: Scope, number: int) -> Path:
        return self.of(scope) / f"g{number}"

    def read(self, scope: Scope) -> SessionState | None:
        """The state of a session, None when there is none."""
        path = self.of(scope) / FILE
        try:
            return _from_json(json.loads(path.read_text("utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"What is kept about session {scope.collection!r} cannot be read.",
                hint=f"Delete the session and feed it again: kedge session delete {scope.collection}",
            ) from error

    def get(self, scope: Scope) -> SessionState:
        """Like `read`; NotFoundError when there is none."""
        state = self.read(scope)
        if state is None:
            raise no_session(scope)
        return state

    def write(self, state: SessionState) -> None:
        """Publish the state in one step that survives a power cut."""
        folder = self.of(state.scope)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            fresh = folder / f"{FILE}.{new_id()}"
            with fresh.open("w", encoding="utf-8") as file:
                json.dump(_to_json(state), file, ensure_ascii=False, indent=1)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(folder / FILE)
        except OSError as error:
            raise StoreError(f"The session cannot be kept: {error.strerror}.", hint="Free some space.") from error

    def all(self) -> Iterator[SessionState]:
        """Every session of every tenant."""
        for path in sorted(self._root.glob(f"*/{FILE}")):
            yield _from_json(json.loads(path.read_text("utf-8")))

    def drop(self, scope: Scope) -> None:
        """Remove everything of a session."""
        shutil.rmtree(self.of(scope), ignore_errors=True)

    def drop_generations(self, scope: Scope, keep: int) -> None:
        """Remove what an interrupted feed left, and generations that nobody reads any more."""
        for folder in self.of(scope).glob("g*"):
            if folder.name != f"g{keep}":
                shutil.rmtree(folder, ignore_errors=True)
        for stray in self.of(scope).glob(f"{FILE}.*"):
            stray.unlink(missing_ok=True)


def expired(state: SessionState) -> SessionState:
    """The state of a session whose rows are gone because its time is over."""
    return replace(
        state, status="expired", generation=0, parts=(), columns=(), rows=0, bad_rows=0, index=None, error="", notes=()
    )


def _to_json(state: SessionState) -> dict[str, Any]:
    data = asdict(state)
    data["created_at"] = state.created_at.isoformat() if state.created_at else None
    data["fed_at"] = state.fed_at.isoformat() if state.fed_at else None
    data["columns"] = [
        {"name": one.name, "field": one.field, "type": one.type.value, "distinct": one.distinct, "empty": one.empty}
        for one in state.columns
    ]
    return data


def _from_json(data: dict[str, Any]) -> SessionState:
    data = dict(data)
    data["scope"] = Scope(**data["scope"])
    for name in ("created_at", "fed_at"):
        data[name] = datetime.fromisoformat(data[name]) if data[name] else None
    data["columns"] = tuple(Column(**{**one, "type": ColumnType(one["type"])}) for one in data["columns"])
    data["parts"] = tuple(
        TablePart(**{**one, "columns": tuple(map(tuple, one["columns"])), "notes": tuple(one["notes"])})
        for one in data["parts"]
    )
    data["index"] = RowIndexState(**data["index"]) if data["index"] else None
    data["notes"] = tuple(data["notes"])
    return SessionState(**data)


def no_session(scope: Scope) -> NotFoundError:
    """The error for a session that is not there, or that may not be read."""
    return NotFoundError(
        f"There is no session {scope.collection!r}.",
        hint=f"Make it with: kedge ingest FILE --kind table --collection {scope.collection}",
    )
