"""What the reader learns from: a question, a passage, and whether the one answers the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""Start and end of characters in a text."""


@dataclass(frozen=True, slots=True)
class Text:
    """A passage that statements are taken from."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """One pair to learn from."""

    question: str
    title: str
    text: str
    answerable: bool
    span: Span | None = None
    """Where the answer stands in the text; for a question that has none, where a plausible one stands."""
    article: str = ""
    """What is held out together."""
    place: int = -1
    """Which question of squad2 it comes from; -1 for made ones."""

    @property
    def answer(self) -> str:
        """The words at the span."""
        return "" if self.span is None else self.text[self.span[0] : self.span[1]]

    def asked(self, question: str) -> Example:
        """The same passage and label under another question."""
        return replace(self, question=question)

    def unanswered(self, *, question: str | None = None, text: str | None = None, title: str | None = None) -> Example:
        """With another question or passage, so that the answer is gone."""
        return replace(
            self,
            question=self.question if question is None else question,
            text=self.text if text is None else text,
            title=self.title if title is None else title,
            answerable=False,
            span=None,
        )
