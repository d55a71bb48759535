"""The index of a table's words: every distinct text once, rows pointing to texts. Searching it is exact.

A text that stands in a column of few different values has a vector of its own, made by the embedding model. The texts
of larger columns are composed: the model embeds their words, and a text's vector is the sum of its words' vectors, less
what all words share. Neither vectors of rows nor of composed texts are stored: the similarity of a question to each
word is looked up for each text, and that of each text for each combination of texts that some row has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
MAX_TERMS = 12
"""Words of a question that keyword search looks for."""
KEYWORD = 0.9
"""Score of a row that holds every word of the question, whatever the vectors say."""
BESIDE = 0.15
"""What a second column that fits adds, for each unit of similarity above `FIT`."""
FIT = 0.25
_ARRAYS = (
    "whole_ids",
    "whole_vectors",
    "word_vectors",
    "word_mean",
    "word_places",
    "starts",
    "words",
    "norms",
    "composed_ids",
    "scale",
    "combinations",
    "row_combination",
    "row_order",
    "row_starts",
    "row_numbers",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the index takes it."""

    vector: Floats | None
    """By the embedding model; None: search by words alone."""
    composed: Floats | None
    """Sum of its words' vectors less their mean; None when it has no word."""
    terms: Sequence[tuple[Ints, float]]
    """For each search term: ids of the words that match it, and its weight."""


@dataclass(frozen=True, slots=True)
class Found:
    """Rows, best first."""

    row_numbers: NDArray[np.int64]
    scores: Floats
    semantic: Floats
    """Nearness by meaning alone."""
    keyword: Floats
    """Share of the question's words that the row holds, rare ones counting more."""


@dataclass(frozen=True, slots=True)
class TableIndex:
    """All arrays of the index. `texts` counts the distinct texts, `w` the words."""

    texts: int
    whole_ids: Ints
    """Texts with a vector of their own."""
    whole_vectors: Floats
    word_vectors: Floats
    """Of the words that have one, less their mean."""
    word_mean: Floats
    word_places: Ints
    """By word: its place in `word_vectors`, or -1."""
    starts: NDArray[np.int64]
    """By text: where its words begin in `words`; one more at the end."""
    words: Ints
    norms: Floats
    """By composed text: length of its vector; 0 when no word of it has one."""
    composed_ids: Ints
    """Texts that are composed."""
    scale: Floats
    """(a, b): a composed similarity c is a + b·c on the scale of the model."""
    combinations: Ints
    """By combination and worded column: the text, or -1 for an empty cell."""
    row_combination: Ints
    """By row, in the order of the table."""
    row_order: Ints
    """Rows sorted by combination."""
    row_starts: NDArray[np.int64]
    """By combination: where its rows begin in `row_order`; one more at the end."""
    row_numbers: NDArray[np.int64]

    @property
    def bytes(self) -> int:
        """Memory that the arrays take."""
        return int(sum(getattr(self, name).nbytes for name in _ARRAYS))

    def save(self, folder: Path) -> None:
        """Write every array to a file of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name))
        np.save(folder / "texts.npy", np.array([self.texts]))

    @classmethod
    def load(cls, folder: Path) -> TableIndex:
        """Read it into memory. Raises OSError or ValueError when a file is missing or damaged."""
        arrays = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in _ARRAYS}
        return cls(texts=int(np.load(folder / "texts.npy", allow_pickle=False)[0]), **arrays)

    def search(self, asked: Asked, k: int, threshold: float, allowed: NDArray[np.int64] | None = None) -> Found:
        """The best `k` rows with a score of at least `threshold`, ties by row number.

        `allowed`: numbers of the rows that pass a filter; the others are not looked at.
        """
        permitted = None if allowed is None else np.isin(self.row_numbers, allowed, assume_unique=True)
        chosen = None if permitted is None else np.unique(self.row_combination[permitted]).astype(np.int64)
        nearness, shares = self._combination_scores(asked, chosen)
        scores = 1 - (1 - nearness) * (1 - KEYWORD * shares)
        best = _best(scores, k, threshold)
        rows: list[NDArray[np.int32]] = []
        places: list[NDArray[np.int64]] = []
        missing = k
        for place in best:
            combination = place if chosen is None else chosen[place]
            of_it = self.row_order[self.row_starts[combination] : self.row_starts[combination + 1]]
            if permitted is not None:
                of_it = of_it[permitted[of_it]]
            rows.append(of_it[:missing])
            places.append(np.full(len(rows[-1]), place, dtype=np.int64))
            missing -= len(rows[-1])
            if not missing:
                break
        found = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        at = np.concatenate(places) if places else np.empty(0, dtype=np.int64)
        return Found(self.row_numbers[found], scores[at], nearness[at], shares[at])

    def text_scores(self, asked: Asked) -> tuple[Floats, NDArray[np.uint16]]:
        """For every text: its similarity to the question in [0, 1], and which of the terms it holds, as bits."""
        near = np.zeros(self.texts + 1, dtype=np.float32)  # the last one is the empty cell
        if asked.composed is not None and len(self.composed_ids):
            near[self.composed_ids] = self._composed(asked.composed)
        if asked.vector is not None and len(self.whole_ids):
            near[self.whole_ids] = self.whole_vectors @ asked.vector
        held = np.zeros(self.texts + 1, dtype=np.uint16)
        if asked.terms:
            by_word = np.zeros(len(self.word_places) + 1, dtype=np.uint16)
            for bit, (words, _) in enumerate(asked.terms[:MAX_TERMS]):
                by_word[words] |= np.uint16(1 << bit)
            if by_word.any() and len(self.words):
                held[:-1] = _reduced(np.bitwise_or, by_word[self.words], self.starts, np.uint16(0))
        return np.clip(near, 0, 1), held

    def _composed(self, question: Floats) -> Floats:
        similar = np.zeros(len(self.word_places), dtype=np.float32)
        known = self.word_places >= 0
        length = float(np.linalg.norm(question)) or 1.0
        similar[known] = (self.word_vectors @ (question / length))[self.word_places[known]]
        sums = _reduced(np.add, similar[self.words], self.starts, np.float32(0))[self.composed_ids]
        cosines = np.divide(sums, self.norms, out=np.zeros_like(sums), where=self.norms > 0)
        scaled = self.scale[0] + self.scale[1] * cosines
        return np.where(self.norms > 0, scaled, 0).astype(np.float32)

    def _combination_scores(self, asked: Asked, chosen: NDArray[np.int64] | None) -> tuple[Floats, Floats]:
        near, held = self.text_scores(asked)
        codes = self.combinations if chosen is None else self.combinations[:, chosen]
        count = codes.shape[1]
        best = np.zeros(count, dtype=np.float32)
        beside = np.zeros(count, dtype=np.float32)
        bits = np.zeros(count, dtype=np.uint16)
        fitting = np.maximum(near - FIT, 0)
        for column in codes:
            similar = near[column]
            np.maximum(best, similar, out=best)
            beside += fitting[column]
            bits |= held[column]
        nearness = np.minimum(best + BESIDE * (beside - np.maximum(best - FIT, 0)), 1)
        return nearness.astype(np.float32), _weights(asked.terms)[bits]


def _weights(terms: Sequence[tuple[Ints, float]]) -> Floats:
    """For every set of terms, as bits, its share of the whole weight."""
    weights = np.array([weight for _, weight in terms[:MAX_TERMS]], dtype=np.float32)
    sets = np.arange(1 << len(weights))
    total = float(weights.sum()) or 1.0
    held = (sets[:, None] >> np.arange(len(weights))) & 1
    return (held @ weights / total).astype(np.float32)


def _best(scores: Floats, k: int, threshold: float) -> NDArray[np.int64]:
    """Places of the best scores that reach the threshold, best first, ties in order."""
    passing = np.flatnonzero(scores >= threshold)
    if len(passing) > 4 * k:
        cut = np.partition(scores[passing], len(passing) - k)[len(passing) - k]
        passing = passing[scores[passing] >= cut]
    return passing[np.argsort(-scores[passing], kind="stable")]


def _reduced(operation: np.ufunc, values: NDArray, starts: NDArray[np.int64], empty: np.generic) -> NDArray:  # type: ignore[type-arg]
    """`operation.reduceat` that gives `empty` for stretches without values."""
    lengths = np.diff(starts)
    if not len(values):
        return np.full(len(lengths), empty, dtype=values.dtype)
    reduced = operation.reduceat(values, np.minimum(starts[:-1], len(values) - 1))
    reduced[lengths == 0] = empty
    return reduced


def matches(
    stems: Mapping[str, Sequence[tuple[int, int]]], wanted: Sequence[str], texts: int
) -> list[tuple[Ints, float]]:
    """The terms of a question: for each stem the words that have it, and its weight by rarity.

    `stems` gives (word, number of texts that hold it). A stem that no text holds counts as the rarest.
    """
    found = []
    for stem in wanted[:MAX_TERMS]:
        words = stems.get(stem, ())
        holding = sum(count for _, count in words)
        weight = float(np.log(1 + (texts - min(holding, texts) + 0.5) / (holding + 0.5)))
        found.append((np.array([word for word, _ in words], dtype=np.int32), weight))
    return found
