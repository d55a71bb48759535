"""txtai: one dense and one BM25 index, scores added with equal weights (its default)."""

from __future__ import annotations

from collections.abc import Sequence

from txtai import Embeddings

from benchmarks.peers.base import Encoder, Passage
from kedge.models.ports import Vectors


class TxtaiPeer:
    llm_calls = 0

    def __init__(self) -> None:
        encoder = Encoder()

        def transform(texts: Sequence[str]) -> Vectors:
            return encoder.texts(texts)

        self._embeddings = Embeddings(method="external", transform=transform, hybrid=True)

    def ingest(self, passages: Sequence[Passage]) -> None:
        self._embeddings.index((at, passage.whole, None) for at, passage in enumerate(passages))

    def search(self, query: str, k: int) -> list[int]:
        return [int(at) for at, _ in self._embeddings.search(query, k)]
