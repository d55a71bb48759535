"""Trees of files behind an fsspec file system: what folders, archives, object stores and file servers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kedge.core.errors import SourceFault, TooCostlyError, UnreadableError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import Readers, SourceError
from kedge.ingest.connectors.ports import Content, Entry, LastListing, SourceAddress
from kedge.ingest.sources.download import Download
from kedge.ingest.sources.sidecar import MAX_BYTES as MOST_OF_READERS
from kedge.ingest.sources.sidecar import NAME as READERS_FILE
from kedge.ingest.sources.sidecar import FolderRules
from kedge.ingest.sources.source import source_error, too_large

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

PIECE = 1 << 20
DEEPEST, MOST_FOLDERS, MOST_FILES = 64, 100_000, 1_000_000
"""Folders within each other, and what one listing comes to: a server can make up names without end."""
OPTIONS = ("include", "exclude")
"""Patterns of paths, comma-separated, that every tree takes."""
_DIGESTS = ("ETag", "etag", "e_tag", "md5Hash", "content_md5", "sha", "version_id", "generation", "CRC", "crc")
_TIMES = ("LastModified", "last_modified", "modified", "mtime", "updated", "date_time")
_TICK = timedelta(seconds=2)
_SIDE = ("node_modules", "__pycache__", "venv", "site-packages", "__MACOSX")


class FileTree:
    """The `Connector` over a file system."""

    cursor = ""

    def __init__(
        self,
        place: SourceAddress,
        settings: Settings,
        *,
        connect: Callable[[], AbstractFileSystem],
        root: str,
        base: str,
        faults: tuple[type[Exception], ...] = (),
    ) -> None:
        """`root` is the top folder within the file system, `base` what stands in its place in urls of documents.

        `connect` is called when the first listing begins. `faults` are the errors of its driver beside OSError.
        """
        self.complete = True
        self._place = place
        self._settings = settings
        self._connect = connect
        self._root = root.rstrip("/")
        self._base = base.rstrip("/")
        self._faults: tuple[type[Exception], ...] = (OSError, ValueError, *faults)
        self._files: AbstractFileSystem | None = None
        self._rules = FolderRules()
        self._include = _patterns(place.text("include"))
        self._exclude = _patterns(place.text("exclude"))

    def entries(self, past: LastListing) -> Iterator[Entry | SourceError]:  # noqa: ARG002 (listing is cheap)
        """Files in the order of their paths; a folder that cannot be listed is an error of its own."""
        pending = [self._root]
        listed = taken = 0
        self.complete = True
        while pending:
            folder = pending.pop()
            listed += 1
            if listed > MOST_FOLDERS or taken > MOST_FILES:
                told = TooCostlyError(
                    f"{self._base} has more than {MOST_FOLDERS:,} folders or {MOST_FILES:,} files.",
                    hint="Connect parts of it, each as a source.",
                )
                yield source_error(self._base, told)
                self.complete = False
                return
            try:
                found = self._listed(folder)
            except SourceFault as fault:
                if folder == self._root:
                    raise
                yield source_error(self._url(self._key(folder)), fault)
                continue
            try:
                self.learn_readers(self._key(folder), found)
            except SourceFault as fault:  # who may read what is there is not known: none of it is taken in
                yield source_error(self._url(self._key(folder)).rstrip("/"), fault)
                continue
            for info in sorted(found, key=lambda one: str(one["name"]), reverse=True):
                if self._is_folder(info, folder):
                    if self._key(str(info["name"])).count("/") >= DEEPEST:
                        yield source_error(self._url(self._key(str(info["name"]))), _too_deep(self._base))
                        continue
                    pending.append(str(info["name"]).rstrip("/"))
            for info in sorted(found, key=lambda one: str(one["name"])):
                if info.get("type") != "directory" and self._wanted(info):
                    taken += 1
                    yield self._described(info)

    def open(self, entry: Entry) -> Content:
        path = f"{self._root}/{entry.key}" if self._root else entry.key
        download = Download()
        try:
            with self._opened().open(path, "rb") as stream:
                while piece := stream.read(PIECE):
                    download.write(piece)
                    if download.size > self._settings.max_source_bytes:
                        raise too_large(entry.name, self._settings.max_source_bytes)
        except self._faults as error:
            raise self._unreadable(entry.url, error) from error
        download.finish()
        return download

    def close(self) -> None:
        self._files = None

    # ------------------------------------------------------------ for those that derive from it

    def stays(self, info: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Whether something listed may be followed: a link that leads out of the tree may not."""
        return True

    def learn_readers(self, folder: str, found: Sequence[Mapping[str, Any]]) -> None:
        """Read what a folder says of its readers, before its entries are listed. UnreadableError."""
        for info in found:
            name = str(info["name"])
            if PurePosixPath(name).name == READERS_FILE and info.get("type") != "directory":
                called = self._url(self._key(name))
                try:
                    with self._opened().open(name, "rb") as stream:
                        said = stream.read(MOST_OF_READERS + 1)
                except self._faults as error:
                    raise self._unreadable(called, error) from error
                self._rules.learn(folder, said, called)

    def readers_of(self, key: str) -> Readers | None:
        """Who may read an entry, as its folders say; None: they do not. UnreadableError."""
        return self._rules.readers(key)

    # ------------------------------------------------------------ the rest

    def _described(self, info: Mapping[str, Any]) -> Entry | SourceError:
        entry = self._entry(info)
        try:
            return replace(entry, readers=self.readers_of(entry.key))
        except SourceFault as fault:
            return source_error(entry.url, fault)

    def _opened(self) -> AbstractFileSystem:
        if self._files is None:
            try:
                self._files = self._connect()
            except self._faults as error:
                raise self._unreadable(self._place.url, error) from error
        return self._files

    def _listed(self, folder: str) -> list[Mapping[str, Any]]:
        """What is in a folder; the folder itself, which object stores list too, is left out."""
        try:
            found = self._opened().ls(folder, detail=True)
        except self._faults as error:
            raise self._unreadable(
                self._url(self._key(folder)) if folder != self._root else self._base, error
            ) from error
        return [one for one in found if str(one["name"]).strip("/") != folder.strip("/")]

    def _is_folder(self, info: Mapping[str, Any], within: str) -> bool:
        name = str(info["name"]).rstrip("/")
        below = len(name) > len(within) and name.startswith(within)  # what lists itself as its own child has no end
        return info.get("type") == "directory" and below and not _hidden(name) and self.stays(info)

    def _wanted(self, info: Mapping[str, Any]) -> bool:
        key = self._key(str(info["name"]))
        if _hidden(key) or not self.stays(info):
            return False
        if self._include and not any(_matches(key, pattern) for pattern in self._include):
            return False
        return not any(_matches(key, pattern) for pattern in self._exclude)

    def _entry(self, info: Mapping[str, Any]) -> Entry:
        key, size = self._key(str(info["name"])), int(info.get("size") or 0)
        changed = _changed(info)
        return Entry(key, self._url(key), PurePosixPath(key).name, _fingerprint(info, size, changed), size, changed)

    def _key(self, name: str) -> str:
        top = self._root.lstrip("/")
        return name.lstrip("/").removeprefix(top).strip("/")

    def _url(self, key: str) -> str:
        return f"{self._base}/{key}"

    def _unreadable(self, url: str, error: Exception) -> UnreadableError:
        """What went wrong, without a secret: drivers put what they like into their messages."""
        said = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        for secret in self._place.secrets.values():
            said = said.replace(secret, "***") if secret else said
        missing = isinstance(error, FileNotFoundError)
        hint = "Check that it is there." if missing else "Check the address, the network, and what it signs in with."
        return UnreadableError(f"{url} cannot be read: {' '.join(said.split())[:300]}.", hint=hint)


def _too_deep(base: str) -> TooCostlyError:
    return TooCostlyError(f"{base} has more than {DEEPEST} folders in each other.", hint="Connect a folder below.")


def bucket(
    place: SourceAddress,
    settings: Settings,
    connect: Callable[[], AbstractFileSystem],
    faults: tuple[type[Exception], ...],
) -> FileTree:
    """The tree of `scheme://bucket/prefix`. UsageError where no bucket is named."""
    parts = urlsplit(place.url)
    if not parts.netloc:
        raise UsageError(f"{place.url} names no bucket.", hint=f"Write {parts.scheme}://bucket/folder.")
    root = f"{parts.netloc}/{parts.path.strip('/')}".rstrip("/")
    return FileTree(place, settings, connect=connect, root=root, base=f"{parts.scheme}://{root}", faults=faults)


def _patterns(given: str) -> list[str]:
    return [part.strip() for part in given.split(",") if part.strip()]


def _matches(key: str, pattern: str) -> bool:
    """By the path, or by the name alone where the pattern names no folder."""
    return fnmatchcase(key, pattern) or ("/" not in pattern and fnmatchcase(PurePosixPath(key).name, pattern))


def _hidden(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.startswith((".", "~$")) or name in _SIDE


def _fingerprint(info: Mapping[str, Any], size: int, changed: datetime | None) -> str | None:
    for name in _DIGESTS:
        if info.get(name):
            return f"{name.lower()}:{info[name]}:{size}"
    if changed is None or datetime.now(UTC) - changed < _TICK:
        return None  # a change to come in the same tick of the clock would look the same
    inode = info.get("ino")
    return f"{changed.timestamp()}:{size}" + (f":{inode}" if inode else "")


def _changed(info: Mapping[str, Any]) -> datetime | None:
    for name in _TIMES:
        value = info.get(name)
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, int | float) and value:
            return datetime.fromtimestamp(value, UTC)
        if isinstance(value, tuple):
            with suppress(ValueError):  # archives can name the 31st of February
                year, month, day, hour, minute, second = value[:6]
                return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if isinstance(value, str) and value:
            with suppress(ValueError):
                return datetime.fromisoformat(value)
            with suppress(ValueError):
                return parsedate_to_datetime(value)
    return None
