"""Where documents come from: files, folders, patterns, addresses, JSONL corpora and uploads.

`discover` walks what the user named and hands out one `Source` after the other. A source that cannot be taken is a
`SourceError` in the same stream; the others go on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kedge.core.errors import SourceFault, UnreadableError, UsageError
from kedge.core.settings import Settings
from kedge.core.untrusted import file_name
from kedge.core.urls import mask_url
from kedge.core.values import Metadata, SourceError
from kedge.ingest.parse.formats import JSONL_SUFFIX, ZIP_SUFFIX, known_name
from kedge.ingest.sources import passed_over
from kedge.ingest.sources.corpus import is_corpus, read_corpus
from kedge.ingest.sources.fetch import fetch
from kedge.ingest.sources.sidecar import readers_beside
from kedge.ingest.sources.source import (
    Source,
    SourceOptions,
    apply_options,
    check_path,
    source_error,
    too_large,
    unreadable,
    with_format,
)
from kedge.ingest.sources.zipped import Unpacking, is_archive, unpacked

__all__ = ["Discovery", "Source", "SourceOptions", "discover", "uploaded"]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_MAGIC = re.compile(r"[*?\[]")
_NO_DOCUMENTS = frozenset(("node_modules", "__pycache__", "venv", "site-packages", "__MACOSX"))


def discover(paths: Sequence[str], settings: Settings, options: SourceOptions | None = None) -> Discovery:
    """The sources behind files, folders, glob patterns, http(s) addresses and JSONL corpora, to iterate over."""
    options = options or SourceOptions()
    if options.title and paths and (len(paths) != 1 or _MAGIC.search(paths[0]) or Path(paths[0]).is_dir()):
        raise UsageError("A title can be given for one document only.", hint="Name one file or one address.")
    return Discovery(paths, settings, options)


def upload_url(name: str) -> str:
    """Identity of an upload: its name, without any path."""
    return f"upload:{file_name(name)}"


def uploaded(name: str, data: bytes | Path, *, url: str | None = None, options: SourceOptions | None = None) -> Source:
    """A source from a request's body: bytes, or the file they were spooled to. The name is its identity."""
    options = options or SourceOptions()
    plain = file_name(name)
    size = len(data) if isinstance(data, bytes) else data.stat().st_size
    source = Source(url or upload_url(name), plain, plain, data, size, updated_at=datetime.now(UTC))
    return apply_options(source, options)


class Discovery:
    """An iterable of sources that also remembers what it passed over and what it could not see."""

    def __init__(self, paths: Sequence[str], settings: Settings, options: SourceOptions) -> None:
        self._paths = paths
        self._settings = settings
        self._options = options
        self._seen: set[str] = set()
        self._walked: list[str] = []
        self._unseen: list[str] = []
        self.skipped: Counter[str] = Counter()
        """Files in folders that are no documents, by suffix (`symlink` for links that lead out)."""

    def __iter__(self) -> Iterator[Source | SourceError]:
        for memory in (self._seen, self._walked, self._unseen, self.skipped):
            memory.clear()
        for path in self._paths:
            for item in self._one(path):
                if item.url in self._seen and isinstance(item, Source):
                    continue
                if isinstance(item, SourceError):
                    self._unseen.append(item.url.split("#line-")[0])
                self._seen.add(item.url)
                yield item

    def gone(self, url: str) -> bool:
        """Whether a document known before was looked for and is not there any more; False if anything near failed.

        A file that somebody named, and that a folder around it is not searched for, is still there.
        """
        if url in self._seen or any(f"{url}/".startswith((f"{place}/", f"{place}#")) for place in self._unseen):
            return False
        return any(url.startswith(place) for place in self._walked) and not _is_there(url)

    def _one(self, path: str) -> Iterator[Source | SourceError]:
        if _URL.match(path):
            yield from self._address(path)
            return
        try:
            named = Path(path).expanduser()
            if _MAGIC.search(path) and not named.exists():
                yield from self._pattern(path)
            elif named.is_dir():
                yield from self._folder(named)
            else:
                yield from self._file(named, explicit=True)
        except (OSError, RuntimeError, ValueError) as error:
            yield source_error(path, unreadable(path, error))

    def _address(self, url: str) -> Iterator[Source | SourceError]:
        url = url.split("#", 1)[0]
        try:
            fetched = fetch(url, self._settings)
        except SourceFault as fault:
            yield source_error(mask_url(url) if "@" in url else url, fault)
            return
        metadata: Metadata = {} if fetched.url == url else {"final_url": fetched.url}
        found = Source(url, url, fetched.name, fetched.download, fetched.download.size, fetched.updated_at, metadata)
        yield from self._checked(replace(found, content_type=fetched.content_type))

    def _pattern(self, pattern: str) -> Iterator[Source | SourceError]:
        named = Path(pattern).expanduser()
        start = Path(named.anchor)
        inside = named.relative_to(start)
        matches = sorted(path for path in start.glob(str(inside)) if path.is_file() and not _hidden_match(path, inside))
        if not matches:
            yield source_error(pattern, UnreadableError(f"No file matches {pattern!r}.", hint="Check the pattern."))
        for path in matches:
            yield from self._file(path, explicit=False)

    def _folder(self, folder: Path) -> Iterator[Source | SourceError]:
        root = folder.resolve()
        pending = [folder]
        while pending:
            entry = pending.pop()
            if entry.is_symlink() and not entry.resolve().is_relative_to(root):
                self.skipped[passed_over.LINK] += 1
            elif entry.is_dir():
                if entry is not folder and entry.is_symlink():
                    continue
                try:
                    inside = sorted(entry.iterdir(), reverse=True)
                except OSError as error:
                    yield source_error(entry.resolve().as_posix(), unreadable(str(entry), error))
                    continue
                pending.extend(path for path in inside if not _is_hidden(path))
            else:
                yield from self._file(entry, explicit=False)
        self._walked.append(root.as_posix().rstrip("/") + "/")

    def _file(self, path: Path, *, explicit: bool) -> Iterator[Source | SourceError]:
        url = path.resolve().as_posix()
        try:
            check_path(path.resolve())
            stat = path.stat()
            if not path.is_file():
                raise UnreadableError(f"{path} is not a file.", hint="Name a file, a folder, a pattern or an address.")
            changed = datetime.fromtimestamp(stat.st_mtime, UTC)
            source = Source(url, path.as_posix(), path.name, path.resolve(), stat.st_size, changed)
            source = replace(source, readers=readers_beside(path.resolve()))
            if path.suffix.lower() == JSONL_SUFFIX:
                yield from self._corpus(source, explicit=explicit)
            elif explicit or self._options.format or known_name(path.name) or path.suffix.lower() == ZIP_SUFFIX:
                yield from self._checked(source)
            else:
                self.skipped[path.suffix.lower()] += 1
        except OSError as error:
            yield source_error(url, unreadable(str(path), error))
        except SourceFault as fault:
            yield source_error(url, fault)

    def _corpus(self, source: Source, *, explicit: bool) -> Iterator[Source | SourceError]:
        if not explicit and not is_corpus(source):
            self.skipped[JSONL_SUFFIX] += 1
            return
        if source.size > self._settings.max_source_bytes:
            raise too_large(source.name, self._settings.max_source_bytes)
        for item in read_corpus(source):
            yield replace(apply_options(item, self._options), title=item.title) if isinstance(item, Source) else item
        self._walked.append(f"{source.url}#")

    def _checked(self, source: Source) -> Iterator[Source | SourceError]:
        try:
            if source.size > self._settings.max_source_bytes:
                raise too_large(source.name, self._settings.max_source_bytes)
            source = apply_options(source, self._options)
            if is_archive(source):
                yield from unpack(source, self._settings, self.skipped)
                self._walked.append(f"{source.url}#")
            else:
                yield with_format(source)
        except SourceFault as fault:
            yield source_error(source.url, fault)


def unpack(source: Source, settings: Settings, skipped: Counter[str]) -> Iterator[Source | SourceError]:
    """The documents of a ZIP archive; members that are none are counted in `skipped`."""
    caps = Unpacking(settings.max_source_bytes, settings.parse_output_bytes)
    yield from unpacked(source, caps)
    skipped.update(caps.skipped)


def _is_there(url: str) -> bool:
    try:
        return Path(url).is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _is_hidden(path: Path) -> bool:
    return path.name.startswith((".", "~$")) or path.name in _NO_DOCUMENTS


def _hidden_match(path: Path, pattern: Path) -> bool:
    """Whether a match goes through something hidden that the pattern does not name itself."""
    return any(_is_hidden(Path(part)) and part not in pattern.parts for part in path.parts)
