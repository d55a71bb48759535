"""Table sessions: made, opened for readers, expired and deleted. Feeding them is `feed`, answering from them `way`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kedge.core.errors import ConflictError, ExpiredError, StoreError, UsageError
from kedge.core.values import Scope
from kedge.kinds.tables.generation import Generation
from kedge.kinds.tables.state import Folders, SessionState, expired

log = logging.getLogger(__name__)
MOST_OPEN = 16
"""Sessions whose rows and index are kept open; the one that was not asked for longest gives way."""


class Sessions:
    """All sessions under one home. Used by the tasks of one event loop; files are read in threads."""

    def __init__(self, home: Path, expires_after: float = 0.0, *, alone: bool = True) -> None:
        """`alone`: no other process uses the home, so that what is not to last may be cleared."""
        self._alone = alone
        self.folders = Folders(home)
        self._expires_after = expires_after
        self._open: dict[Scope, Generation] = {}
        self._retired: list[Generation] = []
        """Replaced, with readers that have not ended."""
        self._opening = asyncio.Lock()

    async def start(self) -> None:
        """Clear what a former process left: sessions that were not to last, and those whose time is over."""
        for state in await asyncio.to_thread(lambda: list(self.folders.all())):
            if not state.persist and self._alone:
                await asyncio.to_thread(self.folders.drop, state.scope)
            elif state.over:
                await self.expire(state)

    async def close(self) -> None:
        """Close what is open; forget sessions that are not to last."""
        for generation in self._open.values():
            await asyncio.to_thread(generation.close)
        self._open.clear()
        for state in await asyncio.to_thread(lambda: list(self.folders.all())):
            if not state.persist and self._alone:
                await asyncio.to_thread(self.folders.drop, state.scope)

    def make(
        self,
        scope: Scope,
        *,
        use_rag: bool | None = None,
        persist: bool | None = None,
        expires_after: float | None = None,
    ) -> SessionState:
        """The session with these options; made when it is not there, changed when it is."""
        if expires_after is not None and not expires_after >= 0:
            raise UsageError("A session cannot expire before it is fed.", hint="Give seconds; 0: never.")
        known = self.folders.read(scope)
        state = known or SessionState(scope, created_at=datetime.now(UTC), expires_after=self._expires_after)
        state = replace(
            state,
            use_rag=state.use_rag if use_rag is None else use_rag,
            persist=state.persist if persist is None else persist,
            expires_after=state.expires_after if expires_after is None else expires_after,
        )
        if state != known:
            self.folders.write(state)
        return state

    async def state(self, scope: Scope) -> SessionState:
        """The session as last published; marked and emptied when its time is over. NotFoundError."""
        state = await asyncio.to_thread(self.folders.get, scope)
        return await self.expire(state) if state.over else state

    async def publish(self, state: SessionState) -> None:
        """Let readers see this state from now on; those that have begun go on with what they have."""
        await asyncio.to_thread(self.folders.write, state)
        await self._retire(state.scope, state.generation)

    async def delete(self, scope: Scope) -> None:
        """Remove the session with all its rows."""
        await self._retire(scope, -1)
        await asyncio.to_thread(self.folders.drop, scope)

    async def expire(self, state: SessionState) -> SessionState:
        """Drop the rows of a session whose time is over; what remains says so."""
        gone = expired(state)
        await self.publish(gone)
        log.info("session %s expired", state.scope.collection)
        return gone

    @asynccontextmanager
    async def reading(self, scope: Scope) -> AsyncIterator[Generation]:
        """The generation that readers see now, for as long as the block lasts."""
        generation = await self._current(scope)
        generation.users += 1
        try:
            yield generation
        finally:
            generation.users -= 1
            await self._let_go(generation)

    async def _current(self, scope: Scope) -> Generation:
        while True:
            state = await self._fed(scope)
            try:
                return await self._opened(state)
            except StoreError:  # replaced, perhaps by another process, after its name was read and before it was open
                now = await asyncio.to_thread(self.folders.read, scope)
                if now is not None and now.generation == state.generation:
                    raise

    async def _fed(self, scope: Scope) -> SessionState:
        """The session with rows in it. ExpiredError, ConflictError, NotFoundError."""
        state = await self.state(scope)
        if state.status == "expired":
            raise ExpiredError(
                f"Session {scope.collection!r} has expired: its rows are gone.", hint="Feed the file again."
            )
        if not state.generation:
            raise ConflictError(
                f"Session {scope.collection!r} holds no rows yet." + (f" {state.error}" if state.error else ""),
                hint="Feed it a file, or wait until the feed has ended.",
            )
        return state

    async def _opened(self, state: SessionState) -> Generation:
        scope = state.scope
        async with self._opening:
            known = self._open.get(scope)
            if known is not None and known.state.generation == state.generation:
                known.state = state
                self._open[scope] = self._open.pop(scope)
                return known
            folder = self.folders.generation(scope, state.generation)
            fresh = await asyncio.to_thread(Generation.open, state, folder)
            await self._replace(scope, fresh)
            for other in [one for one, opened in self._open.items() if not opened.users and one != scope]:
                if len(self._open) > MOST_OPEN:
                    await self._replace(other, None)
            return fresh

    async def _retire(self, scope: Scope, keep: int) -> None:
        async with self._opening:
            known = self._open.get(scope)
            if known is not None and known.state.generation != keep:
                await self._replace(scope, None)
        if not any(g.state.scope == scope and g.users for g in self._retired):
            await asyncio.to_thread(self.folders.drop_generations, scope, keep)

    async def _replace(self, scope: Scope, fresh: Generation | None) -> None:
        old = self._open.pop(scope, None)
        if fresh is not None:
            self._open[scope] = fresh
        if old is not None:
            old.retired = True
            self._retired.append(old)
            await self._let_go(old)

    async def _let_go(self, generation: Generation) -> None:
        if generation.retired and not generation.users and generation in self._retired:
            self._retired.remove(generation)
            await asyncio.to_thread(generation.close)
            scope = generation.state.scope
            state = await asyncio.to_thread(self.folders.read, scope)
            await asyncio.to_thread(self.folders.drop_generations, scope, state.generation if state else -1)
