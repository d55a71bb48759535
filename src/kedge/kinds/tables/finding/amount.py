"""How many rows a question needs: 100, 500 for an aggregate, 200 for each thing that is compared (T-18)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kedge.kinds.tables.asking.lexicon import lexicon_for
from kedge.kinds.tables.asking.words import tokens
from kedge.text.compared import compared

DEFAULT_K, COMPARED_K, MOST_K = 100, 200, 500
_AGGREGATED = (
    "func.",
    "super.",
    "ask.count",
    "ask.much",
    "logic.group",
    "logic.share",
    "logic.distinct",
    "logic.growth",
)
_COMPARED = ("logic.compare", "logic.difference")


@dataclass(frozen=True, slots=True)
class RowAmount:
    """What is looked for, and how much of it."""

    k: int
    """Most rows in all."""
    entities: tuple[str, ...] = ()
    """What is compared: for each of them rows are looked for by themselves."""
    computes: bool = False
    """Whether a figure, an order or a comparison is asked for, so that a plan may answer."""

    @property
    def each(self) -> int:
        """Most rows of one entity."""
        return min(COMPARED_K, self.k)


def amount_of(question: str) -> RowAmount:
    """By the words of the question, in the languages that plans are understood in."""
    tags = frozenset(_tags(question))
    sides = compared(question)
    if sides or any(tag.startswith(_COMPARED) for tag in tags):
        return RowAmount(min(MOST_K, COMPARED_K * max(2, len(sides))), tuple(sides), computes=True)
    if any(tag.startswith(_AGGREGATED) for tag in tags):
        return RowAmount(MOST_K, computes=True)
    return RowAmount(DEFAULT_K)


def _tags(question: str) -> Iterator[str]:
    asked = tokens(question)
    lexicon = lexicon_for(asked)
    place = 0
    while place < len(asked):
        phrase = lexicon.at(asked, place)
        if phrase is not None:
            yield from phrase.tags
        place = phrase.end if phrase else place + 1
