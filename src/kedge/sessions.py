"""Table sessions as the surfaces see them: made, listed, shown, changed and deleted, each with its collection."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TextIO

from kedge.config import Settings
from kedge.ids import new_id
from kedge.keeper import CollectionKeeper
from kedge.kinds import kind_named
from kedge.kinds.tables import NAME, run_given
from kedge.queues.base import Locks
from kedge.stores.catalog.base import Catalog
from kedge.tables.feeding.export import export_bad_rows, export_rows
from kedge.tables.feeding.update import Changed, update_rows
from kedge.tables.sessions import Sessions
from kedge.tables.state import SessionState
from kedge.types import Answer, Collection, Job, Json, Scope


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
        async with self._locks.named(f"session/{tenant}/{scope.collection}"):  # not behind a feed of another one
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

    async def update(
        self, scope: Scope, key: str, upsert: Sequence[Mapping[str, Json]] = (), delete: Sequence[Json] = ()
    ) -> Changed:
        """Change single rows by the value of their key column: those given are put in or changed, others deleted."""
        async with self._locks.writing(scope):
            collection = await self._keeper.get(scope)
            state = await self._sessions.state(scope)
            wanted = state.index is not None and state.index.embedder
            embedder = await self._keeper.embedder_of(collection) if wanted else None
            return await update_rows(
                self._settings, self._sessions, scope, embedder, key=key, upsert=upsert, delete=delete
            )

    async def export(self, scope: Scope, target: TextIO, *, bad: bool = False) -> int:
        """Write the rows, or those put aside, as CSV; returns how many."""
        async with self._sessions.reading(scope) as generation:
            return await asyncio.to_thread(export_bad_rows if bad else export_rows, generation, target)

    async def run_plan(self, scope: Scope, plan: Json) -> Answer:
        """Run a plan that somebody else made, a language model for instance. PlanError when it does not fit."""
        async with self._sessions.reading(scope) as generation:
            return await asyncio.to_thread(run_given, generation, plan)

    async def bad_rows(self, scope: Scope, limit: int = 100, offset: int = 0) -> list[Mapping[str, Any]]:
        """Records of the files that could not be used, with their lines."""
        async with self._sessions.reading(scope) as generation:
            cursor = generation.cursor()
            try:
                return list(await asyncio.to_thread(generation.bad_rows, cursor, limit, offset))
            finally:
                cursor.close()
