"""Embeddings remembered between runs in one file: the cache of the default install."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from kedge.core.errors import StoreError
from kedge.stores.batches import batches
from kedge.stores.queries import filled, load_queries

QUERIES = load_queries(__package__, "file.sql")


class FileCache:
    """One SQLite file that several processes may share. Nothing in it expires."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, timeout=30)
            self._db.execute(QUERIES["use_log"])
            self._db.execute(QUERIES["flush_seldom"])
            self._db.execute(QUERIES["make_table"])
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"The embedding cache {path} cannot be used: {error}", hint="Unset embed_cache."
            ) from error

    async def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        return await asyncio.to_thread(self._get, keys)

    async def put(self, entries: Mapping[bytes, bytes]) -> None:
        await asyncio.to_thread(self._put, entries)

    async def close(self) -> None:
        self._db.close()

    def _get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        found: dict[bytes, bytes] = {}
        with self._lock:
            for part in batches(keys):
                found.update(self._db.execute(filled(QUERIES["read"], marks=",".join("?" * len(part))), part))
        return [found.get(key) for key in keys]

    def _put(self, entries: Mapping[bytes, bytes]) -> None:
        with self._lock, self._db:
            self._db.executemany(QUERIES["keep"], list(entries.items()))
