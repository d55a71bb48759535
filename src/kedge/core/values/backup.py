"""What is said of backups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kedge.core.outside import outside


@outside()
@dataclass(frozen=True, slots=True)
class BackupSummary:
    """What a backup holds."""

    format: int
    """Of the archive; a Kedge that reads a lower one only refuses it."""
    kedge: str
    """Version of Kedge that made it."""
    schema: str
    """Revision of the catalog's tables."""
    created_at: str
    counts: Mapping[str, int]
    """collections, documents, passages, vectors, sessions, jobs (unfinished), keys."""
    left_out: tuple[str, ...]
    """What restoring makes again, and why it is not in the archive."""
    files: int
    bytes: int
    """Of all files, unpacked."""


@outside(spread="backup")
@dataclass(frozen=True, slots=True)
class BackupWritten:
    """A backup that was made."""

    backup: BackupSummary
    file: str
    file_bytes: int
    """Size of the file itself."""


@outside(spread="backup")
@dataclass(frozen=True, slots=True)
class BackupVerified:
    """A backup that was read from end to end."""

    backup: BackupSummary
    file: str
    ok: bool
    """Every sum agrees. Where one does not, there is an error instead."""


@outside(spread="backup")
@dataclass(frozen=True, slots=True)
class BackupRestored:
    """A backup that was put back."""

    backup: BackupSummary
    home: str
    vectors_restored: int
    """Taken from the backup."""
    vectors_embedded: int
    """Made again, because the backup does not hold them."""
    passages: int
    """Found in catalog and index by the check afterwards."""
    ok: bool
    """Whether that check found no difference."""
