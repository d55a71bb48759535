"""The index of a table's words: every distinct text once, rows pointing to texts. Searching it is exact.

A text that stands in a column of few different values has a vector of its own, made by the embedding model. The texts
of larger columns are composed: the model embeds their words, and a text's vector is the sum of its words' vectors, less
what all words share. Vectors of composed texts are not stored: the similarity of a question to each word is looked up
for each text, and that of each text for each combination of texts that some row has. Where there are few combinations,
the model embeds what each says as a whole; where there are many, those that come nearest when a question is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kedge.kinds.tables.finding.scores import FIT, RowWeights, by_words, weights_of

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
MAX_TERMS = 12
"""Words of a question that keyword search looks for."""
HOLDS = 2.0
"""Added to the similarity of texts that hold a word of the question, to know them again."""
_ARRAYS = (
    "whole_ids",
    "whole_vectors",
    "word_vectors",
    "word_mean",
    "word_ids",
    "unit_starts",
    "units",
    "norms",
    "posting_starts",
    "postings",
    "composed_ids",
    "scale",
    "combinations",
    "row_combination",
    "row_order",
    "row_starts",
    "row_numbers",
)
_LATER = ("row_vectors", "anchors")
"""Arrays that an index kept from before does not have."""


@dataclass(frozen=True, slots=True)
class RowQuestion:
    """A question as the index takes it."""

    vector: Floats | None
    """By the embedding model; None: search by words alone."""
    composed: Floats | None
    """Sum of its words' vectors less their mean; None when it has no word."""
    terms: Sequence[tuple[Ints, float]]
    """For each search term: ids of the words that match it, and its weight."""


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Rows, best first."""

    row_numbers: NDArray[np.int64]
    scores: NDArray[np.float64]
    semantic: Floats
    """Similarity of what the row says as a whole, or of its nearest cell where that is not known."""
    keyword: Floats
    """Share of the question's words that the row holds, rare ones counting more."""


@dataclass(frozen=True, slots=True)
class RowCandidates:
    """Combinations of texts that may be what was asked for, with what their cells say."""

    places: NDArray[np.int64]
    """In order."""
    best: Floats
    """Similarity of the nearest cell."""
    beside: Floats
    """What the other cells have above `FIT`, together."""
    share: Floats
    """Of the question's words, rare ones counting more."""
    scores: NDArray[np.float64]
    """By the cells."""
    permitted: NDArray[np.bool_] | None
    """By row: whether it passes the filter; None: all do."""

    def nearest(self, count: int) -> NDArray[np.int64]:
        """Positions of the best by their cells, best first."""
        return np.argsort(-self.scores, kind="stable")[:count]


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
    word_ids: Ints
    """The words that have a vector, in the order of `word_vectors`."""
    unit_starts: NDArray[np.int64]
    """By composed text: where its words begin in `units`; one more at the end."""
    units: NDArray[np.uint16]
    """Places in `word_vectors`."""
    norms: Floats
    """By composed text: length of its vector; 0 when no word of it has one."""
    composed_ids: Ints
    """Texts that are composed."""
    posting_starts: NDArray[np.int64]
    """By word: where its texts begin in `postings`; one more at the end."""
    postings: Ints
    """Texts that hold a word."""
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
    row_vectors: Floats
    """By combination: the vector of what it says as a whole; empty where there are too many."""
    anchors: Floats
    """What `scores.measured` says of the model; empty for one whose weights are shipped."""

    @property
    def bytes(self) -> int:
        """Memory that the arrays take."""
        return int(sum(getattr(self, name).nbytes for name in (*_ARRAYS, *_LATER)))

    def save(self, folder: Path) -> None:
        """Write every array to a file of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*_ARRAYS, *_LATER):
            np.save(folder / f"{name}.npy", getattr(self, name))
        np.save(folder / "texts.npy", np.array([self.texts]))

    @classmethod
    def load(cls, folder: Path) -> TableIndex:
        """Read it into memory. Raises OSError or ValueError when a file is missing or damaged."""
        arrays = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in _ARRAYS}
        for name in _LATER:
            path = folder / f"{name}.npy"
            arrays[name] = np.load(path, allow_pickle=False) if path.exists() else np.empty(0, dtype=np.float32)
        return cls(texts=int(np.load(folder / "texts.npy", allow_pickle=False)[0]), **arrays)

    def weights(self, model: str) -> RowWeights:
        """How similarities of this model become scores."""
        return weights_of(model, self.anchors.tolist(), composed=len(self.composed_ids) > 0)

    def candidates(
        self,
        asked: RowQuestion,
        weights: RowWeights,
        threshold: float,
        *,
        least: int = 0,
        allowed: NDArray[np.int64] | None = None,
    ) -> RowCandidates:
        """All combinations that reach the threshold by their cells, and the `least` nearest whether they do or not.

        `allowed`: numbers of the rows that pass a filter; the others are not looked at.
        """
        permitted = None if allowed is None else self._permitted(allowed)
        chosen = None if permitted is None else self._combinations_of(permitted)
        near, held = self.text_scores(asked, weights)
        codes = self.combinations if chosen is None else self.combinations[:, chosen]
        if not codes.size:
            none = np.empty(0, dtype=np.float32)
            return RowCandidates(np.empty(0, np.int64), none, none, none, none.astype(np.float64), permitted)
        top = float(near.max() if chosen is None else near[codes].max())
        places = _possible(near, held, codes, weights.least(threshold, len(codes), top), least)
        codes = codes[:, places]
        similar = near[codes]
        best = similar.max(axis=0)
        beside = np.maximum(similar - FIT, 0).sum(axis=0) - np.maximum(best - FIT, 0)
        share = _weights(asked.terms)[np.bitwise_or.reduce(held[codes], axis=0)]
        scores = by_words(share) if asked.vector is None else weights.of_cells(best, beside, share, top)
        return RowCandidates(places if chosen is None else chosen[places], best, beside, share, scores, permitted)

    def whole(self, asked: RowQuestion, found: RowCandidates, weights: RowWeights) -> Floats | None:
        """Similarity of what each candidate says as a whole; None where its vectors are not kept."""
        if asked.vector is None or len(self.row_vectors) != self.combinations.shape[1]:
            return None
        return weights.scaled(self.row_vectors[found.places] @ asked.vector)

    def best(
        self, found: RowCandidates, scores: NDArray[np.float64], semantic: Floats, k: int, threshold: float
    ) -> FoundRows:
        """The best `k` rows of the candidates with a score of at least `threshold`, ties by row number."""
        rows: list[NDArray[np.int32]] = []
        ranks: list[NDArray[np.int64]] = []
        missing = k
        for place in _best(scores, k, threshold):
            combination = found.places[place]
            of_it = self.row_order[self.row_starts[combination] : self.row_starts[combination + 1]]
            if found.permitted is not None:
                of_it = of_it[found.permitted[of_it]]
            rows.append(of_it[:missing])
            ranks.append(np.full(len(rows[-1]), place, dtype=np.int64))
            missing -= len(rows[-1])
            if not missing:
                break
        at_rows = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        at = np.concatenate(ranks) if ranks else np.empty(0, dtype=np.int64)
        return FoundRows(self.row_numbers[at_rows], scores[at], semantic[at], found.share[at])

    def text_scores(self, asked: RowQuestion, weights: RowWeights) -> tuple[Floats, NDArray[np.uint16]]:
        """For every text: its similarity to the question in [0, 1], and which of the terms it holds, as bits."""
        near = np.zeros(self.texts + 1, dtype=np.float32)  # the last one is the empty cell
        if asked.composed is not None and len(self.composed_ids):
            near[self.composed_ids] = self._composed(asked.composed)
        if asked.vector is not None and len(self.whole_ids):
            near[self.whole_ids] = self.whole_vectors @ asked.vector
        held = np.zeros(self.texts + 1, dtype=np.uint16)
        for bit, (words, _) in enumerate(asked.terms[:MAX_TERMS]):
            for word in words:
                texts = self.postings[self.posting_starts[word] : self.posting_starts[word + 1]]
                held[texts] |= np.uint16(1 << bit)
        return np.where(near > 0, weights.scaled(near), 0).astype(np.float32), held

    def _composed(self, question: Floats) -> Floats:
        length = float(np.linalg.norm(question)) or 1.0
        similar = (self.word_vectors @ (question / length)).astype(np.float32)
        sums = _sums(similar[self.units], self.unit_starts)
        empty = self.norms == 0
        sums *= self.scale[1] / np.where(empty, 1, self.norms)
        sums += self.scale[0]
        sums[empty] = 0
        return sums

    def _permitted(self, allowed: NDArray[np.int64]) -> NDArray[np.bool_]:
        """By row: whether its number is among these, which are in order."""
        permitted = np.zeros(len(self.row_numbers), dtype=bool)
        whole = len(self.row_numbers) > 0 and self.row_numbers[-1] == len(self.row_numbers)
        places = allowed - 1 if whole else np.searchsorted(self.row_numbers, allowed)
        permitted[places] = True
        return permitted

    def _combinations_of(self, permitted: NDArray[np.bool_]) -> NDArray[np.int64]:
        flags = np.zeros(self.combinations.shape[1], dtype=bool)
        flags[self.row_combination[permitted]] = True
        return np.flatnonzero(flags)


def _possible(near: Floats, held: NDArray[np.uint16], codes: Ints, least: float, count: int) -> NDArray[np.int64]:
    """Places of the combinations with a word of the question or a near cell, and of the `count` nearest others."""
    marked = near.copy()
    marked[held > 0] += HOLDS
    bound = marked[codes[0]]
    for column in codes[1:]:
        np.maximum(bound, marked[column], out=bound)
    places = np.flatnonzero(bound >= least)
    others = np.where(bound >= HOLDS, -1.0, bound) if count else bound
    if count >= len(bound):
        return np.arange(len(bound))
    nearest = np.argpartition(-others, count - 1)[:count] if count else np.empty(0, dtype=np.int64)
    return np.union1d(places, nearest)


def _weights(terms: Sequence[tuple[Ints, float]]) -> Floats:
    """For every set of terms, as bits, its share of the whole weight."""
    weights = np.array([weight for _, weight in terms[:MAX_TERMS]], dtype=np.float32)
    sets = np.arange(1 << len(weights))
    total = float(weights.sum()) or 1.0
    held = (sets[:, None] >> np.arange(len(weights))) & 1
    return (held @ weights / total).astype(np.float32)


def _best(scores: NDArray[np.float64], k: int, threshold: float) -> NDArray[np.int64]:
    """Places of the best scores that reach the threshold, best first, ties in order."""
    passing = np.flatnonzero(scores >= threshold)
    if len(passing) > 4 * k:
        cut = np.partition(scores[passing], len(passing) - k)[len(passing) - k]
        passing = passing[scores[passing] >= cut]
    return passing[np.argsort(-scores[passing], kind="stable")]


def _sums(values: Floats, starts: NDArray[np.int64]) -> Floats:
    """Sums of stretches of values; 0 for those without any."""
    if not len(values):
        return np.zeros(len(starts) - 1, dtype=np.float32)
    sums: Floats = np.add.reduceat(values, np.minimum(starts[:-1], len(values) - 1))
    sums[np.diff(starts) == 0] = 0
    return sums


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
