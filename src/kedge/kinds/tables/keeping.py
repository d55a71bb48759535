"""Table sessions as the surfaces see them: made, listed, shown, changed and deleted, each with its collection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TextIO

from kedge.core.acting import actor
from kedge.core.ids import new_id
from kedge.core.outside import to_json
from kedge.core.values import Answer, Collection, Job, Json, Query, Scope
from kedge.ingest.ports import IndexedKind
from kedge.kinds.ports import Parts
from kedge.kinds.tables.feeding.export import export_bad_rows, export_rows
from kedge.kinds.tables.feeding.reindex import reindex_rows
from kedge.kinds.tables.feeding.update import update_rows
from kedge.kinds.tables.sessions import Sessions
from kedge.kinds.tables.state import SessionState, no_session
from kedge.kinds.tables.values import RefusedRow, RowsChanged, TableSession
from kedge.kinds.tables.way_out import run_given


class TableSessions:
    """The sessions of all tenants over one home and one catalog."""

    def __init__(self, parts: Parts, sessions: Sessions, kind: IndexedKind) -> None:
        self._settings = parts.settings
        self._catalog = parts.stores.catalog
        self._collections = parts.collections
        self._kind = kind
        self._locks = parts.locks
        self._recorder = parts.recorder
        self._sessions = sessions

    async def make(
        self,
        tenant: str,
        name: str | None = None,
        *,
        use_rag: bool = True,
        persist: bool = True,
        expires_after: float | None = None,
    ) -> TableSession:
        """A new session, or the one of that name with other options. Without a name it gets an id of its own."""
        scope = Scope(tenant, name or new_id())
        async with self._locks.named(f"session/{tenant}/{scope.collection}"):  # not behind a feed of another one
            await self._collections.ensure(scope, self._kind)
            state = self._sessions.make(scope, use_rag=use_rag, persist=persist, expires_after=expires_after)
        return _session(state)

    async def get(self, scope: Scope) -> TableSession:
        """One session. NotFoundError."""
        await self._admit(scope)
        unfinished = await self._catalog.jobs.unfinished()
        job = next((job for job in unfinished if job.scope == scope and job.kind == self._kind.name), None)
        if job is not None and self._sessions.folders.read(scope) is None:
            return _session(SessionState(scope, created_at=job.created_at), job)
        return _session(await self._sessions.state(scope), job)

    async def all(self, tenant: str) -> list[TableSession]:
        """Those of the tenant, by name."""
        known = await self._catalog.collections.all(tenant)
        found = []
        for collection in known:
            if collection.kind == self._kind.name and self._sessions.folders.read(collection.scope) is not None:
                found.append(await self.get(collection.scope))
        return found

    async def update(
        self, scope: Scope, key: str, upsert: Sequence[Mapping[str, Json]] = (), delete: Sequence[Json] = ()
    ) -> RowsChanged:
        """Change single rows by the value of their key column: those given are put in or changed, others deleted."""
        await self._admit(scope)
        async with self._locks.writing(scope):
            collection = await self._collections.get(scope)
            state = await self._sessions.state(scope)
            wanted = state.index is not None and state.index.embedder
            embedder = await self._collections.embedder_of(collection) if wanted else None
            return await update_rows(
                self._settings, self._sessions, scope, embedder, key=key, upsert=upsert, delete=delete
            )

    async def _admit(self, scope: Scope) -> None:
        """NotFoundError, as for a session that is not there, where the actor in force may not read it."""
        who = actor()
        if who is not None and not who.may_read((await self._catalog.rights.rules(scope)).get("")):
            raise no_session(scope)

    async def reindex(self, collection: Collection) -> None:
        """Build the index of a session anew with the embedder that its collection has now."""
        async with self._locks.writing(collection.scope):
            embedder = await self._collections.embedder_of(collection)
            await reindex_rows(self._settings, self._sessions, collection.scope, embedder)

    async def export(self, scope: Scope, target: TextIO, *, bad: bool = False) -> int:
        """Write the rows, or those put aside, as CSV; returns how many."""
        await self._admit(scope)
        async with self._sessions.reading(scope) as generation:
            return await asyncio.to_thread(export_bad_rows if bad else export_rows, generation, target)

    async def run_plan(self, scope: Scope, plan: Json, user: str = "local") -> Answer:
        """Run a plan that somebody else made, a language model for instance. The audit log has it as a question, in
        place of whose words it keeps the plan. PlanError when it does not fit."""
        await self._admit(scope)
        async with self._sessions.reading(scope) as generation:
            answer = await asyncio.to_thread(run_given, generation, plan)
        said = json.dumps(plan, ensure_ascii=False, sort_keys=True)
        await self._recorder.note("ask", Query(said, scope, user=user), [], answer.query_id)
        return answer

    async def bad_rows(self, scope: Scope, limit: int = 100, offset: int = 0) -> list[RefusedRow]:
        """Records of the files that could not be used, with their lines."""
        await self._admit(scope)
        async with self._sessions.reading(scope) as generation:
            cursor = generation.cursor()
            try:
                return await asyncio.to_thread(generation.bad_rows, cursor, limit, offset)
            finally:
                cursor.close()


def _index(state: SessionState, *, building: bool) -> dict[str, Json] | None:
    """The index by itself: how it was built, over how many rows, and whether it is there (T-20)."""
    if state.index is None and not state.rows and not building:
        return None
    built = {} if state.index is None else to_json(state.index)
    status = "building" if building else "ready" if state.index is not None else "failed"
    return {
        **built,
        "status": status,
        "transaction_count": state.rows if state.index is not None else 0,
        "embedding_dimensions": state.index.dimension or None if state.index is not None else None,
        "indexed_at": state.fed_at.isoformat() if state.index is not None and state.fed_at else None,
        "error": state.error or None if state.index is None else None,
    }


def _session(state: SessionState, job: Job | None = None) -> TableSession:
    """The session as it was last published, and the feed that has not ended yet."""
    return TableSession(
        id=state.scope.collection,
        status="building" if job else state.status,
        table=state.name,
        rows=state.rows,
        bad_rows=state.bad_rows,
        columns=state.columns,
        files=state.parts,
        use_rag=state.use_rag,
        persist=state.persist,
        index=_index(state, building=job is not None),
        error=state.error or None,
        notes=state.notes,
        job_id=job.id if job else None,
        progress=job.progress if job else None,
        created_at=state.created_at,
        fed_at=state.fed_at,
        expires_at=state.expires_at,
    )
