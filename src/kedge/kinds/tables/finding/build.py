"""The index of a generation: built with what the last one knows already, and written beside the rows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np

from kedge.kinds.tables.finding.index import Floats, TableIndex
from kedge.kinds.tables.finding.texts import KnownTexts, OnDone, embedded, gather, readable, texts_of_rows, worded
from kedge.kinds.tables.generation import open_rows
from kedge.kinds.tables.schema import Table
from kedge.kinds.tables.sessions import Sessions
from kedge.kinds.tables.state import INDEX, RowIndexState, SessionState
from kedge.models.ports import Embedder
from kedge.stores.queries import load_queries

log = logging.getLogger(__name__)
QUERIES = load_queries(__package__, "queries.sql")


async def build_index(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    folder: Path,
    embedder: Embedder | None,
    *,
    most_whole: int,
    known: Callable[[], KnownTexts],
    on_done: OnDone,
) -> RowIndexState:
    """Gather the texts, embed those that are new, write the arrays. Without an embedder it knows words only."""
    texts = await asyncio.to_thread(gather, connection, table, most_whole if embedder else 0)
    if embedder is None:
        texts = replace(texts, whole=[], vocabulary=[], sample=[], rows=[])
        before = KnownTexts()
    else:
        before = await asyncio.to_thread(known)
    index = await embedded(texts, embedder or _NoModel(), before, on_done)
    await asyncio.to_thread(index.save, folder)
    name = embedder.name if embedder else ""
    dimension = embedder.dimension if embedder else 0
    return RowIndexState(name, texts.count, len(texts.whole), len(texts.vocabulary), index.bytes, dimension)


class _NoModel:
    """Stands where the model would; it is never asked."""

    name = ""
    dimension = 1
    window = 1

    async def embed(self, texts: Sequence[str]) -> Floats:
        return np.zeros((len(texts), 1), dtype=np.float32)

    async def embed_query(self, _text: str) -> Floats:
        return np.zeros(1, dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [0 for _ in texts]

    async def close(self) -> None:
        """Nothing to release."""


def known_texts(sessions: Sessions, state: SessionState, embedder: str) -> KnownTexts:
    """What the last generation knows, where the same model made it; else nothing."""
    if not state.generation or state.index is None or state.index.embedder != embedder:
        return KnownTexts()
    folder = sessions.folders.generation(state.scope, state.generation)
    try:
        index = TableIndex.load(folder / INDEX)
        with open_rows(folder) as connection:
            texts = dict(connection.execute(QUERIES["whole_texts"]).fetchall())
            words = dict(connection.execute(QUERIES["words"]).fetchall())
            kept = len(index.row_vectors) == index.combinations.shape[1]
            said = texts_of_rows(connection, worded(state.table), index.combinations) if kept else []
    except (OSError, ValueError, duckdb.Error) as error:  # then all are embedded anew
        log.warning("the former index cannot be used: %s", error)
        return KnownTexts()
    rows = zip(index.word_ids.tolist(), index.word_vectors, strict=True)
    known = {words[word]: row + index.word_mean for word, row in rows}
    known.update(
        (readable(texts[text]), row) for text, row in zip(index.whole_ids.tolist(), index.whole_vectors, strict=True)
    )
    known.update(zip(said, index.row_vectors, strict=False))
    return KnownTexts(known, tuple(index.anchors.tolist()))
