"""What is shown of each of several passages where a question is read beside all of them at once: its title and the
sentences that say most.

A sentence says much where it holds words of the question, rare ones among these passages most, and where it names
another of the passages: that is where one leads to the next.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.text.analyze import terms
from kedge.text.sentences import sentences

LINK = 1.5
"""What the name of another passage is worth, beside rare words of the question."""
OPENING = 0.6
"""What the first sentence is worth by itself: it says what the passage is about."""
KEPT = 3
"""Sentences of each passage that are kept."""
LONGEST_NAME = 6
"""Words of a title that is looked for in other passages."""
MOST = 40
"""Sentences of a passage that are looked at."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """A passage in a few sentences."""

    title: str
    places: tuple[int, ...]
    """Numbers of the sentences kept, the most telling first."""
    sentences: tuple[str, ...]
    """The sentences, in the same order."""


@dataclass(frozen=True, slots=True)
class TermedText:
    """A passage as it is looked at."""

    title: str
    sentences: tuple[str, ...]
    words: tuple[frozenset[str], ...]
    """Search terms of each sentence."""
    name: frozenset[str]
    """Search terms of the title."""


def termed(title: str, text: str) -> TermedText:
    """The passage's first sentences with their search terms."""
    parts = tuple(text[start:end] for start, end in sentences(text)[:MOST])
    words = tuple(frozenset(terms(one, "english")) for one in parts)
    return TermedText(title, parts, words, frozenset(terms(title, "english")))


def sketches(question: str, passages: Sequence[tuple[str, str]]) -> list[Sketch]:
    """One for each passage, in order; a passage is its title and its text.

    >>> sketches("Who built the Ark?", [("Ark", "It is old. Noah built the Ark.")])[0].sentences
    ('Noah built the Ark.', 'It is old.')
    """
    return sketched(question, [termed(title, text) for title, text in passages])


def sketched(question: str, passages: Sequence[TermedText]) -> list[Sketch]:
    """The same of passages whose terms are known already."""
    asked = dict.fromkeys(terms(question, "english"))
    everywhere = Counter(term for one in passages for term in one.name.union(*one.words) if term in asked)
    weights = {term: math.log(1 + len(passages) / count) for term, count in everywhere.items()}
    names = {
        one.name
        for one in passages
        if 0 < len(one.name) <= LONGEST_NAME and not all(term in asked for term in one.name)
    }
    found: list[Sketch] = []
    for one in passages:
        others = [name for name in names if name != one.name]
        worth = [
            math.fsum(weights.get(term, 0.0) for term in words)  # a set has no order: the sum must not depend on it
            + LINK * any(name <= words for name in others)
            + OPENING * (place == 0)
            for place, words in enumerate(one.words)
        ]
        best = sorted(range(len(worth)), key=lambda place: (-worth[place], place))[:KEPT]
        found.append(Sketch(one.title, tuple(best), tuple(one.sentences[place] for place in best)))
    return found
