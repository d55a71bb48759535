"""Rows by meaning and by words: what is asked when no exact plan is sure (T-05, T-10)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from kedge.core.errors import EmbedderMismatchError, KedgeError, ModelError, StoreError
from kedge.core.values.filters import Filter
from kedge.kinds.tables.finding.index import Floats, FoundRows, RowCandidates, RowQuestion, TableIndex, matches
from kedge.kinds.tables.finding.scan import scan_rows
from kedge.kinds.tables.finding.scores import RowWeights
from kedge.kinds.tables.finding.texts import split_sql, stem, texts_of_rows, worded
from kedge.kinds.tables.finding.where import condition
from kedge.kinds.tables.generation import Generation
from kedge.kinds.tables.values import TablePart
from kedge.models.ports import Embedder
from kedge.stores.queries import load_queries

log = logging.getLogger(__name__)
QUERIES = load_queries(__package__, "queries.sql")
EMBEDDED = 64
"""Rows, the nearest by their cells, whose text is embedded as a whole when a question is asked of a table with many."""
REMEMBERED = 20_000
"""Texts of rows whose vectors a generation remembers."""
NOTHING = "No relevant data found"
DAMAGED = "The search index is damaged."
AGAIN = "Try again; if it stays, feed the session again."


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
    warnings: tuple[str, ...] = ()
    """What the asker should know of how they were found."""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    """When."""
    embedding: tuple[float, ...] | None = None
    """The question as the model embeds it; None where no model did."""


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
    if generation.state.index is None:
        return await asyncio.to_thread(_scanned, generation, question, k, threshold, where)
    timings: dict[str, float] = {}
    started = time.perf_counter()
    index = await asyncio.to_thread(_index, generation, embedder)
    cursor = generation.cursor()
    try:
        words, terms = await asyncio.to_thread(_terms, cursor, question, index.texts)
        asked = await _asked(index, embedder, question, words, terms)
        timings["embed"] = 1000 * (time.perf_counter() - started)
        search = _RowSearch(generation, cursor, index, asked, index.weights(embedder.name if embedder else ""))
        found = await asyncio.to_thread(search.candidates, threshold, where, timings)
        begun = time.perf_counter()
        scores, semantic = await search.scored(found, embedder)
        timings["rows_embed"] = 1000 * (time.perf_counter() - begun)
        best = await asyncio.to_thread(index.best, found, scores, semantic, k, threshold)
        rows = await asyncio.to_thread(search.rows, best, timings)
        timings["total"] = 1000 * (time.perf_counter() - started)
        embedding = None if asked.vector is None else tuple(map(float, asked.vector))
        return Retrieved(rows, k, threshold, timings, embedding=embedding)
    except duckdb.Error as error:
        raise StoreError(f"The rows could not be searched: {error}", hint="Feed the session again.") from error
    finally:
        cursor.close()


def _scanned(generation: Generation, question: str, k: int, threshold: float, where: Filter | None) -> Retrieved:
    """Without an index: by the words of every row, with a warning that says why and that it is slower."""
    state = generation.state
    why = f" ({state.error.rstrip('.')})" if state.error else ""
    warning = (
        f"The session has no search index{why}, so every row was read for its words: slower, and not by meaning. "
        "Feed the session again to build one."
    )
    log.warning("session %s: %s", state.scope.collection, warning)
    started = time.perf_counter()
    cursor = generation.cursor()
    try:
        split = cursor.execute(f"SELECT {split_sql('?')}", [question]).fetchall()[0][0]
        stems = list(dict.fromkeys(found for word in split if (found := stem(word))))
        allowed = None if where is None else generation.matching(cursor, *condition(where, generation.table)).tolist()
        best = scan_rows(generation, cursor, stems, k=k, threshold=threshold, allowed=allowed)
        read = {number: (part, values) for number, part, values in generation.rows(cursor, [one for one, _ in best])}
    except duckdb.Error as error:
        raise StoreError(f"The rows could not be searched: {error}", hint="Feed the session again.") from error
    finally:
        cursor.close()
    rows = tuple(FoundRow(number, *read[number], score, 0.0, score) for number, score in best)
    return Retrieved(rows, k, threshold, {"total": 1000 * (time.perf_counter() - started)}, (warning,))


def _index(generation: Generation, embedder: Embedder | None) -> TableIndex:
    state = generation.state
    assert state.index is not None
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


@dataclass(frozen=True, slots=True)
class _RowSearch:
    """One search, step by step."""

    generation: Generation
    cursor: duckdb.DuckDBPyConnection
    index: TableIndex
    asked: RowQuestion
    weights: RowWeights

    def candidates(self, threshold: float, where: Filter | None, timings: dict[str, float]) -> RowCandidates:
        """What may have been asked for, within the filter. StoreError."""
        begun = time.perf_counter()
        table = self.generation.table
        allowed = None if where is None else self.generation.matching(self.cursor, *condition(where, table))
        timings["filter"] = 1000 * (time.perf_counter() - begun)
        begun = time.perf_counter()
        least = 0 if self.asked.vector is None else EMBEDDED
        try:
            if len(self.index.row_vectors) and self.asked.vector is not None:
                least = self.index.combinations.shape[1]
            return self.index.candidates(self.asked, self.weights, threshold, least=least, allowed=allowed)
        except (IndexError, ValueError) as error:
            raise StoreError(DAMAGED, hint="Feed the session again to build it anew.") from error
        finally:
            timings["search"] = 1000 * (time.perf_counter() - begun)

    async def scored(self, found: RowCandidates, embedder: Embedder | None) -> tuple[NDArray[np.float64], Floats]:
        """Scores and similarities of the candidates: of what a row says as a whole, for all or for the nearest."""
        if embedder is None or self.asked.vector is None or not len(found.places):
            return found.scores, found.best
        try:
            whole = self.index.whole(self.asked, found, self.weights)
        except (IndexError, ValueError) as error:
            raise StoreError(DAMAGED, hint="Feed the session again to build it anew.") from error
        if whole is not None:
            return self._of_whole(whole, found, np.arange(len(found.places)))
        at = np.sort(found.nearest(EMBEDDED))
        vectors = await self._vectors(found.places[at], embedder)
        return self._of_whole(self.weights.scaled(vectors @ self.asked.vector), found, at)

    def _of_whole(
        self, whole: Floats, found: RowCandidates, at: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], Floats]:
        scores, semantic = found.scores.copy(), found.best.copy()
        top = float(whole.max())
        scores[at] = self.weights.of_whole(whole, found.best[at], found.beside[at], found.share[at], top)
        semantic[at] = whole
        return scores, semantic

    async def _vectors(self, places: NDArray[np.int64], embedder: Embedder) -> Floats:
        """Of what these combinations say as a whole; those that were asked for before are remembered."""
        known = self.generation.row_vectors
        missing = [place for place in places.tolist() if place not in known]
        if missing:
            columns = worded(self.generation.table)
            codes = self.index.combinations[:, missing]
            texts = await asyncio.to_thread(texts_of_rows, self.cursor, columns, codes)
            try:
                made = await embedder.embed(texts)
            except KedgeError as error:
                raise ModelError(f"The rows could not be embedded: {error.message}", hint=AGAIN) from error
            if len(known) > REMEMBERED:
                known.clear()
            known.update(zip(missing, made, strict=True))
        return np.stack([known[place] for place in places.tolist()]).astype(np.float32)

    def rows(self, best: FoundRows, timings: dict[str, float]) -> tuple[FoundRow, ...]:
        """The rows with their values."""
        begun = time.perf_counter()
        numbers = best.row_numbers.tolist()
        read = {number: (part, values) for number, part, values in self.generation.rows(self.cursor, numbers)}
        rows = tuple(
            FoundRow(int(number), *read[int(number)], float(score), float(near), float(share))
            for number, score, near, share in zip(numbers, best.scores, best.semantic, best.keyword, strict=True)
        )
        timings["rows"] = 1000 * (time.perf_counter() - begun)
        return rows
