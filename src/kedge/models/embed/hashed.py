"""A deterministic embedder without a model, for tests and for trying pipelines at speed. Not for real search."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from kedge.core.settings import Settings
from kedge.models.ports import Vectors

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Bag of hashed words, so that texts sharing words are near each other. `hash` or `hash:DIMENSION`."""

    def __init__(self, dimension: int = 64, window: int = 256) -> None:
        self._dimension = dimension
        self._window = window

    @property
    def name(self) -> str:
        return f"hash:{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def window(self) -> int:
        return self._window

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [self._row(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self._dimension), dtype=np.float32)

    async def embed_query(self, text: str) -> Vectors:
        return self._row(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(_WORD.findall(text)) for text in texts]

    async def close(self) -> None:
        """Nothing to release."""

    def _row(self, text: str) -> Vectors:
        row = np.zeros(self._dimension, dtype=np.float32)
        for word in _WORD.findall(text.casefold())[: self._window]:
            code = zlib.crc32(word.encode())
            row[code % self._dimension] += 1.0 if code & 0x10000 else -1.0
        norm = float(np.linalg.norm(row))
        if norm == 0.0:
            row[0] = norm = 1.0
        return row / np.float32(norm)


def open_embedder(name: str, _settings: Settings) -> HashEmbedder:
    """`hash` has 64 dimensions, `hash:128` has 128."""
    _, _, dimension = name.partition(":")
    return HashEmbedder(int(dimension) if dimension.isdigit() else 64)
