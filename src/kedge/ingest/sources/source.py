"""One document before it is read: who it is, where its bytes are, and what the user said about it."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, field, replace
from datetime import datetime
from os import SEEK_END
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from kedge.core.errors import KedgeError, SourceTooLargeError, UnreadableError, UnsupportedFormatError
from kedge.core.ids import sha256, stable_json
from kedge.core.values import Json, Metadata, SourceError
from kedge.ingest.parse.formats import detect_format, format_named, format_names, known_content, says
from kedge.ingest.parse.ports import HEAD, FileFormat
from kedge.ingest.sources.download import Deferred, Download

_PIECE = 1 << 20
TAIL = 1 << 16
"""Bytes at the end of an archive in which the names of its members are looked for."""


@dataclass(frozen=True, slots=True)
class Source:
    """One document before it is read. Reading it again gives the same bytes unless the file changed."""

    url: str
    """Stable identity: absolute path, address, or `path#_id` for a row of a corpus."""
    external_id: str
    """The id the source gave: a JSONL row's `_id`, else the path as the user wrote it, or the address."""
    name: str
    """File name, for messages, format and a title of last resort."""
    content: Path | Download | Deferred | bytes | str
    """Where the bytes are; a `str` is text that needs no decoding."""
    size: int
    """In bytes."""
    updated_at: datetime | None = None
    """When the source itself last changed, as far as known."""
    metadata: Metadata = field(default_factory=dict)
    """What the user or the corpus says about it."""
    format: str | None = None
    """Name of its format; None: to be told from name and content."""
    title: str | None = None
    """Overrides the detected title."""
    encoding: str | None = None
    """Overrides the detected encoding."""
    content_type: str | None = None
    """As the server said (URLs only)."""
    readers: tuple[str, ...] | None = None
    """Who may read it, as its folder or the connector that found it says; None: they say nothing."""
    document_id: str | None = None
    """Set by kinds whose documents have ids of their own; None: the id follows from the url."""
    known_hash: str | None = None
    """SHA-256 of the bytes where it is known without reading them; they are fetched only if they are wanted."""

    @property
    def label(self) -> str:
        """How messages call it."""
        return self.url

    @property
    def text(self) -> str | None:
        """The text itself, where the source holds it (rows of a corpus)."""
        return self.content if isinstance(self.content, str) else None

    def open(self) -> BinaryIO:
        """A new, seekable stream of the bytes. Raises UnreadableError."""
        if isinstance(self.content, str):
            return io.BytesIO(self.content.encode())
        if isinstance(self.content, bytes):
            return io.BytesIO(self.content)
        try:
            path = self.content if isinstance(self.content, Path) else self.content.path
            return path.open("rb")
        except OSError as error:
            raise unreadable(self.name, error) from error

    def read(self) -> bytes:
        """All bytes at once; for formats that cannot be read piece by piece."""
        with self.open() as stream:
            return stream.read()

    def content_hash(self) -> str:
        """SHA-256 of the bytes, read piece by piece unless it is known."""
        if self.known_hash is not None:
            return self.known_hash
        digest = hashlib.sha256()
        with self.open() as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
        return digest.hexdigest()

    def fingerprint(self) -> str:
        """SHA-256 of the bytes and of all that the user said about them; equal means nothing to do."""
        said: dict[str, Json] = {
            "bytes": self.content_hash(),
            "title": self.title,
            "format": self.format,
            "encoding": self.encoding,
            "metadata": dict(self.metadata),
        }
        if self.readers is not None:  # else it is as before there were readers
            said["readers"] = list(self.readers)
        return sha256(stable_json(said))


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What the user says about the sources instead of letting it be detected."""

    format: str | None = None
    title: str | None = None
    """For a single file, address or upload only."""
    encoding: str | None = None
    metadata: Metadata = field(default_factory=dict)


def with_format(source: Source) -> Source:
    """The source with its format told from first bytes, type and suffix. Raises UnsupportedFormatError."""
    if source.text is not None and source.format is not None:
        return source
    with source.open() as stream:
        head = stream.read(HEAD)
    format = format_named(source.format) if source.format else detect_format(source.name, head, source.content_type)
    content = known_content(head)
    if content and not (format is not None and (says(format.claims, head) or _lists(source, format))):
        raise UnsupportedFormatError(
            f"{source.name} is {content}, whatever its name says.",
            hint="Unpack it, or save it as DOCX, PPTX, XLSX or PDF without a password; tables go in as kind `table`.",
        )
    if format is None:
        raise UnsupportedFormatError(
            f"{source.name} is in no format that kedge reads.",
            hint=f"Read are {', '.join(format_names())} and JSONL corpora; say the format if the suffix hides it.",
        )
    return replace(source, format=format.name)


def _lists(source: Source, format: FileFormat) -> bool:
    """Whether the list at the end of an archive has what a file of the format has."""
    if not format.members or PurePosixPath(source.name).suffix.lower() not in format.suffixes:
        return False
    with source.open() as stream:
        stream.seek(max(0, stream.seek(0, SEEK_END) - TAIL))
        end = stream.read(TAIL)
    return any(name in end for name in format.members)


def apply_options(source: Source, options: SourceOptions) -> Source:
    """The source with what the user said about it."""
    return replace(
        source,
        format=options.format or source.format,
        title=options.title or source.title,
        encoding=options.encoding or source.encoding,
        metadata={**source.metadata, **options.metadata},
    )


def check_path(path: Path) -> None:
    """UnreadableError for a path that cannot be written down: its name is no valid UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        shown = str(path).encode("utf-8", "replace").decode()
        raise UnreadableError(f"The name of {shown} is not valid UTF-8.", hint="Rename the file.") from error


def is_file_within(path: Path, folder: Path) -> bool:
    """Whether this is a regular file that does not lead out of the folder by a link."""
    return path.is_file() and (not path.is_symlink() or path.resolve().is_relative_to(folder.resolve()))


def source_error(url: str, fault: KedgeError) -> SourceError:
    """A fault as the job reports it."""
    url = url.encode("utf-8", "replace").decode()  # names of files can hold bytes that are no text
    return SourceError(url=url, code=fault.code, message=fault.message, hint=fault.hint)


def unreadable(name: str, error: Exception) -> UnreadableError:
    """What the operating system says about a file, with what to do."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    hint = "Check that it exists and that the path is right."
    if isinstance(error, PermissionError):
        hint = "Give the user that runs kedge the right to read it."
    return UnreadableError(f"{name} cannot be read: {reason}.", hint=hint)


def damaged(name: str, what: str) -> UnreadableError:
    """A file over which its parser failed with `what`."""
    return UnreadableError(f"{name} cannot be parsed ({what}).", hint="It is damaged; make or download it anew.")


def too_large(name: str, limit: int) -> SourceTooLargeError:
    """A source over the limit in the settings."""
    return SourceTooLargeError(
        f"{name} is larger than {limit:,} bytes.", hint="Raise the setting max_source_bytes (KEDGE_MAX_SOURCE_BYTES)."
    )
