"""The weights by which candidates are told from what a sentence states (`data/relations.json`).

A logistic model over a few dozen features of each candidate, taught by `python -m benchmarks.relations.train`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp


@dataclass(frozen=True, slots=True)
class RelationWeights:
    """What was learned."""

    weights: Mapping[str, float]
    threshold: float
    """The least probability of what is taken as stated."""

    def probability(self, features: Iterable[str]) -> float:
        """That a candidate with these features is stated; features not met in training count nothing."""
        weights = self.weights
        total = weights.get("bias", 0.0) + sum(weights.get(one, 0.0) for one in features)
        return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


@cache
def relation_weights() -> RelationWeights:
    """Those that the package carries."""
    text = files("kedge.ingest.extract").joinpath("data", "relations.json").read_text(encoding="utf-8")
    found = json.loads(text)
    return RelationWeights(found["weights"], found["threshold"])
