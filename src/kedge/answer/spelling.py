"""Slips of the pen in a question: a word that nobody writes is read as the word of the evidence that was meant.

>>> texts = ["Operating income of each segment.", "Every cycle of the graph is found; a cycle may be negative."]
>>> corrected("opertaing income", lambda word: word == "opertaing", texts)
'operating income'
>>> corrected("Find a negative cicle", lambda word: word == "cicle", texts)
'Find a negative cycle'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

SHORTEST = 5
"""Letters of a word from which on a slip is told from another word."""
LONG = 9
"""Letters from which on a word may have two slips."""
_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|\S*[_/\\@.]\S+")
"""What stands in quotes, names of files and addresses: written as it is meant."""


def corrected(question: str, strange: Callable[[str], bool], texts: Iterable[str]) -> str:
    """The question with each strange word in the spelling of the evidence; the same where there is none like it.

    `strange` says of a word in small letters whether neither the collection nor the language has it.
    """
    quoted = [match.span() for match in _QUOTED.finditer(question)]
    slips = [
        match
        for match in _WORD.finditer(question)
        if len(match.group()) >= SHORTEST
        and match.group()[1:].islower()
        and not any(start <= match.start() < end for start, end in quoted)
        and strange(match.group().lower())
    ]
    if not slips:
        return question
    words = Counter(word.lower() for text in texts for word in _WORD.findall(text))
    for match in reversed(slips):
        meant = _meant(match.group().lower(), words)
        if meant:
            written = meant.capitalize() if match.group()[0].isupper() else meant
            question = question[: match.start()] + written + question[match.end() :]
    return question


def _meant(slip: str, words: Counter[str]) -> str:
    """The nearest word, of several the one that is written most often; empty: none is near."""
    most = 2 if len(slip) >= LONG else 1
    near = [
        (distance, -count, word)
        for word, count in words.items()
        if word[0] == slip[0] and abs(len(word) - len(slip)) <= most and (distance := slips_between(slip, word)) <= most
    ]
    return min(near)[2] if near else ""


def slips_between(one: str, other: str) -> int:
    """How many letters were left out, put in, mistaken or exchanged with the next: the restricted edit distance.

    >>> [slips_between("opertaing", word) for word in ("operating", "opening", "opertaing")]
    [1, 3, 0]
    """
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        here = [row]
        for column, against in enumerate(other, 1):
            cost = min(above[column] + 1, here[column - 1] + 1, above[column - 1] + (letter != against))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against:
                cost = min(cost, before[column - 2] + 1)
            here.append(cost)
        before, above = above, here
    return above[-1]
