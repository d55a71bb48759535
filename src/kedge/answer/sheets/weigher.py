"""The first weighing: every feature has a weight, alone and together with each word of the question.

Log-linear, learned by `python -m benchmarks.table_plans` from questions with known answers. Weights lie in one table
that is addressed by a hash of feature and word, so that no list of millions of names is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from kedge.answer.sheets.enumerate import Enumerated
from kedge.answer.sheets.features import feature_key, group_of, is_lexical

BITS = 22
SLOTS = 1 << BITS
Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Keys = NDArray[np.uint64]
_FIRST, _SECOND, _THIRD = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xC2B2AE3D27D4EB4F),
    np.uint64(0xBF58476D1CE4E5B9),
)


@dataclass(frozen=True, slots=True)
class Weighable:
    """The candidates of a question as arrays."""

    keys: Keys
    """Of each feature."""
    lexical: NDArray[np.bool_]
    groups: NDArray[np.int8]
    flat: NDArray[np.int32]
    """Features of the first candidate, of the second, …"""
    starts: NDArray[np.int32]
    """Where each candidate's begin."""
    answer_of: NDArray[np.int32]
    """Which of the different answers each candidate gives."""
    answers: int
    """How many different answers there are."""
    grams: Keys
    """Numbers of the question's words that the weigher knows; 0 stands for none."""


def weighable(made: Enumerated, vocabulary: Mapping[str, int]) -> Weighable:
    """The arrays of an enumeration with at least one candidate."""
    features, candidates = made.features, made.candidates
    lengths = [len(one.features) for one in candidates]
    numbers: dict[tuple[str, ...], int] = {}
    answer_of = [numbers.setdefault(one.answers, len(numbers)) for one in candidates]
    return Weighable(
        keys=np.array([feature_key(one) for one in features], dtype=np.uint64),
        lexical=np.array([is_lexical(one) for one in features], dtype=np.bool_),
        groups=np.array([group_of(one) for one in features], dtype=np.int8),
        flat=np.fromiter(chain.from_iterable(one.features for one in candidates), np.int32, sum(lengths)),
        starts=np.array([0, *accumulate(lengths)][:-1], dtype=np.int32),
        answer_of=np.array(answer_of, dtype=np.int32),
        answers=len(numbers),
        grams=gram_numbers(made.grams, vocabulary),
    )


def gram_numbers(grams: Iterable[str], vocabulary: Mapping[str, int]) -> Keys:
    """The known ones, in order."""
    return np.array(sorted(vocabulary[gram] for gram in grams if gram in vocabulary), dtype=np.uint64)


def slots(keys: Keys, grams: Keys) -> Whole:
    """Where the weights of each feature with each word lie."""
    mixed = (keys[:, None] * _FIRST) ^ (grams[None, :] * _SECOND)
    mixed ^= mixed >> np.uint64(29)
    mixed *= _THIRD
    mixed ^= mixed >> np.uint64(32)
    return np.asarray(mixed & np.uint64(SLOTS - 1), dtype=np.int64)


ALONE = np.zeros(1, dtype=np.uint64)


def feature_scores(one: Weighable, weights: NDArray[np.float32]) -> Floats:
    """What each feature adds."""
    scores = weights[slots(one.keys, ALONE)[:, 0]].astype(np.float64)
    if len(one.grams):
        scores[one.lexical] += weights[slots(one.keys[one.lexical], one.grams)].sum(axis=1)
    return scores


def candidate_scores(one: Weighable, by_feature: Floats) -> Floats:
    """What each candidate's features add up to."""
    return np.asarray(np.add.reduceat(by_feature[one.flat], one.starts), dtype=np.float64)


def shares(scores: Floats) -> Floats:
    """Scores as shares of one."""
    raised = np.exp(scores - scores.max())
    return np.asarray(raised / raised.sum(), dtype=np.float64)
