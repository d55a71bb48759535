"""Finds the nodes that a question names: exactly, by the longest name first; else by what is nearly its name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from kedge.core.values import Scope
from kedge.kinds.graphs.asking.asked import FUNCTION_WORDS
from kedge.stores.graph.nodes import Node, NodeStore
from kedge.stores.graph.rules import name_key, name_keys

LONGEST = 12
"""Most words of a name."""
SAME_NAME = 5
"""Nodes of one name that are looked at."""
MENTIONS = 4
"""Entities of one question that are looked at."""
ALIKE = 0.84
"""Least likeness of a misspelt name."""
PART = 0.75
"""Likeness of a part of a name, such as a surname."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class NodeMention:
    """A stretch of the question that names nodes."""

    start: int
    end: int
    nodes: tuple[str, ...]
    likeness: float
    """1 for an exact name."""


@dataclass(frozen=True, slots=True)
class _NameRun:
    first: int
    last: int
    key: str


class Linker:
    """The runs of words in one question that may be names."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
        self._runs = [run for run in self._all_runs() if run.key]

    def _all_runs(self) -> list[_NameRun]:
        found = []
        for first in range(len(self._words)):
            for last in range(first, min(len(self._words), first + LONGEST)):
                start, end = self._words[first][0], self._words[last][1]
                key = name_key(self._text[start:end])
                if not all(word in FUNCTION_WORDS for word in key.split()):
                    found.append(_NameRun(first, last, key))
        return found

    async def exact(self, store: NodeStore, scope: Scope) -> list[NodeMention]:
        """Names as they are; of two that overlap the longer, of equal ones the first."""
        found = await store.named(scope, [run.key for run in self._runs], SAME_NAME)
        held = [run for run in self._runs if run.key in found]
        held.sort(key=lambda run: (-(run.last - run.first), run.first))
        return self._apart([(run, tuple(found[run.key]), 1.0) for run in held])

    def near(self, candidates: Mapping[str, Node]) -> list[NodeMention]:
        """Names that are nearly so: misspelt, or a part that the question gives of a longer name."""
        scored: list[tuple[_NameRun, tuple[str, ...], float]] = []
        for node in candidates.values():
            for run in self._runs:
                likeness = max((_likeness(run.key, key) for key in name_keys(node)), default=0.0)
                if likeness >= PART:
                    scored.append((run, (node.id,), likeness))
        scored.sort(key=lambda item: (-item[2], -(item[0].last - item[0].first), item[0].first, item[1]))
        return self._apart(scored)

    def _apart(self, scored: Sequence[tuple[_NameRun, tuple[str, ...], float]]) -> list[NodeMention]:
        taken: set[int] = set()
        spans: dict[tuple[int, int], NodeMention] = {}
        for run, nodes, likeness in scored:
            place = (run.first, run.last)
            if place in spans:
                held = spans[place]
                if likeness == held.likeness and likeness < 1 and len(held.nodes) < SAME_NAME:
                    spans[place] = NodeMention(held.start, held.end, (*held.nodes, *nodes), likeness)
            elif not taken & set(range(run.first, run.last + 1)) and len(spans) < MENTIONS:
                taken |= set(range(run.first, run.last + 1))
                start, end = self._words[run.first][0], self._words[run.last][1]
                spans[place] = NodeMention(start, end, nodes, likeness)
        return list(spans.values())


def _likeness(run: str, key: str) -> float:
    """How much a run of words is like a name, in [0, 1].

    >>> _likeness("lionel mesi", "lionel messi") > ALIKE, _likeness("messi", "lionel messi") == PART
    (True, True)
    """
    words, names = run.split(), key.split()
    if set(words) <= set(names) and max(map(len, words)) > 3 and not set(words) & FUNCTION_WORDS:
        return PART + (1 - PART) * 0.8 * (len(words) - 1) / max(1, len(names) - 1)
    if abs(len(words) - len(names)) > 1 or min(len(run), len(key)) < 4:
        return 0.0
    matcher = SequenceMatcher(None, run, key)
    if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= ALIKE else 0.0
