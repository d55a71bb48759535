"""Wrappers that add a power to any embedder: remembering what was embedded before."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from kedge.models.ports import Embedder, VectorCache, Vectors
from kedge.models.wrappers.base import WrappedEmbedder

QUERY_CACHE = 2048
"""Questions kept in memory."""


class CachedEmbedder(WrappedEmbedder):
    """Embeds each text once. Questions are kept in memory; texts in the cache `own` when one is given.

    A `shared` cache takes its place and keeps questions too: unlike a file, it lets go of them by itself.

    What one tenant had embedded is not remembered for another (`of`): the time that an answer takes would tell whether
    others asked the same.
    """

    def __init__(
        self, inner: Embedder, own: VectorCache | None = None, *, shared: VectorCache | None = None, tenant: str = ""
    ) -> None:
        super().__init__(inner)
        self._recent: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._texts = shared or own
        self._questions = shared
        self._tenant = tenant

    def of(self, tenant: str) -> CachedEmbedder:
        """The same embedder and the same caches, with what this tenant had embedded."""
        view = CachedEmbedder(self._inner, self._texts, tenant=tenant)
        view._questions, view._recent = self._questions, self._recent
        return view

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self._texts is None or not texts:
            return await self._inner.embed(texts)
        keys = [self._key(text) for text in texts]
        known = [self._vector(kept) for kept in await self._texts.get(keys)]
        missing = [index for index, row in enumerate(known) if row is None]
        if missing:
            fresh = await self._inner.embed([texts[index] for index in missing])
            for index, row in zip(missing, fresh, strict=True):
                known[index] = row
            await self._texts.put({keys[index]: _bytes(row) for index, row in zip(missing, fresh, strict=True)})
        return np.stack([row for row in known if row is not None])

    async def embed_query(self, text: str) -> Vectors:
        asked = (self._tenant, text)
        found = self._recent.get(asked)
        if found is None:
            found = await self._question(text)
            self._recent[asked] = found
            if len(self._recent) > QUERY_CACHE:
                self._recent.popitem(last=False)
        else:
            self._recent.move_to_end(asked)
        return found

    async def close(self) -> None:
        if self._texts is not None:
            await self._texts.close()
        await super().close()

    async def _question(self, text: str) -> Vectors:
        if self._questions is None:
            return await self._inner.embed_query(text)
        key = self._key(text, question=True)
        (kept,) = await self._questions.get([key])
        found = self._vector(kept)
        if found is None:
            found = await self._inner.embed_query(text)
            await self._questions.put({key: _bytes(found)})
        return found

    def _key(self, text: str, *, question: bool = False) -> bytes:
        """A question has a key of its own: some models embed it in another way than a text. So has each tenant."""
        whose = f"{self._tenant}\x1e" if self._tenant else ""
        kind = f"{whose}{self.name}\x1f{self.dimension}{'?' if question else ''}\x1f"
        return hashlib.sha256(kind.encode() + text.encode("utf-8", "surrogatepass")).digest()

    def _vector(self, kept: bytes | None) -> Vectors | None:
        """What was kept, unless it is not what `put` wrote: others may write to a shared cache."""
        if kept is None or len(kept) != 4 * self.dimension:
            return None
        row = np.frombuffer(kept, dtype="<f4").astype(np.float32)
        return row if np.isfinite(row).all() else None


def _bytes(row: Vectors) -> bytes:
    return row.astype("<f4").tobytes()
