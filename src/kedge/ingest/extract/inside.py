"""Which words of a sentence stand inside noun phrases, by weights that were learned from tagged text.

Each word has a class (a list, else its ending), and a linear model over the classes around it decides
(`data/inside.json`, taught by `python -m benchmarks.relations.inside`). English.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kedge.ingest.extract.word_classes import CLOSED, DETERMINING, VERBAL

_MARKS = ',.;:()"-'
_ADJECTIVAL = ("ous", "ive", "able", "ible", "al", "ic", "ary", "ful", "less")
_ENDS = (("ing", "G"), ("ed", "D"), ("ly", "R"), *((end, "J") for end in _ADJECTIVAL))
NEVER = (CLOSED - VERBAL) | frozenset(
    "also only just even still already yet ever never always often sometimes perhaps maybe etc rather again together "
    "instead twice too very quite almost".split()
)
"""No noun phrase holds them."""
OUTSIDE = (
    NEVER
    | DETERMINING
    | frozenset(
        "it they he she we you i is are was were be been being am has have had do does did can could may might must "
        "shall should will would not n't to there here who which that whose what how why when where if".split()
    )
)
"""Words that are told by themselves: no noun phrase goes on with them."""
LEAST = -1.0
"""Of the sum with which a word is taken as inside: a phrase cut short is worse than one with a verb too many."""
SURE = 9.0
START, END = "^", "$"
NAME = "P"


def class_by_shape(word: str) -> str:
    """The class of a word that no list has."""
    if not word[0].isalnum():
        return word if word in _MARKS else "*"
    if word[0].isdigit():
        return "0"
    if word[0].isupper():
        return "P"
    return next((name for end, name in _ENDS if word.endswith(end) and len(word) > len(end) + 2), "N")


@dataclass(frozen=True, slots=True)
class InsideWeights:
    """What was learned."""

    bias: float
    classes: Mapping[str, str]
    """Of words whose class their shape does not tell."""
    weights: Mapping[str, float]

    def class_of(self, word: str) -> str:
        """The class of a word; that of a word told by itself is the word."""
        lower = word.lower()
        if lower in OUTSIDE:
            return lower
        if word[0].isupper() and len(word) > 1:
            return "P"
        return self.classes.get(lower) or class_by_shape(word)

    def sums(self, words: Sequence[str], classes: Sequence[str], named: Sequence[bool]) -> list[float]:
        """For each word how surely it stands inside a noun phrase: above `LEAST` it does.

        `classes` are those of the words with two of `START` before and of `END` behind; `named` are words of a name.
        """
        weights = self.weights
        found: list[float] = []
        before = False
        for place, word in enumerate(words):
            if named[place]:
                found.append(SURE)
            elif classes[place + 2] in OUTSIDE or not word[0].isalnum():
                found.append(-SURE)
            else:
                features = inside_features(word.lower(), classes, place + 2, before=before)
                found.append(self.bias + sum(weights.get(one, 0.0) for one in features))
            before = found[-1] > LEAST
        return found


def inside_features(word: str, classes: Sequence[str], place: int, *, before: bool) -> tuple[str, ...]:
    """What speaks for and against the word at a place of `classes`, which has two more at each end."""
    one, previous, following = classes[place], classes[place - 1], classes[place + 1]
    mark = "1" if before else "0"
    return (
        f"{previous} {one} {following}",
        f"{previous} {one} {mark}",
        f"{one} {following} {mark}",
        f"{one} {following} {classes[place + 2]}",
        f"{classes[place - 2]} {previous} {one}",
        f"={word}",
        f"={word} {mark}",
        f"={word} {following}",
    )


@cache
def inside_weights() -> InsideWeights:
    """Those that the package carries."""
    text = files("kedge.ingest.extract").joinpath("data", "inside.json").read_text(encoding="utf-8")
    found = json.loads(text)
    classes = {word: name for name, words in found["classes"].items() for word in words.split()}
    return InsideWeights(found["bias"], classes, found["weights"])
