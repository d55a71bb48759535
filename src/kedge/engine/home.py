"""The home folder: one process at a time, and a place for uploads that have not been taken in yet."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from filelock import FileLock, Timeout

from kedge.core.errors import DiskFullError, HomeBusyError, SourceTooLargeError, StoreError, UnreadableError
from kedge.core.ids import new_id

LOCK = "lock"
OWNER = "owner.json"
UPLOADS = "uploads"
KEY = "hash.key"


class Lasts(StrEnum):
    """How long a process has a home."""

    UNKNOWN = "unknown"
    """A program of somebody's: nobody waits for its end."""
    SHORTLY = "shortly"
    """Others wait for it."""
    LONG = "long"
    """The same; meanwhile others ask its engine."""
    UNTIL_STOPPED = "until_stopped"
    """Others ask its engine, and nobody waits for its end."""
    WORKING = "working"
    """The same, and it runs the jobs that others queue."""

    @property
    def stays(self) -> bool:
        """Waiting for its end is no use."""
        return self in (Lasts.UNKNOWN, Lasts.UNTIL_STOPPED, Lasts.WORKING)


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that has a home, as it tells of itself."""

    pid: int | None = None
    socket: str | None = None
    """Where other commands of the same user reach its engine; None: nowhere."""
    lasts: Lasts = Lasts.SHORTLY
    """One that has not told of itself yet has just come, or goes."""


def owner_of(home: Path) -> Owner:
    """Who has the home, as far as that can be read."""
    try:
        told = json.loads((home / OWNER).read_text("utf-8"))
        return Owner(told["pid"], told.get("socket"), Lasts(told.get("lasts", Lasts.SHORTLY)))
    except (OSError, ValueError, KeyError, AttributeError):
        return Owner()


def tell_owner(home: Path, owner: Owner) -> None:
    """Write down who has the home: what the one that has it says of itself."""
    fresh = home / f"{OWNER}.{new_id()}"
    fresh.write_text(json.dumps(asdict(owner)), "utf-8")
    fresh.replace(home / OWNER)


class Home:
    """A locked home folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path / LOCK)

    def acquire(self, *, shared: bool = False, lasts: Lasts = Lasts.UNKNOWN) -> None:
        """Take the home for this process, or say who has it. `shared`: nothing is stored in it, so others may too."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if shared:
                return
            self._lock.acquire(blocking=False)
        except Timeout as error:
            owner = owner_of(self.path)
            who = f" (pid {owner.pid})" if owner.pid else ""
            raise HomeBusyError(
                f"The home {self.path} is in use by another Kedge process{who}.",
                hint="Use that server's HTTP API, wait for it to end, or name another folder with --home.",
                details=asdict(owner),
            ) from error
        except OSError as error:
            raise StoreError(
                f"The home {self.path} cannot be used: {error.strerror}.",
                hint="Choose a folder you may write to with --home or KEDGE_HOME.",
            ) from error
        tell_owner(self.path, Owner(os.getpid(), None, lasts))

    def release(self) -> None:
        """Let others have it."""
        if self._lock.is_locked:
            (self.path / OWNER).unlink(missing_ok=True)
            self._lock.release()

    def key(self) -> bytes:
        """The secret that user and query hashes are made with; made once per home."""
        path = self.path / KEY
        if not path.exists():
            fresh = self.path / f"{KEY}.{new_id()}"
            fresh.touch(mode=0o600)
            fresh.write_bytes(secrets.token_bytes(32))
            with suppress(FileExistsError):  # another process was quicker: all use the same
                path.hardlink_to(fresh)
            fresh.unlink()
        return path.read_bytes()

    async def spool(self, chunks: AsyncIterator[bytes], limit: int) -> Path:
        """Write an upload to disk so that its job survives a restart. Nothing stays behind when it fails."""
        folder = self.path / UPLOADS
        folder.mkdir(exist_ok=True)
        path = folder / new_id()
        size = 0
        try:
            with path.open("wb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > limit:
                        raise SourceTooLargeError(
                            f"The upload is larger than {limit} bytes.", hint="Raise max_upload_bytes in the settings."
                        )
                    file.write(chunk)
        except SourceTooLargeError:
            path.unlink(missing_ok=True)
            raise
        except OSError as error:
            path.unlink(missing_ok=True)
            if error.errno == 28:
                raise DiskFullError("No space left for the upload.", hint="Free some space and try again.") from error
            raise UnreadableError(f"The upload could not be kept: {error.strerror}.") from error
        return path

    def discard(self, paths: list[Path]) -> None:
        """Remove spooled uploads of an ended job; other files are not touched."""
        folder = (self.path / UPLOADS).absolute()
        for path in paths:
            if path.absolute().parent == folder:
                path.unlink(missing_ok=True)
