"""An embedder that passes through and counts what it embeds, under a name of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kedge.models.embed.hashed import HashEmbedder
from kedge.models.ports import Vectors


class Counting(HashEmbedder):
    """`name` and `dimension` as wanted; questions differ from texts, as they do for models with a query prefix."""

    def __init__(self, name: str = "counting", dimension: int = 16) -> None:
        super().__init__(dimension)
        self._name = name
        self.texts: list[str] = []

    @property
    def name(self) -> str:
        return self._name

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return await super().embed(texts)

    async def embed_query(self, text: str) -> Vectors:
        self.texts.append(text)
        return -np.asarray(await super().embed_query(text), dtype=np.float32)
