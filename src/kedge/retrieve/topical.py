"""What kind of text is searched for with, and what asks for a topic rather than for a fact.

A claim or a description has few words of what suits it, so there vectors count more than in a question; how much more
depends on the embedder. To a topic, a description of what is looked for, many passages suit, and they resemble each
other. So the three best say what the others are measured by, and each passage listens to more of its neighbours
(`rerank.smooth`). A question that names something has one answer, which its rivals resemble most, and so has a claim
that is to be checked: both are left alone. How the numbers were chosen: docs/explanation/retrieval.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kedge.retrieve.parameters import PARAMETERS
from kedge.retrieve.rerank import Smoothing, adaptive, smooth
from kedge.text.languages import DEFAULT, guess
from kedge.text.question import asks
from kedge.text.sentences import sentences

Array = NDArray[np.float32]
_TOPICAL = PARAMETERS["topical"]
_SOUGHT = re.compile(
    r"\b(?:I|me|we|any|articles?|papers?|texts?|books?|information|interested|discuss\w*|describ\w*)\b", re.I
)
BEST: int = _TOPICAL["best"]
"""Passages that say what the topic is."""
WEIGHT: float = _TOPICAL["weight"]
"""What the passage gains that resembles them most, on the scale 0 to 2; the one that does least gains nothing."""
WHOLE: float = _TOPICAL["whole"]
"""Share of the question's words, by rarity, from which on one passage may be the whole answer."""
WIDE = Smoothing(neighbours=_TOPICAL["neighbours"], weight=_TOPICAL["smoothing"])
_WHETHER = re.compile(
    r"\W*(?:is|are|was|were|has|have|had|can|could|do|does|did|will|would|should|may|might|must)\b", re.I
)
"""Opens a question that takes yes or no, also where no question mark ends it."""
Kind: TypeAlias = Literal["question", "statement", "topic"]
NAMED = re.compile(r"(?<=\S )[\"“'(]?(?:[A-Z]|\d)")
"""A name or a number behind the first word."""

_QUOTED = re.compile(r"[\"“«„]\s*+[^\s\"“”«»„]++\s++[^\"“”«»„]++[\"”»“]")
_NUMBER = re.compile(r"\d")
FEW = 8
"""A question that quotes a phrase, and so many words with a number or a quoted phrase, want these very words."""


def kind_of(question: str, cover: float) -> Kind:
    """What the text is: a question, a statement, or a description of what is looked for; English alone is told apart.

    `cover` is the largest share of the weight of its words that one candidate holds. One that holds nearly all of them
    may be the whole answer, and the text is left to be a question.

    >>> [kind_of(text, 0.5) for text in ("Slip flow cools.", "Who built the Ark?", "what is slip flow?")]
    ['statement', 'question', 'topic']
    """
    foreign = sum(letter.isalpha() and not letter.isascii() for letter in question) * 5 >= len(question)
    if cover >= WHOLE or foreign or guess(question) != DEFAULT:
        return "question"
    if asks(question) or _WHETHER.match(question):
        return "question" if NAMED.search(question) or _QUOTED.search(question) else "topic"
    if _claims(question):
        return "statement"
    few = len(question.split()) <= FEW
    return "question" if few and (_NUMBER.search(question) or _QUOTED.search(question)) else "topic"


def dense_weight(embedder: str, kind: Kind) -> float:
    """What a full share of the best cosine counts, beside 1 for a full share of the best keyword score.

    >>> dense_weight("granite", "statement"), dense_weight("a model that was not measured", "statement")
    (2.5, 1.0)
    """
    weights: Mapping[str, Mapping[Kind, float]] = PARAMETERS["dense"]
    return weights.get(embedder, weights["usual"])[kind]


def _claims(text: str) -> bool:
    """Whether a text that asks nothing is one full sentence, and says of no text that it is looked for."""
    return text.rstrip().endswith(".") and len(sentences(text)) == 1 and _SOUGHT.search(text) is None


def by_topic(scores: Array, vectors: Array, bonus: float) -> Array:
    """New scores of the candidates, in the same order; `vectors` holds a unit vector of each.

    `bonus` is the question's best graph bonus: the surer the graph, the less changes. A passage is never measured by
    itself.
    """
    surely = max(0.0, 1.0 - bonus)
    if surely and len(scores) > BEST:
        scores = scores + WEIGHT * surely * _resemblance(smooth(scores, vectors, adaptive(bonus)), vectors)
    return smooth(scores, vectors, adaptive(bonus, WIDE))


def _resemblance(scores: Array, vectors: Array) -> Array:
    """How much each resembles the best, from 0 for the least to 1 for the most."""
    best = np.argsort(-scores, kind="stable")[:BEST]
    above = scores[best] - scores.min()
    if not above.sum():
        return np.zeros(len(scores), dtype=np.float32)
    shares = above / above.sum()
    found = (vectors @ vectors[best].T) @ shares
    own = np.minimum(shares, 0.999)
    found[best] = (found[best] - own) / (1 - own)
    spread = found.max() - found.min()
    return np.asarray((found - found.min()) / spread if spread > 0 else np.zeros(len(scores)), dtype=np.float32)
