"""Control: plain BM25 by bm25s, as its README sets it up."""

from __future__ import annotations

from collections.abc import Sequence

import bm25s
import Stemmer

from benchmarks.peers.base import Passage


class Bm25Peer:
    llm_calls = 0

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english")
        self._index = bm25s.BM25()

    def ingest(self, passages: Sequence[Passage]) -> None:
        texts = [passage.whole for passage in passages]
        tokens = bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)
        self._index.index(tokens, show_progress=False)
        self._count = len(texts)

    def search(self, query: str, k: int) -> list[int]:
        tokens = bm25s.tokenize(query, stopwords="en", stemmer=self._stemmer, show_progress=False)
        found, _ = self._index.retrieve(tokens, k=min(k, self._count), show_progress=False)
        return [int(position) for position in found[0]]
