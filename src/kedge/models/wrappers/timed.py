"""An embedder that tells how long each call took and whether it failed: for metrics and the log (G-13, G-27)."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from kedge.core.errors import ModelError
from kedge.core.ids import sha256
from kedge.models.ports import Embedder, Vectors
from kedge.models.wrappers.base import WrappedEmbedder

log = logging.getLogger(__name__)
SLOW_SECONDS = 1.0
"""What takes longer is told in the log (G-27)."""
SHOWN_CHARS = 80
OnEmbed = Callable[[float, bool], None]
"""Called after every call of the model with its seconds and whether it worked."""


class WatchedEmbedder(WrappedEmbedder):
    """Wraps any embedder. Caches stand before it, so that only real work is told."""

    def __init__(self, inner: Embedder, on_embed: OnEmbed, *, words: bool = False) -> None:
        """`words`: the log may show the beginning of a text, not only its hash."""
        super().__init__(inner)
        self._on_embed = on_embed
        self._words = words

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._timed(self._inner.embed(texts), texts)

    async def embed_query(self, text: str) -> Vectors:
        return await self._timed(self._inner.embed_query(text), [text])

    async def _timed(self, work: Awaitable[Vectors], texts: Sequence[str]) -> Vectors:
        started = time.perf_counter()
        try:
            vectors = await work
        except ModelError as error:
            seconds = time.perf_counter() - started
            self._on_embed(seconds, False)
            log.warning("%s failed: %s", self._told(seconds, texts), error.message)
            raise
        seconds = time.perf_counter() - started
        self._on_embed(seconds, True)
        if seconds > SLOW_SECONDS:
            log.info("%s was slow", self._told(seconds, texts))
        return vectors

    def _told(self, seconds: float, texts: Sequence[str]) -> str:
        """The call without its words, unless these may be told."""
        first = texts[0] if texts else ""
        sample = repr(first[:SHOWN_CHARS]) if self._words else f"sha256 {sha256(first)[:12]}"
        size = sum(map(len, texts))
        return f"embedding by {self.name} in {seconds:.2f} s of {len(texts)} texts, {size} characters, first {sample}"
