"""What every wrapper of an embedder leaves as it is."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.models.ports import Embedder


class WrappedEmbedder:
    """Passes on what the inner embedder is; a wrapper adds what it does with `embed` and `embed_query`."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

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

    async def close(self) -> None:
        await self._inner.close()
