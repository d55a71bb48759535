"""The formats there are, and which one a source wants: by its first bytes, what the server said, its name, its look."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from kedge.core.errors import MissingExtraError, PluginError, UnsupportedFormatError, UsageError
from kedge.core.plugins import FORMATS, found, loaded, named
from kedge.ingest.parse.ports import FileFormat

log = logging.getLogger(__name__)

JSONL_SUFFIX = ".jsonl"
"""A corpus, which is no document: `ingest.sources.corpus` takes it apart."""
ZIP_SUFFIX = ".zip"
"""An archive, which is none either: `ingest.sources.zipped` takes it apart."""
PLAIN = "text"
"""The format of what holds its text itself, and the last that anything is taken for."""
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\x1f\x8b", "packed with gzip"),
    (b"BZh", "packed with bzip2"),
    (b"\xfd7zXZ\x00", "packed with xz"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd"),
    (b"\xd0\xcf\x11\xe0", "an office document of the old kind, or one with a password"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"PAR1", "a Parquet table"),
    (b"SQLite format 3\x00", "a database"),
)


@cache
def installed_formats() -> dict[str, FileFormat]:
    """All formats that can be used by name, Kedge's own first. What is no format is told in the log and left out."""
    return loaded(FORMATS, format_fault)


def format_names() -> list[str]:
    """The names that can be asked for, sorted; nothing is loaded for it."""
    return sorted(found(FORMATS))


def format_named(name: str) -> FileFormat:
    """The format, loaded alone. UnsupportedFormatError where the package that brings it is broken or gone."""
    plugin = named(FORMATS, name)
    try:
        if plugin is not None:
            format: FileFormat = plugin.load(format_fault)
            return format
    except (MissingExtraError, PluginError) as error:
        raise UnsupportedFormatError(error.message, hint=error.hint, details=error.details) from error
    raise UnsupportedFormatError(f"There is no format {name!r}.", hint=_known())


def list_formats(schema: dict[str, Any]) -> None:
    """Say in the JSON schema of an optional format which ones there are."""
    schema["anyOf"][0]["enum"] = format_names()


def check_format(name: str | None) -> None:
    """UsageError that lists the known ones for a name that is none; None means that it is to be detected."""
    if name is not None and named(FORMATS, name) is None:
        raise UsageError(f"There is no format {name!r}.", hint=_known())


def format_fault(name: str, found: Any) -> str:
    """What is wrong with what an entry point of that name names; empty: it is a format."""
    if not isinstance(found, FileFormat):
        return f"what it names is of the type {type(found).__name__}, no FileFormat"
    if getattr(found, "name", "") != name:
        return f"the format calls itself {getattr(found, 'name', '')!r}"
    if any(not suffix.startswith(".") or suffix != suffix.lower() for suffix in found.suffixes):
        return "its suffixes have to be in lower case and to begin with a dot"
    return ""


BARE_NAMES = frozenset(
    "readme license licence copying notice changes changelog authors contributors contributing install news todo "
    "makefile dockerfile".split()
)
"""Names of texts that are written without a suffix."""


def known_name(name: str) -> bool:
    """Whether a file of a folder is a document by its name: by its suffix, or as one of those that go without."""
    path = PurePosixPath(name)
    return known_suffix(path.suffix) if path.suffix else path.name.lower() in BARE_NAMES


def known_suffixes() -> list[str]:
    """Of all files that are documents, sorted; archives and corpora are not among them."""
    return sorted({suffix for format in installed_formats().values() for suffix in format.suffixes})


def known_suffix(suffix: str) -> bool:
    """Whether files with this suffix (`.md`, in any case) are documents."""
    return any(suffix.lower() in format.suffixes for format in installed_formats().values())


def known_type(content_type: str) -> bool:
    """Whether what a server declares so is a document."""
    return any(_plain(content_type) in format.media_types for format in installed_formats().values())


def known_content(head: bytes) -> str:
    """What the first bytes say the file is, whatever its name; empty when they say nothing."""
    return next((what for mark, what in _MAGIC if head.startswith(mark)), "")


def detect_format(name: str, head: bytes, content_type: str | None = None) -> FileFormat | None:
    """The format of a source, None when it is none that can be read. `head` is its first few thousand bytes.

    A format that claims the bytes has them whatever their name; then a telling content type counts, then the suffix,
    then the look. Where several formats claim the bytes, type and suffix decide between them.
    """
    formats = list(installed_formats().values())
    claiming = [format for format in formats if says(format.claims, head)]
    wanted = _plain(content_type or ""), PurePosixPath(name).suffix.lower()
    said = next(_said(claiming or formats, head, *wanted), None)
    if said is not None or claiming:
        return said or claiming[0]
    formats.sort(key=lambda format: format.name == PLAIN)
    return next((format for format in formats if says(format.resembles, head)), None)


def says(ask: Callable[[bytes], bool], head: bytes) -> bool:
    """What a format says of a beginning; one that fails over it says no."""
    try:
        return ask(head)
    except Exception as error:  # noqa: BLE001 (a stranger's format must not end the reading of all others)
        _tell_once(f"{ask.__module__}.{ask.__qualname__} failed: {type(error).__name__}: {error}")
        return False


@cache
def _tell_once(fault: str) -> None:
    log.warning("%s", fault)


def readable_name(name: str) -> str:
    """A title of last resort from a file name: `suffix-tree_ukkonen.md` → `Suffix tree ukkonen`."""
    path = PurePosixPath(name)
    stem = path.stem if known_suffix(path.suffix) else name
    words = re.sub(r"[_\-\s]+", " ", stem).strip()
    return words[:1].upper() + words[1:] if words else name


def _said(formats: list[FileFormat], head: bytes, media_type: str, suffix: str) -> Iterator[FileFormat]:
    yield from (format for format in formats if media_type in format.media_types)
    yield from (format for format in formats if suffix in format.shared and says(format.resembles, head))
    yield from (format for format in formats if suffix in format.suffixes)


def _plain(content_type: str) -> str:
    return content_type.split(";", maxsplit=1)[0].strip().lower()


def _known() -> str:
    return f"Known: {', '.join(format_names())}."
