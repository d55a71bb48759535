"""What all values share: JSON, and whose data it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
Metadata: TypeAlias = Mapping[str, Json]
DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose data, and which collection of it: carried by every store call."""

    tenant: str
    """Bound to the caller's credentials, never taken from a request field."""
    collection: str
    """Name of the collection within the tenant."""
