"""What a language model gets to read: the best passages, each thing once, whole sentences, within its window (G-10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kedge.core.values import Passage, SearchHit
from kedge.core.values.identity import heading as headings_of
from kedge.text.sentences import sentences

CountTokens = Callable[[Sequence[str]], list[int]]
FRAME = 24
"""Tokens that the boundary and the title of a source cost beside their text."""
LEAST = 48
"""Fewest tokens for which a part of a long source is worth showing."""
LARGEST_SHARE = 0.5
"""Most of the budget that one source may take where there are several."""


@dataclass(frozen=True, slots=True)
class PromptSource:
    """One numbered text of the prompt: a passage, or several that follow each other in one document."""

    places: tuple[int, ...]
    """Its passages' places among the hits, in reading order."""
    title: str
    text: str
    tokens: int
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What was chosen, and what was left out."""

    sources: tuple[PromptSource, ...]
    """Best first; the first has number 1."""
    duplicates: int = 0
    """Passages whose text another one has too."""
    dropped: int = 0
    """Passages for which there was no room."""

    @property
    def tokens(self) -> int:
        return sum(source.tokens for source in self.sources)

    @property
    def places(self) -> frozenset[int]:
        """Hits that the model can read."""
        return frozenset(place for source in self.sources for place in source.places)


def build_context(hits: Sequence[SearchHit], count: CountTokens, *, budget: int, most: int) -> Context:
    """Choose from the hits: at most `most` passages and `budget` tokens, the lowest-scored left out first."""
    order = sorted(range(len(hits)), key=lambda place: (-hits[place].score, place))
    distinct = _distinct(hits, order)
    kept = distinct[:most]
    groups = _joined(hits, kept)
    sources: list[PromptSource] = []
    left = budget
    for group in groups:
        share = left if len(groups) == 1 else min(left, max(int(budget * LARGEST_SHARE), LEAST + FRAME))
        source = _source(hits, group, count, share - FRAME)
        if source is None:
            break  # what follows scores lower
        sources.append(source)
        left -= source.tokens + FRAME
    shown = sum(len(source.places) for source in sources)
    return Context(tuple(sources), len(order) - len(distinct), len(distinct) - shown)


def _distinct(hits: Sequence[SearchHit], order: Sequence[int]) -> list[int]:
    """Without passages whose text is in another one; of equal ones the better stays."""
    plain = {place: " ".join(hits[place].passage.text.split()).casefold() for place in order}
    kept: list[int] = []
    for rank, place in enumerate(order):
        others = [other for other in order if other != place and plain[place] in plain[other]]
        if any(plain[other] != plain[place] or order.index(other) < rank for other in others):
            continue
        if plain[place]:
            kept.append(place)
    return kept


def _joined(hits: Sequence[SearchHit], kept: Sequence[int]) -> list[list[int]]:
    """Passages that follow each other in one document are one source; the best group first."""
    groups: list[list[int]] = []
    ranked = {place: rank for rank, place in enumerate(kept)}
    by_document: dict[tuple[str, str], list[int]] = {}
    for place in kept:
        passage = hits[place].passage
        by_document.setdefault((passage.document_id, passage.version_id), []).append(place)
    for places in by_document.values():
        last: Passage | None = None
        for place in sorted(places, key=lambda one: hits[one].passage.index):
            passage = hits[place].passage
            if last is not None and passage.index == last.index + 1:
                groups[-1].append(place)
            else:
                groups.append([place])
            last = passage
    return sorted(groups, key=lambda group: min(ranked[place] for place in group))


def _source(hits: Sequence[SearchHit], group: Sequence[int], count: CountTokens, room: int) -> PromptSource | None:
    """The group as one text that fits, or None."""
    title = heading(hits[group[0]].passage)
    text = _text([hits[place].passage for place in group])
    (tokens,) = count([text])
    if tokens <= room:
        return PromptSource(tuple(group), title, text, tokens)
    if len(group) > 1:  # rather the best one whole than the first ones
        best = max(group, key=lambda place: hits[place].score)
        return _source(hits, [best], count, room)
    cut = _cut(text, count, room) if room >= LEAST else ""
    if not cut:
        return None
    return PromptSource(tuple(group), title, cut, count([cut])[0], truncated=True)


def heading(passage: Passage) -> str:
    """What the document calls itself, and the section path: a text is read under its headings."""
    return headings_of(passage.identity, passage.title, passage.section_path)


def _text(passages: Sequence[Passage]) -> str:
    """The passages as they stand in the document; what two of them share is there once."""
    text = passages[0].text
    for before, passage in pairwise(passages):
        shared = before.end - passage.start
        text += passage.text[shared:] if shared > 0 else f"\n\n{passage.text}"
    return text


def _cut(text: str, count: CountTokens, room: int) -> str:
    """The longest start of the text that fits and ends with a sentence."""
    ends = [end for _, end in sentences(text)]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count([text[: ends[middle - 1]]])[0] <= room else (low, middle - 1)
    return text[: ends[low - 1]] if low else ""
