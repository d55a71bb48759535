"""What one file may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the process that parses has no settings
    from kedge.core.settings import Settings

SHARE = 8 << 20
"""Bytes of a file for which it gets its seconds once more."""


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """The caps. They hold where the platform can keep to them: memory on Linux, time and output everywhere."""

    seconds: float
    """Of waiting for one file, for each 8 MiB of it."""
    memory: int
    """Bytes of address space of the process."""
    output: int
    """Bytes of what it hands back."""

    @classmethod
    def of(cls, settings: Settings) -> ParseLimits | None:
        """None: the settings want everything read in this process."""
        if not settings.parse_apart:
            return None
        return cls(settings.parse_timeout, settings.parse_memory_bytes, settings.parse_output_bytes)

    def seconds_for(self, size: int) -> float:
        """Seconds for a file of that size."""
        return self.seconds * max(1.0, size / SHARE)
