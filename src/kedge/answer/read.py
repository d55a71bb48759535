"""Reading the evidence: which passages and which of their statements the reader reads, beside the event loop."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from kedge.answer.evidence import ReadPassage, cut, define, readable, worth_reading
from kedge.core.settings import Settings
from kedge.core.values import Passage
from kedge.models.read.reader import Reader, Reading, open_reader
from kedge.text.defining import asked_thing
from kedge.text.form import ShapeKind, shape_of
from kedge.text.languages import DEFAULT, guess
from kedge.text.periods import periods
from kedge.text.question import Question

FIRST, FIRST_OF_ONE = 3, 2
"""Passages that are always read, and where one statement answers. Further ones are read one by one, in their order."""
ONE: frozenset[ShapeKind] = frozenset({"fact", "number", "yes-no", "list"})
"""Forms of questions that one statement, or one list, answers."""
MOST_OF_FACT = 5
"""Most passages that are read where a fact is asked for: what later ones say changes no answer."""
SURE = 3.0
"""Log-odds of the best passage from which on no more are read."""
CARRIES, CARRIES_NUMBER = 0.0, 1.0
"""Least log-odds of the best statement of such a passage; and where a number is asked for, which tables tell best."""
LOST_AFTER, LOST = 5, 0.0
"""After so many, with none whose log-odds are as high, no more are read: what comes later hardly ever answers."""
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")


class Readings:
    """The reader of the settings, or none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reader: Reader | None = None
        self._opening = asyncio.Lock()

    def can(self, question: str, passages: Sequence[Passage]) -> bool:
        """Whether the reader is there and knows the language: English, as far as letters and function words tell."""
        if self._settings.reader == "none" or not passages or not is_english(question):
            return False
        return sum(is_english(one.text[:2000]) for one in passages) * 2 > len(passages)

    async def of(self, question: Question, passages: Sequence[Passage], *, all_of: bool = False) -> list[ReadPassage]:
        """The passages (best first) with what the reader makes of them.

        Unless `all_of` them are wanted, reading ends with a passage that surely answers, or where the first few are
        all about something else.
        """
        asked = periods(question.text)
        form = shape_of(question.text).kind
        most = min(len(passages), MOST_OF_FACT) if form == "fact" and not all_of else len(passages)
        order = _defining_first(question, passages)
        reader = await self._opened()
        found: list[ReadPassage] = []
        for part in _in_turn(FIRST_OF_ONE if form in ONE else FIRST, most):
            best = max((one.reading.about for one in found), default=-math.inf)
            lost = len(found) >= LOST_AFTER and best < LOST
            sure = any(_surely_answers(one, form) for one in found) and _is_defined(question, found)
            if not all_of and (sure or lost):
                break
            places = [order[turn] for turn in part]
            chosen = {place: worth_reading(question, asked, cut(passages[place])) for place in places}
            told = {place: made for place, made in chosen.items() if made}
            if told:
                texts = [readable(passages[place], made) for place, made in told.items()]
                readings: list[Reading] = await asyncio.to_thread(reader.read, question.text, texts)
                found += [
                    ReadPassage(place, passages[place], made, reading)
                    for (place, made), reading in zip(told.items(), readings, strict=True)
                ]
        return found

    async def words(self) -> Callable[[str], bool]:
        """Says of a word whether the language of the reader has it."""
        return (await self._opened()).knows

    async def warm_up(self) -> None:
        """Load the reader before the first question."""
        if self._settings.reader != "none":
            await self._opened()

    async def _opened(self) -> Reader:
        async with self._opening:
            if self._reader is None:
                self._reader = await asyncio.to_thread(open_reader, self._settings)
            return self._reader


def _defining_first(question: Question, passages: Sequence[Passage]) -> list[int]:
    """Places of the passages in the order of reading: where a definition is asked for, those that hold one first."""
    places = range(len(passages))
    thing = asked_thing(question.text)
    if thing is None:
        return list(places)
    return sorted(places, key=lambda place: (not define(cut(passages[place]), thing), place))


def _surely_answers(one: ReadPassage, form: ShapeKind) -> bool:
    """Whether a passage surely answers, and one of its statements carries that."""
    least = CARRIES_NUMBER if form == "number" else CARRIES
    return one.reading.about >= SURE and any(each.support >= least for each in one.reading.statements)


def _is_defined(question: Question, read: Sequence[ReadPassage]) -> bool:
    """Whether one says what the thing is that is asked for; true where no definition is."""
    thing = asked_thing(question.text)
    return thing is None or any(define(one.statements, thing) for one in read)


def _in_turn(first: int, count: int) -> Iterator[range]:
    """The places of so many passages: the first few together, the others one by one."""
    yield range(min(first, count))
    yield from (range(place, place + 1) for place in range(first, count))


@lru_cache(maxsize=1024)
def is_english(text: str) -> bool:
    """Whether a text is in English, as far as its letters and function words tell."""
    if not text.isascii():
        letters, latin = len(_LETTER.findall(text)), len(_LATIN.findall(text))
        if 2 * latin < letters:
            return False
    return guess(text) == DEFAULT
