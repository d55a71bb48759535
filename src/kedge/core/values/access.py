"""Who may do what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

from kedge.core.outside import outside


class Right(StrEnum):
    """What a key allows; each holds those before it."""

    READ = "read"
    """Ask, search, look, rate answers."""
    WRITE = "write"
    """Take in, change and delete knowledge."""
    ADMIN = "admin"
    """Name files of the server's machine, and see the figures of the whole server: for who runs it. For the tenant
    `default`, also fetch backups of everything."""

    def allows(self, wanted: Right) -> bool:
        """Whether this right is enough."""
        rights = list(Right)
        return rights.index(self) >= rights.index(wanted)


@outside({"state": "state"}, hidden=("digest",))
@dataclass(frozen=True, slots=True)
class ApiKey:
    """A credential as the catalog knows it: never the secret itself."""

    id: str
    tenant: str
    """Whose data it opens."""
    name: str
    """For people: who or what uses it."""
    right: Right
    digest: str
    """SHA-256 of the secret, which is random and long."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def valid(self, now: datetime) -> bool:
        """Whether it still opens anything."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def state(self) -> Literal["valid", "expired", "revoked"]:
        """What becomes of a request with it, now."""
        if self.revoked_at is not None:
            return "revoked"
        return "valid" if self.valid(datetime.now(UTC)) else "expired"


@outside(spread="made")
@dataclass(frozen=True, slots=True)
class NewKey:
    """A key at the moment it is made: the only one at which its secret is known."""

    made: ApiKey
    key: str
    """What callers send. It is not kept, and not shown again."""
