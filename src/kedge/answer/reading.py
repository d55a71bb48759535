"""What the reader thinks of the best passages: opened at the first question, asked beside the event loop."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

from kedge.config import Settings
from kedge.models.reader import Reader, open_reader
from kedge.text.evidence import Passage
from kedge.text.languages import DEFAULT, guess

_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")


class Readings:
    """The reader of the settings, or none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reader: Reader | None = None
        self._opening = asyncio.Lock()

    async def of(self, question: str, passages: Sequence[Passage], wanted: Sequence[int]) -> Mapping[int, float]:
        """Log-odds that each wanted passage answers the question; empty where it cannot tell: it knows English alone.

        One foreign passage among them keeps it from judging any, since its silence would count as a no.
        """
        if self._settings.reader == "none" or not wanted or not _english(question):
            return {}
        if not all(_english(passages[place].text) for place in wanted):
            return {}
        reader = await self._opened()
        pairs = [(passages[place].title, passages[place].text) for place in wanted]
        read = await asyncio.to_thread(reader.read, question, pairs)
        return {place: reading.score for place, reading in zip(wanted, read, strict=True)}

    async def warm_up(self) -> None:
        """Load the reader before the first question."""
        if self._settings.reader != "none":
            await self._opened()

    async def _opened(self) -> Reader:
        async with self._opening:
            if self._reader is None:
                self._reader = await asyncio.to_thread(open_reader, self._settings)
            return self._reader


def _english(text: str) -> bool:
    """Whether the text is in English as far as its letters and function words tell."""
    letters, latin = len(_LETTER.findall(text)), len(_LATIN.findall(text))
    return 2 * latin >= letters and guess(text) == DEFAULT
