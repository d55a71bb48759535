"""Measures of ranking and of answering. Pure functions over ids, labels and probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Gains = Mapping[str, float]
"""Document id → relevance, above 0 for relevant ones."""


def ndcg(ranked: Sequence[str], gains: Gains, depth: int) -> float:
    """Normalised discounted cumulative gain with linear gains, as trec_eval computes it."""
    ideal = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(sorted(gains.values(), reverse=True)[:depth], 1))
    found = sum(gains.get(name, 0.0) / math.log2(rank + 1) for rank, name in enumerate(ranked[:depth], 1))
    return found / ideal if ideal else 0.0


def recall(ranked: Sequence[str], gains: Gains, depth: int) -> float:
    """Share of the relevant documents among the first `depth`."""
    return len(set(ranked[:depth]) & gains.keys()) / len(gains) if gains else 0.0


def all_gold(ranked: Sequence[str], gains: Gains, depth: int) -> float:
    """1 when every relevant document is among the first `depth`, else 0."""
    return float(gains.keys() <= set(ranked[:depth]))


def reciprocal_rank(ranked: Sequence[str], gains: Gains, depth: int) -> float:
    """One over the rank of the first relevant document, 0 when none is within `depth`."""
    return next((1 / rank for rank, name in enumerate(ranked[:depth], 1) if name in gains), 0.0)


def percentile(values: Sequence[float], share: float) -> float:
    """Value below which `share` of the values lie, by linear interpolation."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = math.ceil(place)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float | None:
    """Chance that a positive scores above a negative, ties counting half; None without both kinds."""
    positives = sum(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        return None
    ranks = _mean_ranks(scores)
    total = sum(rank for rank, label in zip(ranks, labels, strict=True) if label)
    return (total - positives * (positives + 1) / 2) / (positives * negatives)


def aurc(scores: Sequence[float], correct: Sequence[bool]) -> float | None:
    """Area under the risk–coverage curve: mean share of wrong answers over all coverages, surest first."""
    if not scores:
        return None
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    wrong = 0
    risks = []
    for answered, index in enumerate(order, 1):
        wrong += not correct[index]
        risks.append(wrong / answered)
    return sum(risks) / len(risks)


def calibration_error(probabilities: Sequence[float], labels: Sequence[bool], bins: int = 10) -> float | None:
    """Expected calibration error over equal-width bins."""
    if not probabilities:
        return None
    groups: list[list[int]] = [[] for _ in range(bins)]
    for index, probability in enumerate(probabilities):
        groups[min(bins - 1, int(probability * bins))].append(index)
    error = 0.0
    for group in groups:
        if group:
            said = sum(probabilities[index] for index in group) / len(group)
            was = sum(labels[index] for index in group) / len(group)
            error += len(group) / len(probabilities) * abs(said - was)
    return error


def _mean_ranks(scores: Sequence[float]) -> list[float]:
    order = sorted(range(len(scores)), key=scores.__getitem__)
    ranks = [0.0] * len(scores)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and scores[order[end + 1]] == scores[order[start]]:
            end += 1
        for place in range(start, end + 1):
            ranks[order[place]] = (start + end) / 2 + 1
        start = end + 1
    return ranks
