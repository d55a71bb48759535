"""What the reader makes of readings: how well the wording of each, with its value, answers the question.

The weights know words and columns; the reader knows language. It reads the likeliest readings at once, in an order that
says nothing, and gives the log-odds of each. Without a reader the choice is made by the weights alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Protocol

from kedge.core.settings import Settings
from kedge.models.carried.files import DIGESTS
from kedge.models.read.reader import FILE, Readable, Reader, open_reader


class PlanReader(Protocol):
    """Reads the wording of plans."""

    digest: str
    """Of its weights."""

    def support(self, question: str, identity: str, lines: Sequence[str]) -> Sequence[float]:
        """The log-odds of each line that it is what was asked, in order."""


def read_support(reader: Reader, question: str, identity: str, lines: Sequence[str]) -> list[float]:
    """The log-odds of each line. The order in which they are read depends on their words alone. ModelError."""
    order = sorted(range(len(lines)), key=lambda place: zlib.crc32(lines[place].encode()))
    (read,) = reader.read(question, [Readable(identity, [lines[place] for place in order])])
    found = {place: one.support for place, one in zip(order, read.statements, strict=True)}
    return [found[place] for place in range(len(lines))]


class ReaderOfPlans:
    """The reader that Kedge carries, asked for plans; loaded at first use."""

    def __init__(self, settings: Settings) -> None:
        self.digest = DIGESTS[FILE]
        self._settings = settings

    def support(self, question: str, identity: str, lines: Sequence[str]) -> Sequence[float]:
        """As the protocol says. ModelError."""
        return read_support(open_reader(self._settings), question, identity, lines)
