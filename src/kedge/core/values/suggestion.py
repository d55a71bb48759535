"""Questions that have answers, offered where one had none."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.core.outside import outside


@outside()
@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question near the one that was refused, which the collection answers."""

    question: str
    title: str
    """The document whose words answer it."""
    evidence_probability: float


@outside()
@dataclass(frozen=True, slots=True)
class SuggestionList:
    """Such questions, the nearest first; none where nothing near has an answer."""

    suggestions: tuple[Suggestion, ...]
