"""What an answer without a language model is made of: stretches of the evidence, and the few words that answer."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.text.question import AnswerKind
from kedge.text.statements.statement import Cell


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim stretch of a passage: `passages[passage].text[start:end]`, and how it is shown."""

    passage: int
    """Index of the passage in the evidence."""
    start: int
    """Offset of the first character in the passage's text."""
    end: int
    """Offset behind the last character."""
    text: str
    """The stretch itself."""
    shown: str = ""
    """Its words as they are shown, without markup; empty: as they are."""
    block: str = ""
    """What is shown below the words, on lines of its own: code, or a slice of a table."""
    bullet: str = ""
    """What stands before it in a list: `-`, or its number; empty: it stands in none."""
    cells: tuple[Cell, ...] = ()
    """Of a row of a table, in order."""
    marked: int | None = None
    """The cell that answers."""
    counted: tuple[int, ...] = ()
    """The cells that a computed answer was made from."""


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """The name, date, number or other few words inside the first quote."""

    kind: AnswerKind
    """What it is."""
    start: int
    """Offset of its first character in the passage's text."""
    end: int
    """Offset behind its last character."""
    text: str
    """The words themselves."""


@dataclass(frozen=True, slots=True)
class ExtractedAnswer:
    """What the evidence says, in its own words."""

    quotes: tuple[Quote, ...]
    """The stretches that answer, the best first, the others in reading order."""
    short: ShortAnswer | None
    """The answer in a few words, inside the first quote, when the question asks for one."""
    verdict: str = ""
    """`Yes` or `No`, where that is asked and the evidence decides it."""
    steps: tuple[str, ...] = ()
    """Of a computed answer, what was done; its quotes are the rows that it was computed from."""

    @property
    def text(self) -> str:
        """The quotes as running text."""
        return " ".join(quote.text for quote in self.quotes)
