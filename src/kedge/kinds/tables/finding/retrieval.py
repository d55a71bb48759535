"""Rows by meaning and by words: what is asked when no exact plan is sure (T-05, T-10)."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from kedge.core.errors import EmbedderMismatchError, KedgeError, ModelError, StoreError
from kedge.core.values.filters import Filter
from kedge.kinds.tables.finding.index import Floats, FoundRows, RowQuestion, TableIndex, matches
from kedge.kinds.tables.finding.indexing import split_sql, stem
from kedge.kinds.tables.finding.where import condition
from kedge.kinds.tables.generation import Generation
from kedge.kinds.tables.values import TablePart
from kedge.models.ports import Embedder
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "queries.sql")
DEFAULT_K, MOST_K = 100, 500
COMPARED_K = 200
NOTHING = "No relevant data found"
AGAIN = "Try again; if it stays, feed the session again."
_ALL_ROWS = frozenset("total sum average mean count many much all every each per most least overall list".split())
_COMPARED = frozenset("compare compared versus vs difference than between".split())


@dataclass(frozen=True, slots=True)
class FoundRow:
    """One row with what it scored."""

    number: int
    """In the table."""
    part: TablePart
    """The file that it comes from."""
    values: tuple[Any, ...]
    score: float
    semantic: float
    keyword: float

    @property
    def in_file(self) -> int:
        """Its number in the file, from 1 below the header."""
        return self.number - self.part.offset


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Rows at or above the threshold, best first."""

    rows: tuple[FoundRow, ...]
    k: int
    threshold: float
    timings_ms: dict[str, float]


def adaptive_k(question: str) -> int:
    """More rows for questions about many of them: 500 for aggregates, 200 for comparisons, else 100."""
    words = set(question.lower().split())
    return MOST_K if words & _ALL_ROWS else COMPARED_K if words & _COMPARED else DEFAULT_K


async def retrieve(
    generation: Generation,
    embedder: Embedder | None,
    question: str,
    *,
    k: int,
    threshold: float,
    where: Filter | None = None,
) -> Retrieved:
    """The rows nearest to the question. `embedder` None: by words alone. Raises StoreError, ModelError, FilterError."""
    timings: dict[str, float] = {}
    started = time.perf_counter()
    index = await asyncio.to_thread(_index, generation, embedder)
    cursor = generation.cursor()
    try:
        words, terms = await asyncio.to_thread(_terms, cursor, question, index.texts)
        asked = await _asked(index, embedder, question, words, terms)
        timings["embed"] = 1000 * (time.perf_counter() - started)
        search = partial(_search, generation, cursor, index, asked)
        rows = await asyncio.to_thread(search, k=k, threshold=threshold, where=where, timings=timings)
        timings["total"] = 1000 * (time.perf_counter() - started)
        return Retrieved(rows, k, threshold, timings)
    except duckdb.Error as error:
        raise StoreError(f"The rows could not be searched: {error}", hint="Feed the session again.") from error
    finally:
        cursor.close()


def _index(generation: Generation, embedder: Embedder | None) -> TableIndex:
    state = generation.state
    if state.index is None:
        raise StoreError(
            f"Session {state.scope.collection!r} has no search index. {state.error}".strip(),
            hint="Feed the session again, or ask for something that can be computed: a count, a sum, a top ten.",
        )
    if embedder is not None and state.index.embedder not in ("", embedder.name):
        raise EmbedderMismatchError(
            f"The index of session {state.scope.collection!r} was built with {state.index.embedder!r}, "
            f"not {embedder.name!r}.",
            hint="Feed the session again.",
        )
    return generation.index()


def _terms(
    cursor: duckdb.DuckDBPyConnection, question: str, texts: int
) -> tuple[list[str], list[tuple[NDArray[np.int32], float]]]:
    """The words of the question that mean something, and the words of the table that match them."""
    split = cursor.execute(f"SELECT {split_sql('?')}", [question]).fetchall()[0][0]
    stemmed = {word: stem(word) for word in dict.fromkeys(split)}
    words = [word for word, found in stemmed.items() if found]
    stems = list(dict.fromkeys(found for found in stemmed.values() if found))
    known: dict[str, list[tuple[int, int]]] = defaultdict(list)
    rows = cursor.execute(QUERIES["words_of_stems"], [stems]).fetchall()
    for found, word, holding in rows:
        known[found].append((word, holding))
    return words, matches(known, stems, texts)


async def _asked(
    index: TableIndex,
    embedder: Embedder | None,
    question: str,
    words: Sequence[str],
    terms: Sequence[tuple[NDArray[np.int32], float]],
) -> RowQuestion:
    if embedder is None or index.whole_vectors.shape[1] != embedder.dimension:
        return RowQuestion(None, None, terms)
    try:
        vector: Floats = await embedder.embed_query(question)
        composed: Floats | None = None
        if words and len(index.word_vectors):
            # One by one, so that words asked for before are remembered.
            vectors = [await embedder.embed_query(word) for word in words]
            composed = (np.stack(vectors) - index.word_mean).sum(axis=0)
    except KedgeError as error:
        raise ModelError(f"The question could not be embedded: {error.message}", hint=AGAIN) from error
    return RowQuestion(vector, composed, terms)


def _search(
    generation: Generation,
    cursor: duckdb.DuckDBPyConnection,
    index: TableIndex,
    asked: RowQuestion,
    *,
    k: int,
    threshold: float,
    where: Filter | None,
    timings: dict[str, float],
) -> tuple[FoundRow, ...]:
    begun = time.perf_counter()
    allowed = None if where is None else generation.matching(cursor, *condition(where, generation.table))
    timings["filter"] = 1000 * (time.perf_counter() - begun)
    begun = time.perf_counter()
    try:
        found: FoundRows = index.search(asked, k, threshold, allowed)
    except (IndexError, ValueError) as error:
        raise StoreError("The search index is damaged.", hint="Feed the session again to build it anew.") from error
    timings["search"] = 1000 * (time.perf_counter() - begun)
    begun = time.perf_counter()
    read = {number: (part, values) for number, part, values in generation.rows(cursor, found.row_numbers.tolist())}
    rows = tuple(
        FoundRow(int(number), *read[int(number)], float(score), float(near), float(share))
        for number, score, near, share in zip(
            found.row_numbers, found.scores, found.semantic, found.keyword, strict=True
        )
    )
    timings["rows"] = 1000 * (time.perf_counter() - begun)
    return rows
