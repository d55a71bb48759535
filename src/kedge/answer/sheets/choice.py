"""The second weighing: how likely each of the best answers is right, by boosted trees over what the first one found.

Trees ask the same question at every node of a level, so that a few array operations answer for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kedge.answer.sheets.features import GROUP_NAMES
from kedge.answer.sheets.rowsets import Feature
from kedge.answer.sheets.weigher import Floats, Weighable, candidate_scores, shares

CONSIDERED = 12
"""Answers that are weighed again."""
_LOOKED_AT = 60
"""Best candidates among which the operations of an answer are counted."""
OPERATIONS = (
    "select", "count", "distinct", "sum", "mean", "most", "first", "last", "next", "previous", "difference", "range",
    "most frequent", "larger count", "most of two", "rows between", "sum of counts", "difference of counts", "yes",
    "no",
)  # fmt: skip
KINDS = ("number", "year", "date", "text", "empty")
SIGHTS = ("num", "second", "both", "margin", "date", "year", "span", "parts")
SIGNS = ("=", ">", ">=", "<", "<=")
_TOLD: dict[str, tuple[tuple[str, int], ...]] = {
    "answer column": (("answer level", 1), ("answer near", 2)),
    "answer rank": (("answer rank", 1),),
    "answer filtered": (("answer filtered", 1),),
    "answer meant": (("answer meant", 1), ("answer meant near", 2)),
    "sight meant": (("sight meant", 1), ("sight meant near", 2)),
    "sight": (("sight level", 1), ("sight kind", 2), ("sight near", 3)),
    "left": (("left", 1),),
    "left share": (("left share", 1),),
    "left named": (("left named", 1),),
    "left rare": (("left rare", 1),),
    "left numbers": (("left numbers", 1),),
    "conditions": (("conditions", 1),),
    "size": (("size", 1), ("plural", 2)),
    "in question": (("in question", 1), ("either", 2), ("type", 3)),
    "found": (("found how", 1), ("found length", 2)),
    "found column": (("found column", 1),),
    "found rows": (("found rows", 1),),
    "found share": (("found share", 2),),
    "found rivals": (("found rivals", 1), ("found best", 2)),
    "found is heading": (("found is heading", 1),),
    "tie": (("tie", 1),),
    "compared": (("compared sign", 1),),
    "compared column": (("compared level", 1),),
    "compared near": (("compared near", 1),),
    "most": (("most sign", 1),),
    "number": (("number", 2),),
    "distinct": (("distinct level", 1), ("distinct near", 2)),
}
"""What the second weighing reads off the features of a candidate: a name, and which part of the feature it is."""
TOLD = tuple(dict.fromkeys(name for told in _TOLD.values() for name, _ in told))
_PLACE = {name: number for number, name in enumerate(TOLD)}
HIGHEST = frozenset(("found how", "found rivals", "found rows"))
_WORD_NUMBERS: dict[object, float] = {
    name: float(number) for names in (KINDS, SIGHTS, SIGNS) for number, name in enumerate(names)
}


@lru_cache(maxsize=65536)
def told_by(feature: Feature) -> tuple[tuple[int, float], ...]:
    """(place in TOLD, value) for what a feature tells."""
    out = []
    for name, place in _TOLD.get(str(feature[0]), ()):
        part = feature[place]
        value = _WORD_NUMBERS.get(part) if isinstance(part, str) else float(part) if isinstance(part, int) else None
        if value is not None:
            out.append((_PLACE[name], value))
    return tuple(out)


def described(features: Sequence[Feature]) -> list[float]:
    """What the features of one candidate tell; NaN for what none of them does."""
    out = [float("nan")] * len(TOLD)
    for feature in features:
        for place, value in told_by(feature):
            known = out[place]
            if math.isnan(known):
                out[place] = value
            else:
                out[place] = max(known, value) if TOLD[place] in HIGHEST else min(known, value)
    return out


@dataclass(frozen=True, slots=True)
class Ranked:
    """The best answers of the first weighing, best first, ready for the second."""

    answers: NDArray[np.int64]
    """Numbers of the answers."""
    best: NDArray[np.int64]
    """Number of the best candidate of each."""
    rows: Floats
    """One line of figures for each, without what `described` tells."""


def ranked(one: Weighable, by_feature: Floats, ops: Sequence[str], length: int) -> Ranked:
    """The figures by which the answers of a question are weighed again."""
    scores = candidate_scores(one, by_feature)
    share = shares(scores)
    mass = np.bincount(one.answer_of, weights=share, minlength=one.answers)
    plans = np.bincount(one.answer_of, minlength=one.answers)
    order = np.argsort(-scores, kind="stable")
    best = np.full(one.answers, -1)
    best[one.answer_of[order[::-1]]] = order[::-1]
    top = np.argsort(-mass, kind="stable")[:CONSIDERED]
    logs = np.log(mass + 1e-12)
    kinds: dict[int, set[str]] = {}
    for candidate in order[:_LOOKED_AT]:
        kinds.setdefault(int(one.answer_of[candidate]), set()).add(ops[candidate])
    whole = [
        float(length), np.log(len(scores)), -float((mass * logs).sum()), float(mass[top[0]]),
        float(mass[top[1]]) if len(top) > 1 else 0.0,
    ]  # fmt: skip
    ends = np.append(one.starts[1:], len(one.flat))
    lines: list[list[float]] = []
    first = np.zeros(len(GROUP_NAMES))
    for rank, answer in enumerate(top):
        candidate = best[answer]
        own = one.flat[one.starts[candidate] : ends[candidate]]
        groups: Floats = np.zeros(len(GROUP_NAMES))
        np.add.at(groups, one.groups[own], by_feature[own])
        first = groups if rank == 0 else first
        other = mass[top[1]] if rank == 0 and len(top) > 1 else mass[top[0]] if rank else 1e-9
        gap = float(scores[candidate] - scores.max())
        lines.append(
            [
                logs[answer], float(rank), logs[answer] - np.log(other + 1e-12), float(np.log(plans[answer])), gap,
                float(share[candidate] / max(mass[answer], 1e-12)), float(len(kinds.get(int(answer), ()))),
                *groups, *(groups - first), *whole, *(float(ops[candidate] == op) for op in OPERATIONS),
            ]
        )  # fmt: skip
    return Ranked(top, best[top], np.array(lines, dtype=np.float64))


def beside_reader(chances: Floats, support: Sequence[float]) -> Floats:
    """One line of figures for each answer: what the weights and the reader say of it, alone and against the others.

    `support` is of the first answers, as many as were read.
    """
    told = np.log(np.clip(chances, 1e-6, 1 - 1e-6)) - np.log1p(-np.clip(chances, 1e-6, 1 - 1e-6))
    read = np.full(len(chances), np.nan)
    read[: len(support)] = support
    known = read[: len(support)]
    spread = np.full(len(chances), np.nan)
    if len(known):
        spread[: len(known)] = known - (known.max() + np.log(np.exp(known - known.max()).sum()))
    order = np.full(len(chances), np.nan)
    order[: len(known)] = np.argsort(np.argsort(-known))
    weighed = told - (told.max() + np.log(np.exp(told - told.max()).sum()))
    highest = np.full(len(chances), known.max() if len(known) else np.nan)
    return np.stack(
        [told, told - _best_other(told), weighed, read, read - _best_other(read), spread, order, highest], axis=1
    )


def with_reader(chances: Floats, support: Sequence[float], mixed: Trees) -> Floats:
    """The chances where the reader was heard: the mean of what the weights say alone and of what both say together.

    Together they choose better, alone the weights know better when they are sure.
    """
    return (chances + mixed(beside_reader(chances, support))) / 2


def _best_other(values: Floats) -> Floats:
    """For each value the highest of the others; 0 where there is none."""
    out = np.zeros(len(values))
    for place in range(len(values)):
        others = np.delete(values, place)
        others = others[np.isfinite(others)]
        out[place] = others.max() if len(others) else 0.0
    return out


@dataclass(frozen=True, slots=True)
class Trees:
    """Boosted trees of one depth."""

    columns: NDArray[np.int16]
    """Which figure each level of each tree asks for: trees × depth."""
    limits: NDArray[np.float32]
    """Whether it is above this; NaN is not."""
    leaves: NDArray[np.float32]
    """What each leaf adds: trees × 2 ** depth."""
    base: float

    def __call__(self, rows: Floats) -> Floats:
        """The chance of each line, from 0 to 1."""
        depth = self.columns.shape[1]
        with np.errstate(invalid="ignore"):
            bits = rows[:, self.columns] > self.limits[None]
        leaf = (bits * (1 << np.arange(depth))).sum(axis=2)
        total = self.base + self.leaves[np.arange(len(self.columns)), leaf].sum(axis=1)
        return np.asarray(1.0 / (1.0 + np.exp(-total)), dtype=np.float64)
