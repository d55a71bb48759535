"""How well a path's relations say what the question says: every word is used by one step, every step by some words.

The words around an entity are read outwards from it; a path's steps take consecutive runs of them. A step is worth
what its best phrase is worth (by shared stems or nearness of meaning), less what of the relation's name nobody said;
words that no step uses cost as much as they look like relations. Nothing here is learned from any graph.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import Stemmer

from kedge.kinds.graphs.asking.asked import FAMILY, FUNCTION_WORDS, VAGUE, EntityWords, compounds_split
from kedge.kinds.graphs.naming import relation_name
from kedge.models.ports import Embedder

Floats = npt.NDArray[np.float64]

PHRASE_WORDS = 3
"""Most words of a phrase that names one relation."""
FAR, NEAR = 0.2, 0.7
"""Cosines that mean nothing and everything: between them meaning counts in proportion."""
LIKE = 0.9
"""The most that meaning alone is worth: the very word is worth more."""
UNSAID = 0.4
"""Price of a step whose relation nobody said; in part, where a part was said."""
STEP = 0.2
"""Price of every step: of two ways that say the same, the shorter."""
BACKWARDS = 0.2
"""Price of a step against an edge's direction."""
VALUE = 0.3
"""Price of ending at a node's property rather than at a node."""
UNUSED = 0.4
"""Share of a word's best likeness to any relation that is lost when no step uses it."""
DISORDER = 0.3
"""Price of reading the words inwards instead of outwards."""
FURTHER_WORD = 0.5
"""What every further word of a phrase adds, unless function words stand between."""
ALONE = 0.7
"""Worth of a question word that stands for a relation by itself: `where` for a place."""
BY_TYPE = 0.9
"""Worth of naming the type of the node a step leads to, instead of its relation."""

KNOWN = 0.5
"""Likeness below which a word of the family, whose relation is known, names another one by half of it at most."""
WRONG_TYPE = 0.5
"""Price of ending at nodes of another type than the one that was asked for."""

_WORD = re.compile(r"\w+")
_stemmer = Stemmer.Stemmer("english")


class Step(NamedTuple):
    """One step of a path, whatever nodes it leads between."""

    type: str
    """The edge's type, or the property's name."""
    outgoing: bool
    leads_to: str = ""
    """Type of the node at its end, if they are all of one."""
    is_property: bool = False


Path = tuple[Step, ...]


@lru_cache(maxsize=65536)
def stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning.

    >>> sorted(stems("plays for country"))
    ['countri', 'play']
    """
    return frozenset(_stemmer.stemWord(word) for word in _WORD.findall(text.lower()) if word not in FUNCTION_WORDS)


class Meanings:
    """Vectors of short phrases, remembered."""

    def __init__(self, embedder: Embedder, memory: dict[str, npt.NDArray[np.float32]]) -> None:
        self._embedder = embedder
        self._memory = memory

    async def learn(self, texts: Sequence[str]) -> None:
        """Embed those that are new."""
        new = [text for text in dict.fromkeys(texts) if text not in self._memory]
        if new:
            self._memory.update(zip(new, await self._embedder.embed(new), strict=True))

    def cosines(self, left: Sequence[str], right: Sequence[str]) -> Floats:
        """Of all pairs; both have been learned."""
        if not left or not right:
            return np.zeros((len(left), len(right)))
        rows = np.stack([self._memory[text] for text in left])
        return (rows @ np.stack([self._memory[text] for text in right]).T).astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Phrase:
    text: str
    first: int
    last: int
    """Places among the outward words."""
    weight: float
    final: bool = False
    """With the question word before it: for the last step only."""


class WordOrder:
    """One way to read the question: its words in one order."""

    def __init__(self, asked: EntityWords, price: float) -> None:
        self.asked = asked
        self.price = price
        self.phrases = list(_phrases(asked))

    def texts(self) -> list[str]:
        """All that must be embedded."""
        said = [phrase.text for phrase in self.phrases]
        return [*said, *(FAMILY[text] for text in said if text in FAMILY), *self.asked.kinds]


def readings(asked: EntityWords) -> list[WordOrder]:
    """Outwards, with compound words taken apart if there are any; inwards at a price."""
    split = compounds_split(asked)
    forms = [asked] if split is None else [asked, split]
    found = [WordOrder(form, 0.0) for form in forms]
    if len(asked.words) > 1:
        found += [WordOrder(replace(form, words=form.words[::-1]), DISORDER) for form in forms]
    return found


def _phrases(asked: EntityWords) -> list[_Phrase]:
    found: list[_Phrase] = []
    prefix = asked.asking if asked.asking not in ("", "what", "which", "how many", "how much") else ""
    for first in range(len(asked.words)):
        for last in range(first, min(len(asked.words), first + PHRASE_WORDS)):
            text = asked.phrase(first, last)
            if text is None:
                continue
            joined = any(word in FUNCTION_WORDS for word in _WORD.findall(text))
            weight = 1.0 if joined else 1.0 + FURTHER_WORD * (last - first)
            found.append(_Phrase(text, first, last, weight))
            if prefix:
                found.append(_Phrase(f"{prefix} {text}", first, last, weight, final=True))
    return found


class Said(NamedTuple):
    """How well a question and a path say each other; each value in [0, 1]."""

    words: tuple[float, ...]
    """For every word of the question that is not vague, its likeness to the step of the path that it is most like."""
    steps: tuple[float, ...]
    """For every step, its likeness to the words that it is most like."""


class PathMatcher:
    """Scores paths against a question. `learn` steps before they are scored."""

    def __init__(self, asked: EntityWords, meanings: Meanings) -> None:
        self.asked = asked
        self._readings = readings(asked)
        self._meanings = meanings
        self._steps: dict[Step, int] = {}
        self._tables: list[_Table] = []

    async def learn(self, steps: Sequence[Step]) -> None:
        """Take these steps into account, from now on and for what was scored before."""
        new = [step for step in dict.fromkeys(steps) if step not in self._steps]
        if not new:
            return
        for step in new:
            self._steps[step] = len(self._steps)
        named = [text for step in new for text in (_said(step), step.leads_to.lower()) if text]
        await self._meanings.learn([*named, *(text for reading in self._readings for text in reading.texts())])
        known = list(self._steps)
        self._tables = [_Table(reading, known, self._meanings) for reading in self._readings]

    def score(self, path: Path) -> float:
        """Higher is better; 0 is what saying nothing is worth."""
        columns = [self._steps[step] for step in path]
        fixed = sum(map(_price, path)) + self._wrong_type(path)
        return max(table.best(columns) - table.reading.price for table in self._tables) - fixed

    def _wrong_type(self, path: Path) -> float:
        """Price of ending at a city where a country was asked for, in a graph that has countries."""
        head, end = stems(self.asked.head), stems(path[-1].leads_to)
        if not head or not end or head & end:
            return 0.0
        return WRONG_TYPE if any(head & stems(step.leads_to) for step in self._steps) else 0.0

    @property
    def unused(self) -> float:
        """What it costs when no word is used at all."""
        return float(self._tables[0].lost) if self._tables else 0.0

    def said(self, path: Path) -> Said:
        """How well the words of the question and the steps of the path say each other, in the best reading."""
        columns = [self._steps[step] for step in path]
        table = max(self._tables, key=lambda one: one.best(columns) - one.reading.price)
        return table.said(columns)

    def fit(self, path: Path) -> float:
        """The score as a share of the best that any path of that many steps could get with these words, in [0, 1]."""
        columns = [self._steps[step] for step in path]
        fixed = sum(map(_price, path))
        found = max(
            ((table.best(columns) - table.reading.price) / max(0.3, table.ideal(len(path))) for table in self._tables),
        )
        return float(np.clip(found - 0.1 * (fixed - STEP * len(path)), 0.0, 1.0))


def _price(step: Step) -> float:
    return STEP + (0.0 if step.outgoing else BACKWARDS) + (VALUE if step.is_property else 0.0)


@lru_cache(maxsize=65536)
def _said(step: Step) -> str:
    return relation_name(step.type).words


class _Table:
    """For one reading: what every run of words is worth as every step."""

    def __init__(self, reading: WordOrder, steps: Sequence[Step], meanings: Meanings) -> None:
        self.reading = reading
        self._count = len(reading.asked.words)
        likeness = _likeness(reading, steps, meanings)
        singles = [likeness[phrase.text] for phrase in reading.phrases if phrase.first == phrase.last]
        self._loss = self._losses(reading, likeness) if singles else np.zeros(0)
        self._inner, self._final = self._values(steps, likeness)
        self._likeness = likeness

    def _losses(self, reading: WordOrder, likeness: Mapping[str, Floats]) -> Floats:
        losses = np.zeros(self._count)
        for phrase in reading.phrases:
            if phrase.first == phrase.last and not phrase.final:
                losses[phrase.first] = UNUSED * likeness[phrase.text].max()
        return losses

    def _values(self, steps: Sequence[Step], likeness: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        count, words = self._count, self.reading.asked.words
        word_stems = [next(iter(stems(word.text)), word.text) for word in words]
        said = [stems(_said(step)) for step in steps]
        hit = np.array([[stem in names for names in said] for stem in word_stems], dtype=bool).reshape(
            count, len(steps)
        )
        typed = np.array([[stem in stems(step.leads_to) for step in steps] for stem in word_stems], dtype=bool)
        # A word that names the type of the node a step leads to is used by that step.
        unused = self._loss[:, None] * ~typed.reshape(count, len(steps))
        total = np.concatenate([np.zeros((1, len(steps))), np.cumsum(unused, axis=0)])
        sizes = np.array([max(1, len(names)) for names in said])
        alone = self._alone(likeness)
        inner = np.empty((count + 1, count + 1, len(steps)))
        final = np.empty_like(inner)
        for first in range(count + 1):
            for end in range(first, count + 1):
                idle = total[end] - total[first]
                best = -UNSAID - idle
                best = np.maximum(best, self._lexical(range(first, end), hit, unused, word_stems, sizes))
                last = best
                for phrase in self.reading.phrases:
                    if first <= phrase.first and phrase.last < end:
                        like = likeness[phrase.text]
                        beside = idle - (total[phrase.last + 1] - total[phrase.first])
                        worth = phrase.weight * like - UNSAID * (1 - like) - beside
                        last = np.maximum(last, worth)
                        if not phrase.final:
                            best = np.maximum(best, worth)
                if alone is not None:
                    last = np.maximum(last + np.maximum(0.0, 2 * alone - ALONE), alone - UNSAID * (1 - alone) - idle)
                inner[first, end], final[first, end] = best, last
        return inner, final

    def _lexical(
        self, run: range, hit: npt.NDArray[np.bool_], unused: Floats, word_stems: list[str], sizes: Floats
    ) -> Floats:
        """Several words of one relation's name, wherever they stand in the run."""
        first, end = run.start, run.stop
        if first == end:
            return np.full(len(sizes), -UNSAID)
        distinct = np.zeros(len(sizes))
        for stem in dict.fromkeys(word_stems[first:end]):
            places = [place for place in range(first, end) if word_stems[place] == stem]
            distinct += hit[places].any(axis=0)
        beside = (unused[first:end] * ~hit[first:end]).sum(axis=0)
        worth = distinct - UNSAID * (1 - np.minimum(1.0, distinct / sizes)) - beside
        found: Floats = np.where(distinct > 0, worth, -UNSAID - unused[first:end].sum(axis=0))
        return found

    def _alone(self, likeness: Mapping[str, Floats]) -> Floats | None:
        kinds = self.reading.asked.kinds
        if not kinds:
            return None
        found: Floats = ALONE * np.max([likeness[kind] for kind in kinds], axis=0)
        return found

    def said(self, columns: Sequence[int]) -> Said:
        """Of these steps, whatever other steps the graph has."""
        words, steps = np.zeros(self._count), np.zeros(len(columns))
        for phrase in self.reading.phrases:
            likeness = self._likeness[phrase.text][list(columns)]
            steps = np.maximum(steps, likeness)
            if phrase.first == phrase.last or phrase.weight > 1.0:  # of `nation of son`, each word says its own
                inside = slice(phrase.first, phrase.last + 1)
                words[inside] = np.maximum(words[inside], likeness.max())
        alone = self._alone(self._likeness)
        if alone is not None:
            steps[-1] = max(steps[-1], alone[columns[-1]])
        named = [
            float(worth) if worth >= KNOWN or word.text not in FAMILY else KNOWN * float(worth)
            for worth, word in zip(words, self.reading.asked.words, strict=True)
            if word.text not in VAGUE
        ]
        return Said(tuple(named), tuple(map(float, steps)))

    @property
    def lost(self) -> float:
        """What all words cost together when none is used."""
        return float(self._loss.sum())

    def best(self, columns: Sequence[int]) -> float:
        """The best division of the words among these steps."""
        worth = np.full(self._count + 1, -np.inf)
        worth[0] = 0.0
        for place, column in enumerate(columns):
            table = (self._final if place == len(columns) - 1 else self._inner)[:, :, column]
            worth = np.array([max(worth[i] + table[i, j] for i in range(j + 1)) for j in range(self._count + 1)])
        rest = np.concatenate([np.cumsum(self._loss[::-1])[::-1], [0.0]])
        return float((worth - rest).max())

    def ideal(self, length: int) -> float:
        """What the words would be worth if every one were used at its best likeness."""
        singles = self._loss / UNUSED if self._count else np.zeros(0)
        return float(max(singles.sum(), ALONE if self.reading.asked.kinds else 0.0, 0.3 * length))


def _likeness(reading: WordOrder, steps: Sequence[Step], meanings: Meanings) -> dict[str, Floats]:
    """For every phrase, how much it is like every step, in [0, 1]."""
    texts = list(dict.fromkeys(reading.texts()))
    names = [_said(step) for step in steps]
    near = _near(meanings.cosines(texts, names))
    typed = [place for place, step in enumerate(steps) if step.leads_to]
    if typed:
        types = meanings.cosines(texts, [steps[place].leads_to.lower() for place in typed])
        near[:, typed] = np.maximum(near[:, typed], BY_TYPE * _near(types))
    for row, text in enumerate(texts):
        mine = stems(text)
        for column, (step, name) in enumerate(zip(steps, names, strict=True)):
            for theirs, worth in ((stems(name), 1.0), (stems(step.leads_to), BY_TYPE)):
                if mine & theirs:
                    near[row, column] = max(near[row, column], worth * len(mine & theirs) / len(mine | theirs))
    place = {text: row for row, text in enumerate(texts)}
    for text in texts:
        if text in FAMILY:
            near[place[text]] = np.maximum(near[place[text]], LIKE * near[place[FAMILY[text]]])
    return {text: near[row] for row, text in enumerate(texts)}


def _near(cosines: Floats) -> Floats:
    found: Floats = LIKE * np.clip((cosines - FAR) / (NEAR - FAR), 0.0, 1.0)
    return found
