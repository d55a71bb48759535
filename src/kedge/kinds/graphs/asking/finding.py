"""From a question to ranked answers: the nodes it names, the paths that say what it says, what they lead to."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kedge.core.values import Json, Scope
from kedge.kinds.graphs.asking.asked import around
from kedge.kinds.graphs.asking.expected import may_be, sort_of_relation, sort_of_type, wanted
from kedge.kinds.graphs.asking.linking import Linker, NodeMention
from kedge.kinds.graphs.asking.matching import Meanings, PathMatcher, Said, stems
from kedge.kinds.graphs.asking.walking import MAX_STEPS, FoundPath, opaque, walk
from kedge.kinds.graphs.naming import relation_name
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
CHECKED = 20
"""Readings, and answers of each, whose sort is looked at."""
TELLING = frozenset(
    "describe explain summarise summarize summary overview information info introduce define definition meaning "
    "mean exactly more something everything".split()
)
"""Words that ask for whatever there is to say."""
WORTHLESS = -0.3
"""Score of a path that says nothing of the question."""
LEAST, FIT, SAID = -3.55, 3.43, 5.03
"""Log-odds that a path answers: by its fit, and by how well it says the word of the question that it says worst.
Learned from every twelfth question of pq2h, every thirtieth of wc2014, questions of each about entities of the other,
and half of those of `benchmarks.graph_asked` that a graph does not answer."""
MIDDLE, STEEPNESS = 0.27, 10.0
"""For two paths that meet: fit that is as likely right as wrong, and how fast that changes."""

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
    said: tuple[Said, ...] = ()
    """For each path, how well it and the words around its entity say each other."""

    @property
    def unsaid(self) -> float | None:
        """How well it says the word of the question that it says worst; None for two paths, which share the words."""
        if len(self.said) != 1:
            return None
        return min(self.said[0].words or self.said[0].steps)

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
    itself: tuple[str, ...] = ()
    """Nodes that the question asks about and of which it asks nothing in particular: `Who is Ada?`."""

    @property
    def probability(self) -> float:
        """That the best reading answers the question."""
        if not self.readings:
            return 0.0
        best = self.readings[0]
        odds = STEEPNESS * (best.fit - MIDDLE) if best.unsaid is None else LEAST + FIT * best.fit + SAID * best.unsaid
        sure = 1 / (1 + math.exp(-odds))
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
    if _asks_itself(text, mentions):
        return UnderstoodGraph((), tuple(mentions), False, mentions[0].nodes)
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
    fitting = await _of_the_sort(text, store, scope, _distinct(useful)[:CHECKED], counts=counts)
    return UnderstoodGraph(fitting, tuple(mentions), counts)


def _asks_itself(text: str, mentions: Sequence[NodeMention]) -> bool:
    """Whether the question names one thing and asks nothing of it but who or what it is."""
    asked = around(text, [(mentions[0].start, mentions[0].end)])
    open_question = asked.asking in ("", "who", "what") and len(mentions) == 1
    return open_question and all(word.text in TELLING for word in asked.words)


async def _of_the_sort(
    text: str, store: NodeStore, scope: Scope, readings: Sequence[GraphReading], *, counts: bool
) -> tuple[GraphReading, ...]:
    """The readings with those answers alone that are of the sort that is asked for; a height is no town."""
    asked = wanted(text)
    if not asked:
        return tuple(readings)
    said = stems(text)
    held = await store.nodes(scope, list({node for one in readings for node in one.answers[:CHECKED]}))

    def fits(node: str, reading: GraphReading) -> bool:
        step = reading.found[0].path[-1]
        if node in reading.values:
            return may_be(asked, "", reading.values[node])
        if counts:
            return True
        type = held[node].type if node in held else ""
        if stems(relation_name(type).words) & said:  # `Which range …` asks for one, in a graph that has ranges
            return True
        found = sort_of_type(type)
        found = found or sort_of_relation(step.type, outgoing=step.outgoing)
        return may_be(asked, found, (held[node].title if node in held else "") or node)

    kept = [(one, tuple(node for node in one.answers if fits(node, one))) for one in readings]
    return tuple(replace(one, answers=answers) for one, answers in kept if answers)


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
    return GraphReading((found,), answers, found.score, matcher.fit(found.path), (matcher.said(found.path),))


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
