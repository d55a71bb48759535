"""A logistic model over the judge's features, its signs fixed: more coverage can never mean less confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

SIGNS = {
    "sentence_cosine": 1, "passage_cosine": 1, "sentence_coverage": 1, "set_coverage": 1, "sentence_gap": -1,
    "set_gap": -1, "names_in_sentence": 1, "names_in_set": 1, "phrases": 1, "negation_unmet": -1, "opposite": -1,
    "type_missing": -1, "agreement": 1, "keyword_strength": 1, "spread": 1, "title_coverage": 1,
}  # fmt: skip
DENSE_ONLY = frozenset({"sentence_cosine", "passage_cosine", "agreement"})
_LEXICAL = [name for name in SIGNS if name not in DENSE_ONLY]
VARIANTS = {"dense": list(SIGNS), "lexical": _LEXICAL, "dense_foreign": list(SIGNS), "lexical_foreign": _LEXICAL}
"""Features by what is known; the names are those of `kedge.answer.judge.calibrated.variant_of`."""


@dataclass(frozen=True)
class Model:
    """Weights of the features as they are."""

    names: Sequence[str]
    weights: Array
    bias: float

    def __call__(self, values: Array) -> Array:
        result: Array = 1 / (1 + np.exp(-(values @ self.weights + self.bias)))
        return result

    def as_json(self) -> dict[str, float]:
        kept = {name: round(float(w), 4) for name, w in zip(self.names, self.weights, strict=True) if abs(w) > 1e-4}
        return {"bias": round(self.bias, 4), **kept}


def fit(
    values: Array,
    labels: Array,
    weight: Array,
    names: Sequence[str],
    *,
    l2: float = 1.0,
    signs: Mapping[str, int] = SIGNS,
) -> Model:
    """Weighted logistic regression: accelerated projected gradient on standardised features.

    `signs` say which way a feature may move the probability; those that it does not name may move it both ways.
    """
    sign = np.array([signs.get(name, 0) for name in names])
    mean = np.average(values, axis=0, weights=weight)
    scale = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weight)) + 1e-3
    z, n = (values - mean) / scale, weight.sum()
    step = 1 / (0.25 * np.linalg.eigvalsh((z * weight[:, None]).T @ z / n)[-1] + l2 / n + 0.25)
    w, b = np.zeros(z.shape[1]), 0.0
    w_before, b_before = w, b
    for k in range(800):
        momentum = k / (k + 3)
        w_ahead, b_ahead = w + momentum * (w - w_before), b + momentum * (b - b_before)
        w_before, b_before = w, b
        residual = weight * (1 / (1 + np.exp(-(z @ w_ahead + b_ahead))) - labels) / n
        w = w_ahead - step * (z.T @ residual + l2 / n * w_ahead)
        b = b_ahead - step * float(residual.sum())
        w = np.where(w * sign < 0, 0.0, w)
    raw = w / scale
    return Model(names, raw, b - float(raw @ mean))


def auroc(labels: Flags, scores: Array) -> float:
    """Chance that an answerable question scores above an unanswerable one."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = int(labels.sum())
    return float((ranks[labels].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive)))


def calibration_error(labels: Flags, scores: Array, bins: int = 10) -> float:
    """Mean distance, over ten bins, of the probability from what happened."""
    which = np.minimum((scores * bins).astype(int), bins - 1)
    return float(
        sum(
            abs(labels[which == k].mean() - scores[which == k].mean()) * (which == k).mean()
            for k in set(which.tolist())
        )
    )
