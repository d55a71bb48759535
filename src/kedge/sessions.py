"""Table sessions as the surfaces see them: made, listed, shown, changed and deleted, each with its collection."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kedge.config import Settings
from kedge.ids import new_id
from kedge.keeper import CollectionKeeper
from kedge.kinds import kind_named
from kedge.kinds.tables import NAME
from kedge.queues.base import Locks
from kedge.stores.catalog.base import Catalog
from kedge.tables.sessions import Sessions
from kedge.tables.state import SessionState
from kedge.types import Collection, Job, Scope


@dataclass(frozen=True, slots=True)
class Session:
    """A session now."""

    state: SessionState
    job: Job | None = None
    """The feed that has not ended yet."""

    @property
    def id(self) -> str:
        """The name of its collection."""
        return self.state.scope.collection

    @property
    def status(self) -> str:
        """empty, building, ready, failed or expired. While it is building, readers see the table of the last feed."""
        return "building" if self.job else self.state.status


class TableSessions:
    """The sessions of all tenants over one home and one catalog."""

    def __init__(
        self, settings: Settings, catalog: Catalog, keeper: CollectionKeeper, locks: Locks, sessions: Sessions
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._keeper = keeper
        self._locks = locks
        self._sessions = sessions

    async def make(
        self,
        tenant: str,
        name: str | None = None,
        *,
        use_rag: bool = True,
        persist: bool = True,
        expires_after: float | None = None,
    ) -> Session:
        """A new session, or the one of that name with other options. Without a name it gets an id of its own."""
        scope = Scope(tenant, name or new_id())
        async with self._locks.writing(scope):
            await self._keeper.ensure(scope, kind_named(NAME))
            state = self._sessions.make(scope, use_rag=use_rag, persist=persist, expires_after=expires_after)
        return Session(state)

    def counted(self, collection: Collection) -> Collection:
        """A table's collection with its files and rows in the place of documents and passages."""
        state = self._sessions.folders.read(collection.scope) if collection.kind == NAME else None
        return collection if state is None else replace(collection, documents=len(state.parts), passages=state.rows)

    async def get(self, scope: Scope) -> Session:
        """One session. NotFoundError."""
        unfinished = await self._catalog.jobs.unfinished()
        job = next((job for job in unfinished if job.scope == scope and job.kind == NAME), None)
        if job is not None and self._sessions.folders.read(scope) is None:
            return Session(SessionState(scope, created_at=job.created_at), job)
        return Session(await self._sessions.state(scope), job)

    async def all(self, tenant: str) -> list[Session]:
        """Those of the tenant, by name."""
        known = await self._catalog.collections.all(tenant)
        found = []
        for collection in known:
            if collection.kind == NAME and self._sessions.folders.read(collection.scope) is not None:
                found.append(await self.get(collection.scope))
        return found

    async def bad_rows(self, scope: Scope, limit: int = 100, offset: int = 0) -> list[Mapping[str, Any]]:
        """Records of the files that could not be used, with their lines."""
        async with self._sessions.reading(scope) as generation:
            cursor = generation.cursor()
            try:
                return list(await asyncio.to_thread(generation.bad_rows, cursor, limit, offset))
            finally:
                cursor.close()
