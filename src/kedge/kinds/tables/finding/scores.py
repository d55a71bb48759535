"""What a row's similarities and words say together: a score in which 0.6 means the same with every model (T-16).

The weights are learned from questions with known rows (`python -m benchmarks.row_scores --learn`), for each model that
Kedge carries: for rows whose text as a whole has a vector and for those of which only the cells have. A model that is
not among them is brought to the scale of the first by the similarities it gives to pairs of a question and a row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.models.ports import Embedder

Floats = NDArray[np.float32]
FIT = 0.25
"""Similarity of a cell from which on it counts beside the best one."""
KEYWORD = 0.9
"""Score of a row that holds every word of the question, whatever the vectors say."""
RARELY = 3
"""Power of the share of the question's words that a row holds, where vectors speak too: some words alone say little."""
USUAL = "minilm"
"""The model to whose scale others are brought."""
SAME = {"minilm:int8": "minilm"}
"""Models whose similarities are those of another, computed otherwise."""
LEAST_SPREAD = 0.05
STEEPEST = 2.5


@dataclass(frozen=True, slots=True)
class RowWeights:
    """Of a logistic function. `cells`: bias, best cell, beside it, share of words, its square, gap to the best row.

    `whole`: bias, the row's own similarity, then as in `cells`, with the gap of the row's own similarity.
    """

    cells: tuple[float, ...]
    whole: tuple[float, ...]
    slope: float = 1.0
    """A similarity of the model times this, plus `shift`, is one of the model that the weights were learned for."""
    shift: float = 0.0

    def scaled(self, similar: Floats) -> Floats:
        """Similarities on the scale of the weights, from 0 to 1."""
        found: Floats = np.clip(self.slope * similar + self.shift, 0, 1).astype(np.float32)
        return found

    def of_cells(self, best: Floats, beside: Floats, share: Floats, top: float) -> NDArray[np.float64]:
        """Scores of rows by their cells; `top` is the best similarity of any of them."""
        bias, own, others, words, square, gap = self.cells
        z = bias + own * best + others * beside + words * share + square * share**2 + gap * (best - top)
        return mixed(_logistic(z), share)

    def of_whole(self, whole: Floats, best: Floats, beside: Floats, share: Floats, top: float) -> NDArray[np.float64]:
        """Scores of rows by their text as a whole and by their cells; `top` is the best of `whole`."""
        bias, all_of, own, others, words, square, gap = self.whole
        z = bias + all_of * whole + own * best + others * beside + words * share + square * share**2
        return mixed(_logistic(z + gap * (whole - top)), share)

    def least(self, threshold: float, columns: int, top: float) -> float:
        """Best similarity of a cell below which no row without a word of the question reaches the threshold."""
        best = np.linspace(0, 1, 201, dtype=np.float32)
        beside = (columns - 1) * np.maximum(best - FIT, 0)
        scores = self.of_cells(best, beside, np.zeros_like(best), top)
        passing = np.flatnonzero(scores >= threshold)
        return float(best[max(0, passing[0] - 1)]) if len(passing) else 1.1


def by_words(share: Floats) -> NDArray[np.float64]:
    """Scores where there are no vectors."""
    return KEYWORD * share.astype(np.float64)


def mixed(near: NDArray[np.float64], share: Floats) -> NDArray[np.float64]:
    """A score by meaning together with the words that are held."""
    return 1 - (1 - near) * (1 - KEYWORD * share.astype(np.float64) ** RARELY)


def weights_of(model: str, anchors: Sequence[float], *, composed: bool) -> RowWeights:
    """The weights of an embedder; `anchors` are what `measured` gave for it, or nothing.

    `composed`: whether texts of cells are composed of their words, which spreads similarities otherwise.
    """
    known = shipped(composed=composed)
    if model in known:
        return known[model]
    usual = known[USUAL]
    if len(anchors) != 2 or anchors[1] - anchors[0] < LEAST_SPREAD:
        return usual
    foreign, own = usual_anchors(USUAL)
    slope = min((own - foreign) / (anchors[1] - anchors[0]), STEEPEST)
    return RowWeights(usual.cells, usual.whole, slope, foreign - slope * anchors[0])


async def measured(embedder: Embedder) -> tuple[float, float] | None:
    """Similarity that a question has to foreign rows, and to its own; None for a model whose weights are shipped."""
    if embedder.name in shipped(composed=False):
        return None
    return await anchors_of(embedder)


async def anchors_of(embedder: Embedder) -> tuple[float, float]:
    """Similarity of the shipped questions to rows that are not theirs, and to those that are: the medians."""
    pairs: Sequence[tuple[str, str]] = _data()["pairs"]
    asked = np.stack([await embedder.embed_query(question) for question, _ in pairs])
    cosines = asked @ np.asarray(await embedder.embed([text for _, text in pairs])).T
    foreign = cosines[~np.eye(len(pairs), dtype=bool)]
    return float(np.median(foreign)), float(np.median(np.diag(cosines)))


def usual_anchors(model: str) -> tuple[float, float]:
    """The same, as it is shipped for a model; that of the usual one for others."""
    known = _data()["anchors"]
    foreign, own = known.get(SAME.get(model, model), known[USUAL])
    return foreign, own


@cache
def shipped(*, composed: bool) -> Mapping[str, RowWeights]:
    """By the name of an embedder, for texts that are composed of words or for those that are embedded."""
    kind = "composed" if composed else "embedded"
    found = {name: ways[kind] for name, ways in _data()["weights"].items()}
    found |= {name: found[like] for name, like in SAME.items()}
    return {name: RowWeights(tuple(one["cells"]), tuple(one["whole"])) for name, one in found.items()}


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath("scores.json").read_text("utf-8"))
    return found


def _logistic(z: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-z.astype(np.float64)))
