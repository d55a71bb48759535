"""What the reader thinks of the best passages: opened at the first question, asked beside the event loop."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

from kedge.core.settings import Settings
from kedge.models.read.reader import Reader, open_reader
from kedge.text.evidence import EvidencePassage
from kedge.text.languages import DEFAULT, guess

_BEFORE = "about|after|along|at|before|besides|by|during|for|from|in|of|on|other than|since|through|to|under|until|with"
_ASKS = (
    "who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|has|have|had|will|would|should"
)
_QUESTION = re.compile(rf"\W*(?:(?:{_BEFORE})\s)?(?:{_ASKS})\b|.*\?\s*\Z", re.IGNORECASE | re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")


class Readings:
    """The reader of the settings, or none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reader: Reader | None = None
        self._opening = asyncio.Lock()

    async def of(
        self, question: str, passages: Sequence[EvidencePassage], wanted: Sequence[int]
    ) -> Mapping[int, float]:
        """Log-odds that each wanted passage answers the question; empty where the reader cannot tell.

        It knows English, and questions: not claims or lists of words. One foreign passage among those wanted keeps it
        from judging any, since its silence would count as a no.
        """
        if self._settings.reader == "none" or not wanted or not asks(question):
            return {}
        if not all(_english(text) for text in (question, *(passages[place].text for place in wanted))):
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


def asks(text: str) -> bool:
    """Whether an English text is a question.

    >>> [asks(text) for text in ("Who built it", "In what year did it open?", "Zinc lowers fever", "sharing of time")]
    [True, True, False, False]
    """
    return _QUESTION.match(text) is not None


def _english(text: str) -> bool:
    """Whether the text is in English as far as its letters and function words tell."""
    letters, latin = len(_LETTER.findall(text)), len(_LATIN.findall(text))
    return 2 * latin >= letters and guess(text) == DEFAULT
