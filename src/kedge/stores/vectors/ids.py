"""How engines with one space of ids tell tenants apart: an id is shifted by a mask of its tenant.

The same id under two tenants is two points. The default tenant's mask is 0.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from uuid import UUID

from kedge.core.values import DEFAULT_TENANT


def inner_id(id: str, tenant: str) -> UUID:
    """The engine's id of a tenant's point."""
    own, mask = UUID(id), _mask(tenant)
    return UUID(int=own.int ^ mask) if mask else own


def outer_id(id: UUID, tenant: str) -> str:
    """The way back."""
    mask = _mask(tenant)
    return str(UUID(int=id.int ^ mask) if mask else id)


def outer_number(id: UUID, tenant: str) -> int:
    """The number of the outer id, which sorts like its text."""
    return id.int ^ _mask(tenant)


def id_of(number: int) -> str:
    """The outer id of that number."""
    return str(UUID(int=number))


@lru_cache(maxsize=1024)
def _mask(tenant: str) -> int:
    if tenant == DEFAULT_TENANT:
        return 0
    return int.from_bytes(hashlib.blake2b(tenant.encode(), digest_size=16).digest())
