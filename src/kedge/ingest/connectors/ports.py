"""The port of a connector: list what is there, open one. Small, so that a place of your own is a page of code.

Everything else is done for it, once: what changed is told from the fingerprints, what is gone is taken out with a
guard, runs are jobs that may be killed anywhere, limits and formats are checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from kedge.core.errors import UsageError
from kedge.core.values import Metadata, SourceError
from kedge.ingest.sources.download import Download

Content: TypeAlias = Path | Download | bytes
YES = ("yes", "true", "1")
"""What switches an option on."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is there, before its bytes are asked for."""

    key: str
    """Which one it is, as long as it is there; unique within the source."""
    url: str
    """Of its document: what is shown with answers. Holds no secret. Unique within the source."""
    name: str
    """File name: tells its format, and its title where nothing else does."""
    fingerprint: str | None = None
    """Changes whenever the bytes do: an ETag, a digest, time and size. None: the bytes are read every time."""
    size: int = 0
    """In bytes, as far as the listing tells."""
    updated_at: datetime | None = None
    title: str | None = None
    """Instead of the one in the document."""
    content_type: str | None = None
    """As the server declares it; tells the format where the name does not."""
    metadata: Metadata = field(default_factory=dict)
    """Kept with the document; filters see it."""
    readers: tuple[str, ...] | None = None
    """Principals that may read it, where the source knows; None: it does not say."""
    note: Metadata = field(default_factory=dict)
    """What the connector wants to be told of it the next time (`Remembered.note`)."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """An entry as it was when its bytes were last read."""

    url: str
    fingerprint: str | None
    size: int
    note: Metadata


@dataclass(frozen=True, slots=True)
class LastListing:
    """What is known from runs before."""

    items: Mapping[str, Remembered] = field(default_factory=dict)
    """By key."""
    cursor: str = ""
    """`Connector.cursor` after the last listing that came to its end."""


@dataclass(frozen=True, slots=True)
class SourceAddress:
    """Where a connector is to look, and what it signs in with."""

    url: str
    options: Metadata = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    """By name: the secrets themselves. Never shown, never kept."""

    def text(self, name: str, default: str = "") -> str:
        """An option that is a word."""
        value = self.options.get(name)
        return default if value is None else str(value)

    def number(self, name: str, default: float) -> float:
        """An option that is a number, not below 0. UsageError."""
        value = self.options.get(name)
        try:
            found = default if value is None else float(str(value))
        except ValueError:
            found = -1.0
        if not 0 <= found < 1e15:
            raise UsageError(f"The option {name} is {value!r}.", hint="Give a number, 0 or more.")
        return found

    def allow(self, *, options: tuple[str, ...] = (), secrets: tuple[str, ...] = ()) -> None:
        """UsageError for an option or a secret that the connector does not know."""
        for what, given, known in (("option", self.options, options), ("secret", self.secrets, secrets)):
            stray = sorted(set(given) - set(known))
            if stray:
                raise UsageError(
                    f"{self.url} takes no {what} {stray[0]!r}.",
                    hint=f"It takes: {', '.join(known)}." if known else f"It takes no {what}s.",
                )


@runtime_checkable
class Connector(Protocol):
    """A place that holds documents. Used by one thread at a time, and closed in the end.

    Every method may raise SourceFault; what it says is shown, so no message holds a secret.
    """

    @property
    def complete(self) -> bool:
        """Whether an entry that is not listed is gone from the source (a feed forgets old ones, a folder does not).

        Asked after listing: one that was cut short by a limit says False."""

    @property
    def cursor(self) -> str:
        """After listing to the end: what to be told the next time (`LastListing.cursor`); empty: nothing."""

    def entries(self, past: LastListing) -> Iterator[Entry | SourceError]:
        """All that is there, in any order. What cannot be seen is an error with the url of the entry, or of the folder
        above what is hidden, and counts as still there. Raises SourceFault when the listing cannot go on at all."""

    def open(self, entry: Entry) -> Content:
        """The bytes of an entry of the last listing, while it runs or after it."""

    def close(self) -> None:
        """Let go of connections and files. Closing twice is fine."""
