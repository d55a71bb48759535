"""Control: what the embedder alone reaches, and what it alone costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.peers.base import Encoder, Passage


class DensePeer:
    llm_calls = 0

    def __init__(self) -> None:
        self._encoder = Encoder()

    def ingest(self, passages: Sequence[Passage]) -> None:
        self._vectors = self._encoder.texts([passage.whole for passage in passages])

    def search(self, query: str, k: int) -> list[int]:
        best = np.argsort(-(self._vectors @ self._encoder.query(query)))[:k]
        return [int(position) for position in best]
