"""Where embeddings are remembered between runs: the port, and the file of the default install."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from kedge.errors import StoreError

_IN_LIST = 500


class VectorCache(Protocol):
    """Bytes by digest. Losing an entry costs time and nothing else, so it may forget what it likes."""

    async def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """What is kept under each key, in order; None for what is not there."""

    async def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep these; an existing key is replaced."""

    async def close(self) -> None:
        """Release file or connections. Closing twice is fine."""


class FileCache:
    """One SQLite file that several processes may share. Nothing in it expires."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, timeout=30)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS embeddings (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
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
            for start in range(0, len(keys), _IN_LIST):
                part = keys[start : start + _IN_LIST]
                marks = ",".join("?" * len(part))
                rows = self._db.execute(f"SELECT key, vector FROM embeddings WHERE key IN ({marks})", part)  # noqa: S608
                found.update(rows)
        return [found.get(key) for key in keys]

    def _put(self, entries: Mapping[bytes, bytes]) -> None:
        with self._lock, self._db:
            self._db.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?)", list(entries.items()))
