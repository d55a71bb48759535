"""The home folder: one process at a time, and a place for uploads that have not been taken in yet."""

from __future__ import annotations

import errno
import json
import logging
import os
import secrets
import stat
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from filelock import FileLock, Timeout

from kedge.core.errors import DiskFullError, HomeBusyError, SourceTooLargeError, StoreError
from kedge.core.ids import new_id

log = logging.getLogger(__name__)

LOCK = "lock"
OWNER = "owner.json"
UPLOADS = "uploads"
KEY = "hash.key"
_FULL = (errno.ENOSPC, errno.EDQUOT)
OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What everybody but the owner may do with a file."""


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
    """Write down who has the home: what the one that has it says of itself.

    Where that cannot be written, as on a full disk, others are told nothing, and the work goes on.
    """
    fresh = home / f"{OWNER}.{new_id()}"
    try:
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(asdict(owner)), "utf-8")
        fresh.replace(home / OWNER)
    except OSError as error:
        log.warning("%s cannot be told who uses it: %s", home, error.strerror)
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
            (home / OWNER).unlink(missing_ok=True)  # of an earlier process


def open_to_others(home: Path) -> list[Path]:
    """The home and what lies in it, as far as other users of the machine may do anything with it. Links are left out.

    Empty where files have no such rights (Windows).
    """
    if os.name != "posix" or not home.exists():
        return []
    found = [home]
    for folder, folders, files in os.walk(home):
        found += [Path(folder, name) for name in (*folders, *files)]
    return [path for path in found if is_open(path)]


def is_open(path: Path) -> bool:
    """Whether others than its owner may do anything with it. A link is never."""
    try:
        mode = path.lstat().st_mode if os.name == "posix" else stat.S_IFLNK
    except OSError:  # gone meanwhile
        return False
    return not stat.S_ISLNK(mode) and bool(mode & OTHERS)


def close_to_others(home: Path) -> int:
    """Let nobody but the owner read or write the home; returns how many files and folders were open.

    What belongs to somebody else stays as it is, and is told.
    """
    found = open_to_others(home)
    for path in found:
        try:
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~OTHERS)
        except FileNotFoundError:
            continue
        except OSError as error:
            log.warning("%s is open to other users of this machine and cannot be closed: %s", path, error.strerror)
            break
    return len(found)


def _unwritten(home: Path, error: OSError) -> StoreError:
    """What is told when a file of the home cannot be written."""
    if error.errno in _FULL:
        return DiskFullError(f"No space is left for the home {home}.", hint="Free some space and try again.")
    return StoreError(f"The home {home} cannot be written: {error.strerror}.", hint="Check the folder and its rights.")


class Home:
    """A locked home folder, which nobody but its owner can look into."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path / LOCK, mode=0o600)
        self._taken: os.stat_result | None = None
        """The folder as it was when this process took it."""

    def acquire(self, *, shared: bool = False, lasts: Lasts = Lasts.UNKNOWN, mend: bool = True) -> None:
        """Take the home for this process, or say who has it. `shared`: nothing is stored in it, so others may too.

        `mend`: a home that other users of the machine can read is closed to them.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            opened = is_open(self.path)
            if mend and close_to_others(self.path) and opened:
                log.warning("%s was open to other users of this machine; it is closed now", self.path)
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
            if error.errno in _FULL:
                raise _unwritten(self.path, error) from error
            hint = "Choose a folder you may write to with --home or KEDGE_HOME."
            if self.path.is_dir() and any(self.path.glob("*")):
                hint += " Lists of documents, collections, jobs and keys can be read as it is; to ask, copy it there."
            raise StoreError(f"The home {self.path} cannot be used: {error.strerror}.", hint=hint) from error
        self._taken = self.path.stat()
        tell_owner(self.path, Owner(os.getpid(), None, lasts))

    def require(self) -> None:
        """StoreError where the folder is gone, or is another one than this process took: nothing may go there."""
        try:
            there = self._taken is None or os.path.samestat(self._taken, self.path.stat())
        except OSError:
            there = False
        if not there:
            raise StoreError(
                f"The home {self.path} was moved or removed while it was in use.",
                hint="Put it back where it was, or stop this process and start it with the home it shall use.",
            )

    def release(self) -> None:
        """Let others have it."""
        if self._lock.is_locked:
            close_to_others(self.path)  # what libraries made meanwhile lies in a folder that is closed already
            (self.path / OWNER).unlink(missing_ok=True)
            self._lock.release()

    def key(self) -> bytes:
        """The secret that user and query hashes are made with; made once per home."""
        path = self.path / KEY
        if not path.exists():
            fresh = self.path / f"{KEY}.{new_id()}"
            try:
                fresh.touch(mode=0o600)
                fresh.write_bytes(secrets.token_bytes(32))
                with suppress(FileExistsError):  # another process was quicker: all use the same
                    path.hardlink_to(fresh)
            except OSError as error:
                raise _unwritten(self.path, error) from error
            finally:
                fresh.unlink(missing_ok=True)
        return path.read_bytes()

    async def spool(self, chunks: AsyncIterator[bytes], limit: int) -> Path:
        """Write an upload to disk so that its job survives a restart. Nothing stays behind when it fails."""
        self.require()
        folder = self.path / UPLOADS
        path = folder / new_id()
        size = 0
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            path.touch(mode=0o600)
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
            raise _unwritten(self.path, error) from error
        return path

    def discard(self, paths: list[Path]) -> None:
        """Remove spooled uploads of an ended job; other files are not touched."""
        folder = (self.path / UPLOADS).absolute()
        for path in paths:
            if path.absolute().parent == folder:
                path.unlink(missing_ok=True)
