"""Where a server listens, and whom it lets in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kedge.core.outside import outside


class Access(StrEnum):
    """Who is let in."""

    LOCAL = "local"
    """Without a credential, but only from this machine."""
    KEYS = "keys"
    """Who has a key."""
    TOKENS = "tokens"
    """Who has a key or a token of the issuer."""
    OPEN = "open"
    """Whoever reaches the server: the settings say that something else keeps strangers out."""


@outside()
@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server that has begun to listen."""

    url: str
    page: str | None
    """Where the page is; null when the settings hide it."""
    home: str
    access: Access
