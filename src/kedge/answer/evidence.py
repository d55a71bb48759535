"""What was found, cut into statements, and what the reader made of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kedge.answer.write.context import heading
from kedge.core.values import TABLE_HEAD, Passage, SearchHit
from kedge.core.values.passage import SECTION_BREAKS, parse_section_breaks
from kedge.models.read.reader import Readable, Reading, StatementReading
from kedge.retrieve.when import own_periods
from kedge.text.analyze import terms
from kedge.text.defining import asked_thing, defines, is_called
from kedge.text.orders import inside, ordering_spans
from kedge.text.periods import Period, agreement, dated, periods
from kedge.text.question import Question
from kedge.text.statements.cut import is_dated, statements
from kedge.text.statements.statement import Statement

ROOM = 2000
"""Characters of a passage's statements that are read; of a longer passage, those with most of the question."""
LONGEST = 400
"""So much of a statement counts when the room is shared out."""
_REFERENCES = re.compile(
    r"[\W\d]*(?:references|bibliography|works cited|literature(?: cited)?|further reading)\W*", re.I
)
"""A list of other people's works says nothing itself; the tables that papers put behind it do."""
_NO_LETTERS = re.compile(r"\A[\W\d_]+|[\W_]+")
"""What makes no difference between headings: marks, and the number in front."""
_SECTIONS = 2
"""Innermost headings that are read with what the document calls itself."""


@dataclass(frozen=True, slots=True)
class Stated:
    """One statement of the evidence with what the reader makes of it."""

    passage: int
    """Place of its passage in the evidence, best first."""
    statement: Statement
    reading: StatementReading
    about: float
    """Log-odds that its passage answers."""
    trick: float
    """Log-odds that its passage speaks of all that is asked and does not say it."""
    yes: float
    """Log-odds of yes against no."""
    agreement: float
    """Whether it speaks of the time that is asked for, from -1 to 1; 0 where either names none."""
    shared: float
    """Share of the question's words that it has, weighted by rarity."""
    cell: int | None = None
    """Of a row, the cell that answers best."""
    defines: float | None = None
    """How far it says what the thing is that is asked for, from 0 to 1; None where no such question is asked."""
    headed: float = 0.0
    """How far the heading that it stands right below is the question, from 0 to 1; 0 for what comes later."""


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A passage that was read."""

    place: int
    """In the evidence, best first."""
    passage: Passage
    statements: tuple[Statement, ...]
    """Those that were read, in order."""
    reading: Reading


def cut(passage: Passage) -> tuple[Statement, ...]:
    """The statements of a passage without those that give orders to a reader, its tables called by their section."""
    head = passage.metadata.get(TABLE_HEAD)
    breaks = parse_section_breaks(passage.metadata.get(SECTION_BREAKS))
    sections = ((0, passage.section_path), *breaks)
    return _cut(passage.text, passage.title, sections, head if isinstance(head, str) else "")


@lru_cache(maxsize=1024)
def _cut(
    text: str, title: str, sections: tuple[tuple[int, tuple[str, ...]], ...], table_head: str
) -> tuple[Statement, ...]:
    """Remembered: an answer looks at the same passage several times, and the next question at many of the same."""
    caption = sections[0][1][-1] if sections[0][1] else ""
    begins = [start for start, _ in sections]
    listed = [any(_REFERENCES.fullmatch(part) for part in path[-2:]) for _, path in sections]
    orders = ordering_spans(text, surely=True)
    made = statements(text, caption, table_head=table_head)
    named = (title, *(part for _, path in sections for part in path))
    headings = {_letters(part) for part in named if not is_dated(part)} - {""}
    said = [one for one in made if _letters(one.read) not in headings and not inside(orders, one.start, one.end)]
    return tuple(one for one in said if one.kind == "row" or not listed[bisect_right(begins, one.start) - 1])


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text.casefold())


def worth_reading(question: Question, asked: Sequence[Period], made: Sequence[Statement]) -> tuple[Statement, ...]:
    """As many statements as there is room for, in order: where there are too many, those with most of the question."""
    sizes = [min(LONGEST, len(one.read)) for one in made]
    if sum(sizes) <= ROOM:
        return tuple(made)
    values = [
        shared(question, one.read) + (0.5 * agreement(asked, periods(one.read)) if asked else 0.0) for one in made
    ]
    around = [  # a statement is understood by those beside it
        value + 0.3 * max((values[near] for near in (at - 1, at + 1) if 0 <= near < len(values)), default=0.0)
        for at, value in enumerate(values)
    ]
    kept: set[int] = set()
    room = ROOM
    for at in sorted(range(len(made)), key=lambda one: (-around[one], one)):
        if sizes[at] <= room:
            kept.add(at)
            room -= sizes[at]
    return tuple(made[at] for at in sorted(kept))


def best_rows(question: Question, hits: Sequence[SearchHit]) -> list[SearchHit]:
    """The hits with rows of tables, those first whose best row has most of the question, and its time."""
    asked = periods(question.text)
    values: dict[str, float] = {}
    for hit in hits:
        own = own_periods(hit.passage) if asked else ()
        wanted = dated(asked, own)
        rows = [
            shared(question, one.read) + (0.5 * agreement(wanted, periods(one.read)) if asked else 0.0)
            for one in cut(hit.passage)
            if one.kind == "row"
        ]
        if rows:
            values[hit.passage.id] = max(rows) + (0.5 * agreement(asked, own) if own else 0.0)
    found = [hit for hit in hits if hit.passage.id in values]
    return sorted(found, key=lambda hit: (-values[hit.passage.id], hit.rank))


def shared(question: Question, text: str) -> float:
    """Share of the question that a text has, weighted by rarity."""
    return question.coverage(frozenset(terms(text)).intersection(question.terms))


def readable(passage: Passage, chosen: Sequence[Statement]) -> Readable:
    """The passage as the reader gets it."""
    sections = [part for part in passage.section_path if part != passage.title]
    identity = " · ".join([passage.identity, *sections[-_SECTIONS:]])
    return Readable(identity, [_ended(one) for one in chosen], [slots(one) for one in chosen])


def _ended(statement: Statement) -> str:
    """What is read of it with a full stop: without one, the reader takes it for the beginning of the next."""
    text = statement.read.rstrip()
    plain_end = statement.kind in ("sentence", "item") and text[-1:] not in ".!?:;。！？："
    return f"{text}." if plain_end else statement.read


def slots(statement: Statement) -> list[tuple[int, int]]:
    """Where the cells of a row, behind its label, stand in what is read of it."""
    found: list[tuple[int, int]] = []
    at = len(statement.lead)
    for cell in statement.cells[1:]:
        place = statement.read.find(cell.read or cell.text, at) if cell.text else -1
        if place < 0:
            found.append((0, 0))
        else:
            at = place + len(cell.read or cell.text)
            found.append((at - len(cell.text), at))
    return found


@dataclass(frozen=True, slots=True)
class ReadEvidence:
    """The evidence for a question, read."""

    hits: Sequence[SearchHit]
    """All that was found, best first."""
    read: Sequence[ReadPassage]
    """Those that were read."""
    stated: Sequence[Stated]
    """All statements that were read."""
    headings: Mapping[int, str]
    """What each passage that was read stands under."""

    @property
    def passages(self) -> dict[int, Passage]:
        """The passages that were read, by their place among the hits."""
        return {one.place: one.passage for one in self.read}


def read_evidence(question: Question, hits: Sequence[SearchHit], read: Sequence[ReadPassage]) -> ReadEvidence:
    """What was read, each statement with how well it fits the time that is asked for."""
    asked = periods(question.text)
    thing = asked_thing(question.text)
    found: list[Stated] = []
    for one in read:
        times = own_periods(one.passage) if asked else ()
        wanted = dated(asked, times) if times else asked
        headings = _Headings(question, one.passage)
        for statement, reading in zip(one.statements, one.reading.statements, strict=True):
            cell, fits = _cell(statement, reading, wanted)
            if asked and (cell is None or not fits):
                fits = _both(agreement(wanted, periods(statement.read)), agreement(asked, times))
            verdicts = (one.reading.about, one.reading.trick, one.reading.yes)
            said = None if thing is None else _defines(statement, thing, one)
            share = shared(question, statement.read)
            below = headings.below(statement)
            found.append(Stated(one.place, statement, reading, *verdicts, fits, share, cell, said, below))
    return ReadEvidence(hits, read, found, {one.place: heading(one.passage) for one in read})


FIRST_BELOW = 3
"""So many statements below a heading say what it promises."""


class _Headings:
    """The headings inside a passage, and how far each is the question."""

    def __init__(self, question: Question, passage: Passage) -> None:
        breaks = parse_section_breaks(passage.metadata.get(SECTION_BREAKS))
        own = passage.section_path or (passage.title,)
        paths = [(0, own if _begins_with(passage.text, own[-1]) else ()), *breaks]
        self._match = [(start, _is_asked(question, path[-1]) if path else 0.0) for start, path in paths]
        self._seen: Counter[int] = Counter()

    def below(self, statement: Statement) -> float:
        """How far the heading above a statement is the question, where it is one of the first below it; in order."""
        place = bisect_right([start for start, _ in self._match], statement.start) - 1
        self._seen[place] += 1
        return self._match[place][1] if self._seen[place] <= FIRST_BELOW else 0.0


def _begins_with(text: str, heading: str) -> bool:
    """Whether a passage begins its section: one that goes on with it does not have its heading."""
    return _letters(text[: 2 * len(heading) + 40]).startswith(_letters(heading))


def _is_asked(question: Question, heading: str) -> float:
    """How far a heading is the question: the share of the question that it has, times the share of it that this is."""
    words = frozenset(terms(heading))
    common = words.intersection(question.terms)
    return question.coverage(common) * len(common) / len(words) if words else 0.0


SAYS_WHAT_IT_IS = 0.5
"""How far a statement must say what a thing is to define it."""
OPENS = 0.4
"""How far the first statement below a heading says what the heading names."""


def _defines(statement: Statement, thing: str, read: ReadPassage) -> float:
    """How far a statement says what a thing is, by its own words or by its place below the thing's name."""
    if statement.kind not in ("sentence", "item"):
        return 0.0
    opens = statement == read.statements[0] and is_called(read.passage.section_path[-1:] or [read.passage.title], thing)
    return max(defines(statement.read, thing), OPENS if opens else 0.0)


def define(chosen: Sequence[Statement], thing: str) -> bool:
    """Whether one of the statements says what a thing is."""
    return any(defines(one.read, thing) >= SAYS_WHAT_IT_IS for one in chosen if one.kind in ("sentence", "item"))


def _both(said: float, own: float) -> float:
    """What the statement itself says of the time and what its document does: their mean where both say something."""
    return (said + own) / 2 if said and own else said or own


_PERIOD_WEIGHT = 4.0
"""What agreement in time is worth beside the logarithm of a cell's probability."""


def _cell(statement: Statement, reading: StatementReading, asked: Sequence[Period]) -> tuple[int | None, float]:
    """The cell of a row that answers best, and how well its column fits the time that is asked for."""
    best: tuple[float, int, float] | None = None
    for at, (cell, score) in enumerate(zip(statement.cells[1:], reading.slots, strict=True), 1):
        if not cell.text:
            continue
        fits = agreement(asked, periods(cell.header)) if asked else 0.0
        value = score + _PERIOD_WEIGHT * fits
        if best is None or value > best[0]:
            best = value, at, fits
    return (best[1], best[2]) if best else (None, 0.0)
