"""The index of a session built anew with another embedder, from the rows that are there."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace

import duckdb

from kedge.core.errors import KedgeError, StoreError
from kedge.core.settings import Settings
from kedge.core.values import Scope
from kedge.kinds.tables.finding.build import build_index, known_texts
from kedge.kinds.tables.sessions import Sessions
from kedge.kinds.tables.state import DATABASE, INDEX
from kedge.models.ports import Embedder


async def reindex_rows(settings: Settings, sessions: Sessions, scope: Scope, embedder: Embedder) -> None:
    """Published in one step; where it fails, the session is as it was. Nothing to do without rows or vectors.

    Raises StoreError and ModelError.
    """
    state = await sessions.state(scope)
    if not state.generation or not state.use_rag:
        return
    number = state.next_generation
    folder = sessions.folders.generation(scope, number)
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
        old = sessions.folders.generation(scope, state.generation)
        await asyncio.to_thread(shutil.copyfile, old / DATABASE, folder / DATABASE)
        with duckdb.connect(str(folder / DATABASE)) as connection:
            index = await build_index(
                connection,
                state.table,
                folder / INDEX,
                embedder,
                most_whole=settings.table_texts,
                known=lambda: known_texts(sessions, state, embedder.name),
                on_done=_quiet,
            )
    except (KedgeError, duckdb.Error, OSError) as error:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if isinstance(error, KedgeError):
            raise
        raise StoreError(f"The index could not be built: {error}", hint="The table is as it was.") from error
    await sessions.publish(replace(state, generation=number, index=index, error=""))


async def _quiet(_share: float) -> None:
    """Nobody watches."""
