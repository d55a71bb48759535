"""From a question to ranked answers: the nodes it names, the paths that say what it says, what they lead to."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kedge.core.values import Json, Scope
from kedge.kinds.graphs.asking.asked import around
from kedge.kinds.graphs.asking.linking import Linker, NodeMention
from kedge.kinds.graphs.asking.matching import Meanings, PathMatcher
from kedge.kinds.graphs.asking.walking import MAX_STEPS, FoundPath, opaque, walk
from kedge.stores.graph.nodes import Node, NodeStore

CLOSE = 0.7
"""Paths whose score is within this of the best are other readings of the question."""
CLEAR = 0.95
"""Fit of a reading beside which others must be closer still."""
OTHER_READINGS = 2
LOOKED_AT = 30
"""Paths from each entity that are combined with those of another."""
MEETING = 2
"""Most steps from an entity to an answer that another entity leads to as well."""
FURTHER = 0.4
"""Price of every step beyond the first on the way to a meeting."""
ENTITY = 0.5
"""What it is worth that a second entity of the question is used."""
MISSPELT = 1.5
"""Price of a name that is only nearly one, times what it lacks."""
WORTHLESS = -0.3
"""Score of a path that says nothing of the question."""
MIDDLE, STEEPNESS = 0.27, 10.0
"""Fit that is as likely right as wrong, and how fast that changes; measured by `benchmarks/kgqa.py`."""

Candidates = Callable[[], Awaitable[Mapping[str, Node]]]
"""Nodes that full-text search finds for the question: asked only when it names none exactly."""


@dataclass(frozen=True, slots=True)
class GraphReading:
    """One way to understand the question, with everything it leads to."""

    found: tuple[FoundPath, ...]
    """One path, or one from each of two entities that meet in the answers."""
    answers: tuple[str, ...]
    """Nodes, best first."""
    score: float
    fit: float
    """How much of the question it says, in [0, 1]."""

    @property
    def values(self) -> Mapping[str, Json]:
        """Values of a property that was asked for, by node."""
        return self.found[0].values


@dataclass(frozen=True, slots=True)
class UnderstoodGraph:
    """What was made of a question."""

    readings: tuple[GraphReading, ...]
    """Best first; empty when it names no node or no path says anything of it."""
    mentions: tuple[NodeMention, ...]
    counts: bool
    """It asks how many there are."""

    @property
    def probability(self) -> float:
        """That the best reading answers the question."""
        if not self.readings:
            return 0.0
        best = self.readings[0]
        sure = 1 / (1 + math.exp(-STEEPNESS * (best.fit - MIDDLE)))
        return sure * min((mention.likeness for mention in self.mentions), default=1.0)

    @property
    def close(self) -> list[GraphReading]:
        """The best reading and others that are nearly as good."""
        if not self.readings:
            return []
        best = self.readings[0]
        within = 0.0 if self.counts else CLOSE if best.fit < CLEAR else CLOSE / 4
        return [one for one in self.readings[: 1 + OTHER_READINGS] if one is best or one.score > best.score - within]

    def ranked(self) -> list[tuple[str, GraphReading]]:
        """Answers in the order in which they are cited: the best of each close reading, then the others."""
        firsts = [(reading.answers[0], reading) for reading in self.close]
        rest = [(node, reading) for reading in self.close[:1] for node in reading.answers]
        ranked: dict[str, GraphReading] = {}
        for node, reading in (*firsts, *rest):
            ranked.setdefault(node, reading)
        return list(ranked.items())


async def understand(
    text: str, store: NodeStore, scope: Scope, meanings: Meanings, candidates: Candidates
) -> UnderstoodGraph:
    """Find the paths of a graph that answer the question."""
    linker = Linker(text)
    mentions = await linker.exact(store, scope) or linker.near(await candidates())
    if not mentions:
        return UnderstoodGraph((), (), False)
    singles: list[GraphReading] = []
    names = [mention for mention in mentions if not _plain(text, mention)]
    for mention in names or mentions:
        matcher = PathMatcher(around(text, [(mention.start, mention.end)]), meanings)
        for found in await _paths(store, scope, mention, matcher):
            singles.append(_single(found, matcher))
    pairs = await _pairs(text, store, scope, meanings, mentions)
    ranked = sorted((*singles, *pairs), key=lambda one: (-one.score, one.found[0].path))
    useful = tuple(one for one in ranked if one.answers and one.score > WORTHLESS)
    counts = around(text, [(mentions[0].start, mentions[0].end)]).counts
    return UnderstoodGraph(_distinct(useful), tuple(mentions), counts)


async def _paths(
    store: NodeStore, scope: Scope, mention: NodeMention, matcher: PathMatcher, steps: int = MAX_STEPS
) -> list[FoundPath]:
    found: list[FoundPath] = []
    for node in mention.nodes:
        found += await walk(store, scope, node, matcher, steps=steps)
    priced = [replace(one, score=one.score - MISSPELT * (1 - mention.likeness)) for one in found]
    return sorted(priced, key=lambda one: (-one.score, one.path))[:LOOKED_AT]


def _single(found: FoundPath, matcher: PathMatcher) -> GraphReading:
    answers = tuple(node for node in found.answers() if not opaque(node))
    return GraphReading((found,), answers, found.score, matcher.fit(found.path))


async def _pairs(
    text: str, store: NodeStore, scope: Scope, meanings: Meanings, mentions: Sequence[NodeMention]
) -> list[GraphReading]:
    """Answers that paths from two different entities of the question have in common."""
    if len(mentions) < 2:
        return []
    spans = [(mention.start, mention.end) for mention in mentions]
    sides: list[list[tuple[FoundPath, float, float]]] = []
    for place, mention in enumerate(mentions):
        matcher = PathMatcher(around(text, spans, place), meanings)
        found = [one for one in await _paths(store, scope, mention, matcher, MEETING) if not one.values]
        sides.append([(one, matcher.fit(one.path), matcher.unused) for one in found])
    made = []
    for left in range(len(sides)):
        for right in range(left + 1, len(sides)):
            bonus = 0.0 if _plain(text, mentions[left]) or _plain(text, mentions[right]) else ENTITY
            made += [_met(one, other, bonus) for one in sides[left] for other in sides[right]]
    return [one for one in made if one is not None]


def _plain(text: str, mention: NodeMention) -> bool:
    """One word in small letters: it may be a node's name, or just a word of the question."""
    said = text[mention.start : mention.end]
    return said.isalpha() and said.islower()


def _met(
    one: tuple[FoundPath, float, float], other: tuple[FoundPath, float, float], bonus: float
) -> GraphReading | None:
    left, right = one[0], other[0]
    common = left.reached.keys() & right.reached.keys() - {left.start, right.start}
    answers = [node for node in left.answers() if node in common and not opaque(node)]
    if not answers:
        return None
    # Each side pays for the words that the other uses: what all words cost is given back once.
    score = left.score + right.score + one[2] + bonus
    score -= FURTHER * (len(left.path) + len(right.path) - 2)  # a word that both sides use is counted twice
    return GraphReading((left, right), tuple(answers), score, min(1.0, 0.6 * (one[1] + other[1])))


def _distinct(readings: Sequence[GraphReading]) -> tuple[GraphReading, ...]:
    """Without readings that lead to the same answers as a better one."""
    seen: set[tuple[object, ...]] = set()
    kept = []
    for reading in readings:
        mark = (frozenset(reading.answers), tuple(sorted(map(str, reading.values.items()))))
        if mark not in seen:
            seen.add(mark)
            kept.append(reading)
    return tuple(kept)
