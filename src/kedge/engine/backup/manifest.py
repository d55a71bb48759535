"""What an archive says about itself: `manifest.json`, its last entry.

An archive is a ZIP file that holds a home in the default layout, whatever stores it came from: the catalog with users'
graphs as one SQLite file, table sessions, waiting uploads, the secret of the hashes, and the vectors by passage id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from kedge._version import __version__
from kedge.core.errors import BackupError
from kedge.core.values import BackupSummary
from kedge.engine.kinds import kind_files

FORMAT = 1
"""Raised when an older Kedge could not read what is written."""
NAME = "manifest.json"
CATALOG, KEY, TURNS = "catalog.db", "hash.key", "sessions.db"
UPLOADS, VECTORS = "uploads", "points"
MOST_ENTRIES = 1_000_000
_NAMES = r"catalog\.db|hash\.key|sessions\.db|uploads/[0-9a-f-]{36}|points/[0-9]{1,9}\.bin"
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """One file of the archive."""

    name: str
    """Path in the home, from a closed set of places."""
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class VectorFile:
    """The vectors of one collection: records of 16 bytes of id and `dimension` little-endian floats of 4 bytes."""

    name: str
    tenant: str
    collection: str
    embedder: str
    dimension: int
    count: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that is known about an archive."""

    schema: str
    """Revision of the catalog's tables."""
    entries: tuple[ArchivedFile, ...]
    vectors: tuple[VectorFile, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """collections, documents, passages, vectors, sessions, jobs (unfinished), keys."""
    left_out: tuple[str, ...] = ()
    """What restoring makes again, and why it is not here."""
    kedge: str = __version__
    created_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    format: int = FORMAT

    @property
    def size(self) -> int:
        """Bytes of all files, unpacked."""
        return sum(entry.size for entry in self.entries)

    @property
    def summary(self) -> BackupSummary:
        """What is told of it outside."""
        return BackupSummary(
            format=self.format,
            kedge=self.kedge,
            schema=self.schema,
            created_at=self.created_at,
            counts=self.counts,
            left_out=self.left_out,
            files=len(self.entries),
            bytes=self.size,
        )

    def dump(self) -> bytes:
        """As the archive keeps it."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1).encode()


def read_manifest(data: bytes) -> Manifest:
    """The manifest, if everything in it can be believed. BackupError."""
    try:
        found = json.loads(data)
        if found["format"] != FORMAT:
            raise _newer(found["format"])
        manifest = Manifest(
            schema=_text(found["schema"]),
            entries=tuple(_entry(entry) for entry in found["entries"]),
            vectors=tuple(_vectors(one) for one in found["vectors"]),
            counts={_text(name): _count(count) for name, count in found["counts"].items()},
            left_out=tuple(_text(one) for one in found["left_out"]),
            kedge=_text(found["kedge"]),
            created_at=_text(found["created_at"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BackupError("The backup's manifest cannot be read.", hint="Use another backup.") from error
    names = [entry.name for entry in manifest.entries]
    if len(set(names)) != len(names) or CATALOG not in names:
        raise BackupError("The backup's manifest contradicts itself.", hint="Use another backup.")
    if not {one.name for one in manifest.vectors} <= set(names):
        raise BackupError("The backup's manifest names vectors that it does not hold.", hint="Use another backup.")
    return manifest


def _newer(found: object) -> BackupError:
    return BackupError(
        f"The backup has the format {found!r}; this Kedge reads {FORMAT}.",
        hint="Restore it with the version of Kedge that made it, or a newer one.",
    )


def _entry(found: Mapping[str, Any]) -> ArchivedFile:
    name = _text(found["name"])
    if not re.fullmatch("|".join((_NAMES, *(files.names for files in kind_files().values()))), name):
        raise BackupError(f"The backup holds a file that does not belong into a home: {name[:100]!r}.")
    if not _DIGEST.fullmatch(_text(found["sha256"])):
        raise ValueError(name)
    return ArchivedFile(name, _count(found["size"]), found["sha256"])


def _vectors(found: Mapping[str, Any]) -> VectorFile:
    return VectorFile(
        _text(found["name"]),
        _text(found["tenant"]),
        _text(found["collection"]),
        _text(found["embedder"]),
        _count(found["dimension"]),
        _count(found["count"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value))
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(type(value))
    return value
