"""Whether a server lives, and whether it can work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kedge.core.outside import outside
from kedge.core.values.base import Metadata


@outside()
@dataclass(frozen=True, slots=True)
class Health:
    """The process is alive."""

    status: Literal["ok"]
    version: str


@outside()
@dataclass(frozen=True, slots=True)
class ServerReadiness:
    """Can the server do its work? Each part says so for itself."""

    status: Literal["ready", "not_ready"]
    version: str
    parts: Metadata
