"""Reading the evidence: which passages and which of their statements the reader reads, beside the event loop."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

from kedge.answer.evidence import ReadPassage, cut, readable, worth_reading
from kedge.core.settings import Settings
from kedge.core.values import Passage
from kedge.models.read.reader import Reader, Reading, open_reader
from kedge.text.languages import DEFAULT, guess
from kedge.text.periods import periods
from kedge.text.question import Question

FIRST = 3
"""Passages that are read at once."""
ENOUGH = 5.0
"""Log-odds of the best passage from which on no more are read, where one fact is asked for."""
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

    async def of(self, question: Question, passages: Sequence[Passage], *, all_of: bool) -> list[ReadPassage]:
        """The passages (best first) with what the reader makes of them.

        Unless `all_of` them are wanted, reading ends where the first few leave no doubt.
        """
        asked = periods(question.text)
        chosen = [worth_reading(question, asked, cut(passage)) for passage in passages]
        wanted = [place for place, made in enumerate(chosen) if made]
        reader = await self._opened()
        found: list[ReadPassage] = []
        for part in (wanted[:FIRST], wanted[FIRST:]):
            if part and (all_of or not any(one.reading.about >= ENOUGH for one in found)):
                texts = [readable(passages[place], chosen[place]) for place in part]
                readings: list[Reading] = await asyncio.to_thread(reader.read, question.text, texts)
                found += [
                    ReadPassage(place, passages[place], chosen[place], reading)
                    for place, reading in zip(part, readings, strict=True)
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


def is_english(text: str) -> bool:
    """Whether a text is in English, as far as its letters and function words tell."""
    letters, latin = len(_LETTER.findall(text)), len(_LATIN.findall(text))
    return 2 * latin >= letters and guess(text) == DEFAULT
