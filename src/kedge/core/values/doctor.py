"""What is right and wrong with an installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kedge.core.outside import outside
from kedge.core.values.base import Metadata


class FindingStatus(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    """It works, but somebody should look at it."""
    FAILED = "failed"
    SKIPPED = "skipped"
    """It could not be looked at, because of what another check found."""


@outside()
@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    name: str
    """The part, such as `catalog`; of one collection: `vectors of NAME`."""
    status: FindingStatus
    found: str
    todo: str = ""
    """What to do about it."""


@outside()
@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """One part that an installed package brings, Kedge itself or another."""

    group: str
    """`kedge.stores`, `kedge.models`, `kedge.formats` or `kedge.kinds`."""
    name: str
    """Unique in its group."""
    package: str
    """The distribution that brings it."""
    version: str
    """Of that distribution."""


@outside()
@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Every check of an installation, and what is installed."""

    ok: bool
    """No check failed."""
    kedge: str
    """Version of Kedge."""
    python: str
    """Version of Python."""
    platform: str
    home: str | None
    """Null when the settings cannot be read."""
    checks: tuple[Finding, ...]
    """In the order in which they were made."""
    plugins: tuple[InstalledPlugin, ...]
    packages: Mapping[str, str | None]
    """Version of every package that the plug-ins ask for; null: not installed."""
    settings: Metadata | None
    """All of them, secrets masked; null when they cannot be read."""
