"""An entry, as the engine, the server and the clients tell it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A question with its answer."""

    question: str
    answer: str
    url: str
    """Where it was read."""
    passage_id: str
