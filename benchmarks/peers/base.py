"""What every peer is: two methods and a count. And the one embedder that all of them are given."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kedge.core.settings import load_settings
from kedge.models.ports import Vectors
from kedge.models.registry import open_embedder


@dataclass(frozen=True, slots=True)
class Passage:
    """One document of the set."""

    title: str
    text: str

    @property
    def whole(self) -> str:
        """What every peer indexes: title and text in one string."""
        return f"{self.title}\n{self.text}".strip()


class Peer(Protocol):
    """Loads its models when made, so that neither ingest nor search pays for that."""

    llm_calls: int
    """Calls to a language model so far."""

    def ingest(self, passages: Sequence[Passage]) -> None:
        """Index all passages. Called once."""

    def search(self, query: str, k: int) -> list[int]:
        """Positions of the k best passages, best first."""


class Encoder:
    """Kedge's bundled all-MiniLM-L6-v2, blocking: what the peers' hooks for own embedders call."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.model = open_embedder("minilm", load_settings(embed_cache=None))
        self.texts(["warm up"])

    @property
    def dimension(self) -> int:
        return self.model.dimension

    def texts(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        return self._loop.run_until_complete(self.model.embed(texts))

    def query(self, text: str) -> Vectors:
        """The vector of one question."""
        return self._loop.run_until_complete(self.model.embed_query(text))
