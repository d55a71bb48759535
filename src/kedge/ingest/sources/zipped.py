"""ZIP archives as sources: every document in one is a document of its own, archives within archives too.

Members are unpacked one at a time and counted as they come, so that an archive that unpacks without end costs no more
than the caps, whatever its directory claims.
"""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath

from kedge.core.errors import EmptySourceError, EncryptedError, SourceFault, SourceTooLargeError, UnreadableError
from kedge.core.values import SourceError
from kedge.ingest.parse.formats import JSONL_SUFFIX, ZIP_SUFFIX, detect_format, known_name, known_suffix
from kedge.ingest.parse.ports import HEAD
from kedge.ingest.sources.corpus import is_corpus, read_corpus
from kedge.ingest.sources.download import Download
from kedge.ingest.sources.sidecar import NAME
from kedge.ingest.sources.source import Source, source_error, with_format

MAX_MEMBERS = 20_000
DEEPEST = 3
"""Archives within archives that are opened."""
IN_MEMORY = 1 << 20
"""Bytes up to which a member is not spooled to a file."""
_PIECE = 1 << 18
_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_ENCRYPTED = 0x1
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, RuntimeError)


@dataclass(slots=True)
class Unpacking:
    """What one archive may still cost, with all that is in it, and what was passed over."""

    most_member: int
    """Bytes that one member may unpack to."""
    left: int
    """Bytes that all together may."""
    members: int = MAX_MEMBERS
    skipped: Counter[str] = field(default_factory=Counter)
    """Members that are no documents, by suffix."""


def is_archive(source: Source) -> bool:
    """Whether it is a ZIP archive of files, and not a document that is one inside."""
    with source.open() as stream:
        head = stream.read(HEAD)
    if not head.startswith(_MAGIC) or source.format:
        return False
    suffix = PurePosixPath(source.name).suffix.lower()
    return suffix == ZIP_SUFFIX or (not known_suffix(suffix) and detect_format("", head) is None)


def unpacked(source: Source, caps: Unpacking, depth: int = 1) -> Iterator[Source | SourceError]:
    """The documents of an archive in its order, each with the url `archive#member`; what is wrong with one is told."""
    found = 0
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as file:
            for info in file.infolist():
                if info.is_dir() or _is_hidden(info.filename):
                    continue
                for item in _member(source, file, info, caps, depth):
                    found += 1
                    yield item
    except _BROKEN as error:
        yield source_error(
            source.url,
            UnreadableError(
                f"{source.name} is damaged, or no ZIP archive at all ({type(error).__name__}).",
                hint="Pack it anew, or ingest the folder.",
            ),
        )
    except SourceFault as fault:
        yield source_error(source.url, fault)
    else:
        if not found:
            empty = EmptySourceError(f"{source.name} holds no document.", hint="Remove it from what you ingest.")
            yield source_error(source.url, empty)


def _member(
    archive: Source, file: zipfile.ZipFile, info: zipfile.ZipInfo, caps: Unpacking, depth: int
) -> Iterator[Source | SourceError]:
    path = PurePosixPath(info.filename.encode("utf-8", "replace").decode())
    suffix, url = path.suffix.lower(), f"{archive.url}#{path}"
    if path.name == NAME:
        raise UnreadableError(
            f"{archive.name} says inside of itself who may read it, which is not read there.",
            hint=f"Unpack it and ingest the folder, or put the {NAME} beside the archive.",
        )
    if suffix not in (JSONL_SUFFIX, ZIP_SUFFIX) and not known_name(path.name):
        caps.skipped[suffix] += 1
        return
    caps.members -= 1
    if caps.members < 0:
        raise SourceTooLargeError(
            f"{archive.name} holds over {MAX_MEMBERS:,} documents.", hint="Unpack it and ingest the folder."
        )
    try:
        content = _content(archive, file, info, caps)
        size = len(content) if isinstance(content, bytes) else content.size
        source = Source(
            url, f"{archive.external_id}#{path}", path.name, content, size, _changed(info), archive.metadata,
            encoding=archive.encoding, readers=archive.readers,
        )  # fmt: skip
        if suffix == ZIP_SUFFIX:
            if depth >= DEEPEST:
                raise SourceTooLargeError(
                    f"{path.name} is an archive within {DEEPEST} others.", hint="Unpack it and ingest the folder."
                )
            yield from unpacked(source, caps, depth + 1)
        elif suffix == JSONL_SUFFIX:
            if is_corpus(source):
                yield from read_corpus(source)
            else:
                caps.skipped[suffix] += 1
        else:
            yield with_format(source)
    except _Spent:
        raise SourceTooLargeError(
            f"{archive.name} unpacks to more than is allowed.",
            hint="Unpack it and ingest the folder, or raise parse_output_bytes if you trust it.",
        ) from None
    except _BROKEN as error:
        fault = UnreadableError(
            f"{path.name} in {archive.name} is damaged ({type(error).__name__}).", hint="Pack it anew."
        )
        yield source_error(url, fault)
    except SourceFault as fault:
        yield source_error(url, fault)


class _Spent(Exception):
    """All members together unpack to more than is allowed."""


def _content(archive: Source, file: zipfile.ZipFile, info: zipfile.ZipInfo, caps: Unpacking) -> bytes | Download:
    """The bytes of a member, in a file of their own where there are many. Raises SourceFault."""
    if info.flag_bits & _ENCRYPTED:
        raise EncryptedError(
            f"{info.filename} in {archive.name} wants a password.", hint="Unpack it and ingest the folder."
        )
    small, spooled, size = bytearray(), None, 0
    with file.open(info) as stream:
        while piece := stream.read(_PIECE):
            size += len(piece)
            caps.left -= len(piece)
            if size > caps.most_member:
                raise SourceTooLargeError(
                    f"{info.filename} in {archive.name} is larger than {caps.most_member:,} bytes.",
                    hint="Raise the setting max_source_bytes (KEDGE_MAX_SOURCE_BYTES).",
                )
            if caps.left < 0:
                raise _Spent
            if spooled is None and size > IN_MEMORY:
                spooled = Download()
                spooled.write(bytes(small))
                small.clear()
            if spooled is not None:
                spooled.write(piece)
            else:
                small += piece
    if spooled is None:
        return bytes(small)
    spooled.finish()
    return spooled


def _changed(info: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:  # archives can name the 31st of February
        return None


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part.startswith((".", "~$")) or part in ("__MACOSX", "node_modules", "__pycache__") for part in parts)
