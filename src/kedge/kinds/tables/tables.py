"""All that tables are to an engine: their two ways, their sessions, and the life of both."""

from __future__ import annotations

from kedge.core.values import Collection, Scope
from kedge.kinds.ports import Kind, OpenKind, Parts
from kedge.kinds.tables.keeping import TableSessions
from kedge.kinds.tables.sessions import Sessions
from kedge.kinds.tables.way_in import TablesWayIn
from kedge.kinds.tables.way_out import TablesWayOut


class Tables(OpenKind):
    """The kind at work."""

    def __init__(self, kind: Kind[Tables], parts: Parts) -> None:
        self.open_sessions = Sessions(parts.settings.home, parts.settings.session_ttl, alone=not parts.shared)
        """Their files and the readers of each."""
        self.sessions = TableSessions(parts, self.open_sessions, kind)
        """Sessions as the surfaces see them."""
        way_out = TablesWayOut(parts.settings, self.open_sessions, parts.collections, parts.recorder, parts.writer)
        super().__init__(kind, TablesWayIn(self.open_sessions), way_out)

    async def start(self) -> None:
        await self.open_sessions.start()

    async def close(self) -> None:
        await self.open_sessions.close()

    async def reindexed(self, collection: Collection) -> None:
        await self.sessions.reindex(collection)

    async def delete(self, scope: Scope) -> None:
        await self.open_sessions.delete(scope)
