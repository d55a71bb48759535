"""The home folder: one process at a time, and a place for uploads that have not been taken in yet."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from kedge.core.errors import DiskFullError, HomeBusyError, SourceTooLargeError, StoreError, UnreadableError
from kedge.core.ids import new_id

LOCK = "lock"
OWNER = "owner.json"
UPLOADS = "uploads"
KEY = "hash.key"


class Home:
    """A locked home folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path / LOCK)

    def acquire(self, *, shared: bool = False) -> None:
        """Take the home for this process, or say who has it. `shared`: nothing is stored in it, so others may too."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if shared:
                return
            self._lock.acquire(blocking=False)
        except Timeout as error:
            raise HomeBusyError(
                f"The home {self.path} is in use by another Kedge process{self._owner()}.",
                hint="Use that server's HTTP API, wait for it to end, or name another folder with --home.",
            ) from error
        except OSError as error:
            raise StoreError(
                f"The home {self.path} cannot be used: {error.strerror}.",
                hint="Choose a folder you may write to with --home or KEDGE_HOME.",
            ) from error
        (self.path / OWNER).write_text(json.dumps({"pid": os.getpid()}), "utf-8")

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

    def _owner(self) -> str:
        try:
            return f" (pid {json.loads((self.path / OWNER).read_text('utf-8'))['pid']})"
        except (OSError, ValueError, KeyError):
            return ""
