"""The light default reranker, first and last step; the soft word match between them is in `soft.py`.

First, every candidate gets its true score in both channels: the blend can only assume the worst for a passage that one
channel did not return. Last, passages that resemble other good passages rise (the cluster hypothesis), which steps back
where the graph has found a chain. Both need only what is stored anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kedge.retrieve.parameters import PARAMETERS

Array = NDArray[np.float32]
_SMOOTHING = PARAMETERS["smoothing"]


@dataclass(frozen=True, slots=True)
class Smoothing:
    """How strongly neighbours speak."""

    neighbours: int = _SMOOTHING["neighbours"]
    """How many most similar candidates each passage listens to."""
    weight: float = _SMOOTHING["weight"]
    """Share of the neighbours' mean score that is added."""
    power: float = _SMOOTHING["power"]
    """Exponent on the similarity: higher listens more to the nearest."""


def exact_blend(
    cosines: Array, keyword: Array, best_cosine: float, best_keyword: float, *, dense: float = 1.0
) -> Array:
    """`fuse.blend` of true scores: the sum of a passage's shares of each channel's best, that of vectors times `dense`.

    A channel that found nothing is left out. A share is at most 1: what the channel did not return cannot count for
    more than what it put first.
    """
    pairs = ((cosines, best_cosine, dense), (keyword, best_keyword, 1.0))
    shares = [weight * np.clip(scores / best, 0.0, 1.0) for scores, best, weight in pairs if best > 0]
    return np.asarray(sum(shares, np.zeros(len(cosines))), dtype=np.float32)


def adaptive(bonus: float, settings: Smoothing = Smoothing()) -> Smoothing:  # noqa: B008 (frozen value)
    """Settings for a question whose best graph bonus is `bonus`: the surer the graph, the less neighbours speak.

    A chain of passages is found because they differ, so smoothing would pull it apart; from a bonus of 1 on it is off.
    """
    return replace(settings, weight=settings.weight * max(0.0, 1.0 - bonus))


def smooth(scores: Array, vectors: Array, settings: Smoothing = Smoothing()) -> Array:  # noqa: B008 (frozen value)
    """New scores of the candidates, in the same order.

    `vectors` holds one unit vector per candidate. Each candidate adds the similarity-weighted mean of its nearest
    candidates' scores above the worst candidate's. With fewer than two candidates nothing changes.
    """
    count = len(scores)
    if count < 2 or settings.weight == 0.0:
        return scores
    similarity = np.maximum(vectors @ vectors.T, 0.0) ** settings.power
    np.fill_diagonal(similarity, 0.0)
    if count > settings.neighbours:
        kth = np.partition(similarity, -settings.neighbours, axis=1)[:, -settings.neighbours, None]
        similarity = np.where(similarity >= kth, similarity, 0.0)
    above = scores - scores.min()
    total = similarity.sum(axis=1)
    mean = np.divide(similarity @ above, total, out=np.zeros(count, dtype=np.float32), where=total > 0)
    return np.asarray(scores + settings.weight * mean, dtype=np.float32)
