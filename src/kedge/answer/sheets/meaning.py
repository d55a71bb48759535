"""How near the words of a question are to headings that it does not name, by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kedge.answer.sheets.words import FUNCTION_WORDS
from kedge.retrieve.soft import open_vectors

STEPS = (0.45, 0.6, 0.75)
"""From each of these similarities on a heading is a step nearer."""
SHORTEST = 3
"""Shorter words mean too many things."""
Vector = NDArray[np.float32]


@lru_cache(maxsize=32768)
def _vector(word: str) -> Vector | None:
    vectors = open_vectors()
    if vectors is None or len(word) < SHORTEST or not word.isalpha():
        return None
    (found,) = vectors.tokens([[word]])
    if not found:
        return None
    mean = vectors.vectors[found].mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-6), dtype=np.float32)


def meant_by(words: Sequence[str], headings: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """For each heading: how near the nearest word of the question is, in steps from 0, and its place."""
    places = [place for place, word in enumerate(words) if word not in FUNCTION_WORDS and _vector(word) is not None]
    out = [(0, -1)] * len(headings)
    if not places:
        return out
    asked = np.stack([vector for place in places if (vector := _vector(words[place])) is not None])
    for number, heading in enumerate(headings):
        own = [vector for word in heading if (vector := _vector(word)) is not None]
        if own:
            near = (asked @ np.stack(own).T).max(axis=1)
            best = int(near.argmax())
            out[number] = (sum(float(near[best]) >= step for step in STEPS), places[best])
    return out
