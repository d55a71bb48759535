"""Lists in the evidence: items under what leads in to them, rows of a table that a sentence announces.

>>> count_of("List the four DH parameters"), count_of("Which 3 tools are needed?"), count_of("Which tools are needed?")
(4, 3, 0)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.answer.compose.company import LONGEST_LIST, Pick, asks, items_from
from kedge.answer.evidence import ReadEvidence, Stated, cut
from kedge.text.analyze import terms
from kedge.text.question import Question
from kedge.text.statements.statement import Statement

AS_MANY = 6.0
"""What it is worth that a list has as many items as the question names, where what leads in has all of the question."""
BEST_OF = 2
"""So many of a list's statements say how much the reader makes of it."""
WORDS = 4.0
"""What it is worth that what leads in, and its heading, have all words of the question."""
CERTAIN = 4.0
_COUNTS = {
    word: number for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
}
_NUMBERS = frozenset(term for word in (*_COUNTS, *map(str, range(2, 20))) for term in terms(word))
_COUNT = re.compile(
    rf"\b(?P<count>{'|'.join(_COUNTS)}|[2-9]|1\d)\s+(?:[\w-]+\s+){{0,3}}?[\w-]*[^\Wsui]s\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class StatedList:
    """A list in a passage."""

    passage: int
    announced: Statement | None
    """The sentence before it, if it leads in."""
    members: tuple[Statement, ...]
    value: float
    """How well it answers, on the scale of what single statements are worth."""
    led: float
    """How far what leads in has what is asked for."""

    def holds(self, one: Stated) -> bool:
        """Whether a statement is of the list, or leads in."""
        return one.passage == self.passage and one.statement in (self.announced, *self.members)

    def picks(self) -> list[Pick]:
        """All of it, in order, with what leads in."""
        lead = [Pick(self.passage, self.announced)] if self.announced is not None else []
        if self.members[0].kind == "row":
            return [*lead, *(Pick(self.passage, one) for one in self.members)]
        return [*lead, *items_from(self.passage, self.members, 0)]


def count_of(question: str) -> int:
    """How many things a question asks for; 0 where it says no number."""
    found = _COUNT.search(question)
    if not found:
        return 0
    said = found["count"].casefold()
    return _COUNTS.get(said) or int(said)


def best_list(question: Question, evidence: ReadEvidence) -> StatedList | None:
    """The list that answers best; None where nothing that was read is one."""
    wanted = count_of(question.text)
    asked = frozenset(question.terms) - _NUMBERS
    by_place = {(one.passage, one.statement.start): one for one in evidence.stated}
    found: list[StatedList] = []
    for read in evidence.read:
        made = cut(read.passage)
        for first, last in _blocks(made):
            before = made[first - 1] if first else None
            members = made[first:last]
            announced = before if before is not None and _announces(before, members[0]) else None
            own = [
                by_place[place]
                for one in (announced, *members)
                if one and (place := (read.place, one.start)) in by_place
            ]
            if own and not asks(members):
                lead = announced.read if announced is not None else members[0].lead or members[0].caption
                led = _led(asked, question, lead, evidence.headings[read.place])
                value = _worth(own) + WORDS * led + (AS_MANY * led**2 if wanted == len(members) else 0.0)
                found.append(StatedList(read.place, announced, members, value, led))
    return max(found, key=lambda one: (one.value, -one.passage), default=None)


def _led(asked: frozenset[str], question: Question, lead: str, heading: str) -> float:
    """Share of what is asked for, without its number, that leads in to a list; half of it where a heading has it."""
    whole = question.coverage(asked) or 1.0
    own = frozenset(terms(lead))
    near = question.coverage(asked & own) / whole
    return max(near, question.coverage(asked & (own | frozenset(terms(heading)))) / whole / 2)


def _blocks(made: Sequence[Statement]) -> list[tuple[int, int]]:
    """Where lists of at least two begin and end."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(made):
        end = at + 1
        while end < len(made) and _same(made[at], made[end]):
            end += 1
        if made[at].kind in ("item", "row") and 1 < end - at <= LONGEST_LIST:
            found.append((at, end))
        at = end
    return found


def _same(one: Statement, other: Statement) -> bool:
    """Whether two statements are of one list, or of one table."""
    if one.kind != other.kind:
        return False
    return one.lead == other.lead if one.kind == "item" else one.kind == "row" and one.table == other.table


def _announces(before: Statement, first: Statement) -> bool:
    said = before.read.rstrip()
    return before.kind == "sentence" and said.endswith((":", "：")) and before.end <= first.start


def _worth(own: Sequence[Stated]) -> float:
    """What the reader makes of the list, by the statements of it that it makes most of."""
    best = sorted((one.reading.support for one in own), reverse=True)[:BEST_OF]
    return sum(best) / len(best) + min(own[0].about, CERTAIN)
