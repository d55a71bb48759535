"""What a sentence may state, as a plain question about it, for a judge that reads the sentence.

`benchmarks.relations.asked` packs the same questions for the reader's training.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kedge.core.values import Predicate
from kedge.ingest.extract.candidates import RelationCandidate
from kedge.ingest.extract.chunks import BLANK

LONGEST = 110
"""Characters of a sentence that a judge sees; more where the phrases stand further apart."""
QUESTIONS = {
    Predicate.PREREQUISITE: "Does {} require {}?",
    Predicate.PART_OF: "Is {} a part of {}?",
    Predicate.EXAMPLE_OF: "Is {} a kind of {}?",
    Predicate.IMPLEMENTS: "Does {} implement {}?",
    Predicate.USES: "Does {} use {}?",
    Predicate.COMPARED_TO: "Is {} compared to {}?",
    Predicate.RELATED_TO: "Is {} related to {}?",
}
_BLANKS = re.compile(rf"{BLANK}+")


@dataclass(frozen=True, slots=True)
class AskedRelation:
    """A relation that a sentence may state."""

    title: str
    """Of the document."""
    sentence: str
    question: str


class RelationJudge(Protocol):
    """Says what sentences state."""

    def __call__(self, asked: Sequence[AskedRelation]) -> list[float]:
        """For each the log-odds that the sentence says yes, in order. The same alone and among others.

        Raises ModelError when a model fails.
        """


def asked_of(title: str, text: str, place: tuple[int, int], one: RelationCandidate) -> AskedRelation:
    """A candidate of the sentence at a place, as a question."""
    names = one_line(one.subject.name), one_line(one.object.name)
    return AskedRelation(title, shown(text, place, one), QUESTIONS[one.cue.cue.predicate].format(*names))


def shown(text: str, place: tuple[int, int], one: RelationCandidate) -> str:
    """The sentence there; of a long one the part around the phrases and the words between them."""
    start, end = place
    chunks = [side.chunk for side in (one.subject, one.object) if side.chunk is not None]
    first = min([one.cue.start, *(chunk.start for chunk in chunks)])
    last = max([one.cue.end, *(chunk.end for chunk in chunks)])
    spare = max(0, LONGEST - (last - first))
    low = max(start, first - spare // 2)
    high = min(end, low + (last - first) + spare)
    low = max(start, min(low, high - LONGEST))
    while low > start and text[low - 1].isalnum():
        low -= 1
    while high < end and text[high].isalnum():
        high += 1
    return one_line(text[low:high])


def one_line(text: str) -> str:
    """In one line, and short where code or a formula stands."""
    return _BLANKS.sub("…", " ".join(text.split()))
