"""An embedder that tells how long each call took and whether it failed: for metrics (G-13)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from kedge.core.errors import ModelError
from kedge.models.ports import Embedder, Vectors
from kedge.models.wrappers.base import WrappedEmbedder

OnEmbed = Callable[[float, bool], None]
"""Called after every call of the model with its seconds and whether it worked."""


class WatchedEmbedder(WrappedEmbedder):
    """Wraps any embedder. Caches stand before it, so that only real work is told."""

    def __init__(self, inner: Embedder, on_embed: OnEmbed) -> None:
        super().__init__(inner)
        self._on_embed = on_embed

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._timed(self._inner.embed(texts))

    async def embed_query(self, text: str) -> Vectors:
        return await self._timed(self._inner.embed_query(text))

    async def _timed(self, work: Awaitable[Vectors]) -> Vectors:
        started = time.perf_counter()
        try:
            vectors = await work
        except ModelError:
            self._on_embed(time.perf_counter() - started, False)
            raise
        self._on_embed(time.perf_counter() - started, True)
        return vectors
