"""Learns the weights of the first weighing: gradient steps that raise the share of all candidates that are right."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.table_plans.prepare import Prepared, with_grams
from kedge.answer.sheets.weigher import ALONE, SLOTS, Weighable, candidate_scores, slots

EPOCHS = 5
RATE = 0.05
SHRINK = 1e-3
SEEN = 4
"""A word or pair of words in fewer questions is not weighed."""


def learn_vocabulary(questions: Sequence[Prepared]) -> dict[str, int]:
    """Words and pairs with their numbers, from 1."""
    counts = Counter(gram for one in questions for gram in one.grams)
    kept = sorted(gram for gram, count in counts.items() if count >= SEEN)
    return {gram: number for number, gram in enumerate(kept, start=1)}


def fit_weights(
    questions: Sequence[Prepared], vocabulary: dict[str, int], seed: int = 0, epochs: int = EPOCHS
) -> NDArray[np.float32]:
    """AdaGrad over the questions that have a right candidate."""
    weights = np.zeros(SLOTS, dtype=np.float32)
    seen = np.ones(SLOTS, dtype=np.float32)
    usable = with_grams([one for one in questions if one.reachable], vocabulary)
    shuffled = np.random.default_rng(seed)
    for _ in range(epochs):
        for number in shuffled.permutation(len(usable)):
            one = usable[number]
            assert one.arrays is not None
            _step(one.arrays, one.right[one.arrays.answer_of], weights, seen)
    return weights


def by_table(questions: Sequence[Prepared], folds: int) -> dict[str, int]:
    """The fold of each table."""
    paths = sorted({one.path for one in questions})
    random.Random(1).shuffle(paths)
    return {path: number % folds for number, path in enumerate(paths)}


def fit_without(
    questions: Sequence[Prepared], folds: dict[str, int], vocabulary: dict[str, int], epochs: int = EPOCHS
) -> list[NDArray[np.float32]]:
    """For each fold the weights that were learned from all others, two at a time."""
    with get_context("fork").Pool(2, _keep, (questions, folds, vocabulary, epochs)) as pool:
        return pool.map(_without, range(max(folds.values()) + 1), chunksize=1)


_kept: tuple[Sequence[Prepared], dict[str, int], dict[str, int], int] = ((), {}, {}, 0)
"""What a process that learns weights has from the one that started it: too much to be sent."""


def _keep(*given: Any) -> None:
    global _kept  # noqa: PLW0603 (set once, when the process starts)
    _kept = given  # type: ignore[assignment]


def _without(fold: int) -> NDArray[np.float32]:
    questions, folds, vocabulary, epochs = _kept
    return fit_weights([one for one in questions if folds[one.path] != fold], vocabulary, epochs=epochs)


def _step(one: Weighable, right: NDArray[np.bool_], weights: NDArray[np.float32], seen: NDArray[np.float32]) -> None:
    alone = slots(one.keys, ALONE)[:, 0]
    together = slots(one.keys[one.lexical], one.grams)
    by_feature = weights[alone].astype(np.float64)
    by_feature[one.lexical] += weights[together].sum(axis=1)
    scores = candidate_scores(one, by_feature)
    raised = np.exp(scores - scores.max())
    pull = np.where(right, raised, 0.0) / max(float(raised[right].sum()), 1e-300) - raised / raised.sum()
    lengths = np.diff(np.append(one.starts, len(one.flat)))
    moved = np.bincount(one.flat, weights=np.repeat(pull, lengths), minlength=len(one.keys)).astype(np.float32)
    active = np.abs(moved) > 1e-6
    _move(weights, seen, alone[active], moved[active])
    among = active[one.lexical]
    if among.any() and together.size:
        wide = np.broadcast_to(moved[one.lexical][among][:, None], (int(among.sum()), together.shape[1]))
        _move(weights, seen, together[among].ravel(), wide.ravel())


def _move(
    weights: NDArray[np.float32], seen: NDArray[np.float32], where: NDArray[np.int64], pull: NDArray[np.float32]
) -> None:
    step = pull - SHRINK * weights[where]
    total = seen[where] + step * step
    seen[where] = total
    weights[where] += RATE * step / np.sqrt(total)
