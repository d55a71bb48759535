"""`Kedge.tables`: table sessions for code that does not use asyncio. Nothing here but the waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kedge.core.values import DEFAULT_TENANT, Answer, Json
from kedge.engine.blocking import Kedge
from kedge.kinds.tables.kind import KIND
from kedge.kinds.tables.values import RefusedRow, RowsChanged, TableSession


class TablesFacade:
    """Table sessions by the name of their collection."""

    def __init__(self, kedge: Kedge) -> None:
        self._kedge = kedge
        self._sessions = kedge.engine.kinds.opened(KIND).sessions

    def session(self, name: str) -> TableSession:
        """One table session: status, rows, columns. Feed it with `ingest(FILE, collection=name, kind="table")`."""
        return self._kedge.run(self._sessions.get(self._kedge.scope(name)))

    def sessions(self) -> list[TableSession]:
        """All table sessions, by name."""
        return self._kedge.run(self._sessions.all(DEFAULT_TENANT))

    def make_session(
        self, name: str | None = None, *, use_rag: bool = True, persist: bool = True, expires_after: float | None = None
    ) -> TableSession:
        """A table session with other options than the default ones."""
        making = self._sessions.make(
            DEFAULT_TENANT, name, use_rag=use_rag, persist=persist, expires_after=expires_after
        )
        return self._kedge.run(making)

    def bad_rows(self, name: str, limit: int = 100, offset: int = 0) -> list[RefusedRow]:
        """Records that could not be used: file, line, reason, text."""
        return self._kedge.run(self._sessions.bad_rows(self._kedge.scope(name), limit, offset))

    def update_rows(
        self, name: str, key: str, upsert: Sequence[Mapping[str, Json]] = (), delete: Sequence[Json] = ()
    ) -> RowsChanged:
        """Change, add or delete single rows of a session by the value of their key column."""
        return self._kedge.run(self._sessions.update(self._kedge.scope(name), key, upsert, delete))

    def run_plan(self, name: str, plan: Json) -> Answer:
        """Run a plan given as JSON over a session; it is checked against the table first."""
        return self._kedge.run(self._sessions.run_plan(self._kedge.scope(name), plan))
