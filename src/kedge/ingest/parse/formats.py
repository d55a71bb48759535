"""Which parser a source wants: by name, by what the server said, by its first bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from kedge.ingest.parse.decode import looks_like_text
from kedge.types import Format

JSONL_SUFFIX = ".jsonl"
SUFFIXES: Mapping[str, Format] = {
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".txt": Format.TEXT,
    ".text": Format.TEXT,
    ".rst": Format.TEXT,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".pdf": Format.PDF,
}
_TYPES: Mapping[str, Format] = {
    "text/html": Format.HTML,
    "application/xhtml+xml": Format.HTML,
    "application/pdf": Format.PDF,
    "application/x-pdf": Format.PDF,
    "text/markdown": Format.MARKDOWN,
    "text/x-markdown": Format.MARKDOWN,
}
_HTML = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)


_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\x1f\x8b", "packed with gzip"),
    (b"BZh", "packed with bzip2"),
    (b"\xfd7zXZ\x00", "packed with xz"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"PAR1", "a Parquet table"),
    (b"SQLite format 3\x00", "a database"),
)


def known_content(head: bytes) -> str:
    """What the first bytes say the file is, whatever its name; empty when they say nothing."""
    return next((what for mark, what in _MAGIC if head.startswith(mark)), "")


def detect_format(name: str, head: bytes, content_type: str | None = None) -> Format | None:
    """The format of a source, None when it is none that can be read. `head` is its first few thousand bytes.

    A PDF is known by its bytes whatever its name; then a telling content type counts, then the suffix, then the look.
    """
    if b"%PDF-" in head[:1024]:
        return Format.PDF
    declared = (content_type or "").split(";")[0].strip().lower()
    if declared in _TYPES:
        return _TYPES[declared]
    by_suffix = SUFFIXES.get(PurePosixPath(name).suffix.lower())
    if by_suffix is not None:
        return by_suffix
    if _HTML.match(head):
        return Format.HTML
    return Format.TEXT if looks_like_text(head) else None


def readable_name(name: str) -> str:
    """A title of last resort from a file name: `suffix-tree_ukkonen.md` → `Suffix tree ukkonen`."""
    stem = name if PurePosixPath(name).suffix.lower() not in SUFFIXES else PurePosixPath(name).stem
    words = re.sub(r"[_\-\s]+", " ", stem).strip()
    return words[:1].upper() + words[1:] if words else name
