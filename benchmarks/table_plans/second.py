"""Lines for the second weighing: the best answers of each question, by weights that have not seen its table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.table_plans.fit import by_table, fit_without, learn_vocabulary
from benchmarks.table_plans.prepare import Prepared, with_grams
from kedge.answer.sheets.choice import HIGHEST, TOLD, ranked
from kedge.answer.sheets.weigher import feature_scores

FOLDS = 5
FLAGS = 120
"""Words of questions that the second weighing sees."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lines:
    """The best answers of one question."""

    question: Prepared
    rows: Floats
    right: NDArray[np.bool_]
    best: NDArray[np.int64]


def telling_words(questions: Sequence[Prepared], vocabulary: dict[str, int]) -> list[str]:
    """The most frequent words and pairs."""
    counts = dict.fromkeys(vocabulary, 0)
    for one in questions:
        for gram in one.grams:
            if gram in counts:
                counts[gram] += 1
    return sorted(counts, key=lambda gram: (-counts[gram], gram))[:FLAGS]


def lines_of(
    questions: Sequence[Prepared], weights: NDArray[np.float32], vocabulary: dict[str, int], words: Sequence[str]
) -> list[Lines]:
    """The lines of every question that has a candidate."""
    out = []
    for one in with_grams(questions, vocabulary):
        if one.arrays is None:
            continue
        found = ranked(one.arrays, feature_scores(one.arrays, weights), one.ops, one.length)
        flags = [float(word in one.grams) for word in words]
        told = [_described(one, int(candidate)) for candidate in found.best]
        rows = np.concatenate([found.rows, np.array(told), np.tile(flags, (len(told), 1))], axis=1)
        out.append(Lines(one, rows, one.right[found.answers], found.best))
    return out


def _described(one: Prepared, candidate: int) -> list[float]:
    """As `choice.described`, from the arrays."""
    assert one.arrays is not None
    ends = np.append(one.arrays.starts[1:], len(one.arrays.flat))
    own = one.arrays.flat[one.arrays.starts[candidate] : ends[candidate]]
    out = [float("nan")] * len(TOLD)
    told = one.told[np.isin(one.told[:, 0], own)]
    for _, place, value in told:
        known = out[int(place)]
        if math.isnan(known):
            out[int(place)] = float(value)
        else:
            out[int(place)] = float(max(known, value) if TOLD[int(place)] in HIGHEST else min(known, value))
    return out


def out_of_fold(questions: Sequence[Prepared], words: Sequence[str]) -> list[Lines]:
    """Lines of all questions, each by weights learned from other tables."""
    vocabulary = learn_vocabulary(questions)
    known = with_grams(questions, vocabulary)
    folds = by_table(known, FOLDS)
    out: list[Lines] = []
    for number, weights in enumerate(fit_without(known, folds, vocabulary)):
        out += lines_of([one for one in known if folds[one.path] == number], weights, vocabulary, words)
    return out
