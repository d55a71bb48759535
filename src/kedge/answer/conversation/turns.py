"""What was said in a session, for as long as the settings allow, and no longer.

Analytics never hold words (D-17); this does, because a follow-up question cannot be understood without them. So it is
apart from the catalog, forgets by the clock, and is off with `session_minutes = 0`.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from kedge.core.errors import StoreError
from kedge.core.settings import Settings
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "turns.sql")
MOST_TURNS = 6
"""Last questions that are remembered of a session."""
MOST_SESSIONS = 2000
"""Sessions that a process remembers."""
Clock: TypeAlias = Callable[[], float]
Key: TypeAlias = tuple[str, str]
"""Tenant, and session of a user (`key_of`)."""
_PART = "\x1f"


def key_of(tenant: str, session: str, user: str = "") -> Key:
    """Where the turns of a session are kept: each user's apart, so that two who choose the same name never meet."""
    return tenant, f"{session}{_PART}{user}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer."""

    question: str
    """To be understood alone."""
    answer: str
    names: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """Ids of those that were cited: for somebody who may not read one of them it was not said."""
    collection: str = ""
    """Where it was asked, for the same reason."""


class Turns(Protocol):
    """Remembers the last turns of sessions."""

    async def last(self, key: Key) -> Sequence[Turn]:
        """Oldest first; nothing of a session that is unknown or over."""

    async def add(self, key: Key, turn: Turn) -> None:
        """Remember one more, and forget what is too old."""

    async def forget(self, tenant: str, session: str) -> None:
        """Forget a session at once, of whoever uses that name."""


class MemoryTurns:
    """In this process only."""

    def __init__(self, minutes: float, clock: Clock = time.time) -> None:
        self._seconds = 60 * minutes
        self._clock = clock
        self._kept: OrderedDict[Key, tuple[float, list[Turn]]] = OrderedDict()

    async def last(self, key: Key) -> Sequence[Turn]:
        self._forget()
        return list(self._kept.get(key, (0.0, []))[1])

    async def add(self, key: Key, turn: Turn) -> None:
        self._forget()
        turns = [*self._kept.pop(key, (0.0, []))[1], turn][-MOST_TURNS:]
        self._kept[key] = (self._clock(), turns)

    async def forget(self, tenant: str, session: str) -> None:
        for key in [one for one in self._kept if one[0] == tenant and one[1].startswith(session + _PART)]:
            del self._kept[key]

    def _forget(self) -> None:
        """The least recently used are first."""
        oldest = self._clock() - self._seconds
        while self._kept:
            key, (used, _) = next(iter(self._kept.items()))
            if used > oldest and len(self._kept) <= MOST_SESSIONS:
                break
            del self._kept[key]


class FileTurns:
    """In a SQLite file, for several processes and runs. What is too old is overwritten, not only hidden."""

    def __init__(self, path: Path, minutes: float, clock: Clock = time.time) -> None:
        self._path = path
        self._seconds = 60 * minutes
        self._clock = clock

    async def last(self, key: Key) -> Sequence[Turn]:
        return await asyncio.to_thread(self._last, key)

    async def add(self, key: Key, turn: Turn) -> None:
        await asyncio.to_thread(self._add, key, turn)

    async def forget(self, tenant: str, session: str) -> None:
        await asyncio.to_thread(self._drop, tenant, session)

    def _drop(self, tenant: str, session: str) -> None:
        if self._path.exists():
            with closing(self._open()) as database, database:
                database.execute(QUERIES["forget"], (tenant, session + _PART))

    def _last(self, key: Key) -> list[Turn]:
        if not self._path.exists():
            return []
        with closing(self._open()) as database, database:
            self._forget(database)
            rows = database.execute(QUERIES["last"], key).fetchall()
        return [_read(said) for (said,) in rows][-MOST_TURNS:]

    def _add(self, key: Key, turn: Turn) -> None:
        with closing(self._open()) as database, database:
            now = self._clock()
            said = json.dumps(asdict(turn), ensure_ascii=False)
            database.execute(QUERIES["add"], (*key, now, said))
            database.execute(QUERIES["touch"], (now, *key))
            database.execute(QUERIES["keep_last"], (*key, *key, MOST_TURNS))
            self._forget(database)

    def _forget(self, database: sqlite3.Connection) -> None:
        database.execute(QUERIES["forget_old"], (self._clock() - self._seconds,))

    def _open(self) -> sqlite3.Connection:
        try:
            database = sqlite3.connect(self._path, timeout=10)
            self._path.chmod(0o600)
            database.execute(QUERIES["forget_for_good"])
            database.execute(QUERIES["create"])
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self._path} cannot be used: {error}.", hint="Remove the file, or set session_keep to memory."
            ) from error
        return database


def _read(said: str) -> Turn:
    found = json.loads(said)
    names, topics, documents = (tuple(found.get(name, ())) for name in ("names", "topics", "documents"))
    return Turn(found["question"], found["answer"], names, topics, documents, found.get("collection", ""))


def open_turns(settings: Settings) -> Turns | None:
    """As the settings say; None where nothing may be remembered."""
    if not settings.session_minutes:
        return None
    if settings.session_keep == "home":
        return FileTurns(settings.home / "sessions.db", settings.session_minutes)
    return MemoryTurns(settings.session_minutes)
