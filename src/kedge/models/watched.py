"""An embedder that tells how long each call took and whether it failed: for metrics (G-13)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from kedge.errors import ModelError
from kedge.models.base import Embedder, Vectors

OnEmbed = Callable[[float, bool], None]
"""Called after every call of the model with its seconds and whether it worked."""


class WatchedEmbedder:
    """Wraps any embedder. Caches stand before it, so that only real work is told."""

    def __init__(self, inner: Embedder, on_embed: OnEmbed) -> None:
        self._inner = inner
        self._on_embed = on_embed

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def window(self) -> int:
        return self._inner.window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._timed(self._inner.embed(texts))

    async def embed_query(self, text: str) -> Vectors:
        return await self._timed(self._inner.embed_query(text))

    async def close(self) -> None:
        await self._inner.close()

    async def _timed(self, work: Awaitable[Vectors]) -> Vectors:
        started = time.perf_counter()
        try:
            vectors = await work
        except ModelError:
            self._on_embed(time.perf_counter() - started, False)
            raise
        self._on_embed(time.perf_counter() - started, True)
        return vectors
