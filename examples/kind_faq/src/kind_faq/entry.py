"""Entries: written once, and told alike by the engine, the command line, the server and the clients."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.core.outside import outside


@outside()
@dataclass(frozen=True, slots=True)
class Entry:
    """A question with its answer."""

    question: str
    answer: str
    url: str
    """Where it was read."""
    passage_id: str


@outside()
@dataclass(frozen=True, slots=True)
class EntryList:
    """The entries of a collection, by file and in its order."""

    entries: tuple[Entry, ...]
