"""Wrappers that add a power to any embedder: remembering what was embedded before."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kedge.errors import StoreError
from kedge.models.base import Embedder, Vectors

QUERY_CACHE = 2048
"""Questions kept in memory."""


class CachedEmbedder:
    """Embeds each text once. Questions are kept in memory, texts in an SQLite file when one is given."""

    def __init__(self, inner: Embedder, path: Path | None = None) -> None:
        self._inner = inner
        self._queries: OrderedDict[str, Vectors] = OrderedDict()
        self._texts = _TextCache(path, inner.name, inner.dimension) if path else None

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
        if self._texts is None:
            return await self._inner.embed(texts)
        known = await asyncio.to_thread(self._texts.get, texts)
        missing = [index for index, row in enumerate(known) if row is None]
        if missing:
            fresh = await self._inner.embed([texts[index] for index in missing])
            await asyncio.to_thread(self._texts.put, [texts[index] for index in missing], fresh)
            for index, row in zip(missing, fresh, strict=True):
                known[index] = row
        rows = [row for row in known if row is not None]
        return np.stack(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

    async def embed_query(self, text: str) -> Vectors:
        found = self._queries.get(text)
        if found is None:
            found = await self._inner.embed_query(text)
            self._queries[text] = found
            if len(self._queries) > QUERY_CACHE:
                self._queries.popitem(last=False)
        else:
            self._queries.move_to_end(text)
        return found

    async def close(self) -> None:
        if self._texts is not None:
            self._texts.close()
        await self._inner.close()


class _TextCache:
    """Vectors by hash of model name and text, in one SQLite file that several processes may share."""

    def __init__(self, path: Path, model: str, dimension: int) -> None:
        self._model = model.encode()
        self._dimension = dimension
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, timeout=30)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS embeddings (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        except sqlite3.Error as error:
            raise StoreError(
                f"The embedding cache {path} cannot be used: {error}", hint="Unset embed_cache."
            ) from error

    def get(self, texts: Sequence[str]) -> list[Vectors | None]:
        keys = [self._key(text) for text in texts]
        with self._lock:
            found: dict[bytes, bytes] = {}
            for start in range(0, len(keys), 500):
                part = keys[start : start + 500]
                marks = ",".join("?" * len(part))
                rows = self._db.execute(f"SELECT key, vector FROM embeddings WHERE key IN ({marks})", part)  # noqa: S608
                found.update(rows)
        return [np.frombuffer(found[key], dtype=np.float32) if key in found else None for key in keys]

    def put(self, texts: Sequence[str], vectors: Vectors) -> None:
        rows = [(self._key(text), row.tobytes()) for text, row in zip(texts, vectors, strict=True)]
        with self._lock, self._db:
            self._db.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?)", rows)

    def close(self) -> None:
        self._db.close()

    def _key(self, text: str) -> bytes:
        digest = hashlib.sha256(self._model + b"\x1f" + str(self._dimension).encode() + b"\x1f" + text.encode())
        return digest.digest()
