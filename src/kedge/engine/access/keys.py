"""API keys: `kdg_<id>_<secret>`. The secret is random and shown once; the catalog keeps its digest only."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from kedge.core.errors import UnauthorizedError, UsageError
from kedge.core.ids import sha256
from kedge.core.values import ApiKey, Right, checked_readers
from kedge.stores.catalog.ports import Keys

PREFIX = "kdg_"
_TOKEN = re.compile(rf"{PREFIX}([0-9a-f]{{16}})_([A-Za-z0-9_-]{{43}})")
TENANT = re.compile(r"[\w][\w.@-]{0,99}")
"""What can be a tenant."""
_NOBODY = sha256("")
"""Compared with where there is no such key, so that both take the same time."""
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,100}")


def make_key(
    tenant: str,
    name: str,
    right: Right,
    days: int | None = None,
    *,
    user: str | None = None,
    groups: Sequence[str] = (),
) -> tuple[str, ApiKey]:
    """A new key: the token to hand out, and what is kept of it. UsageError for names that cannot be."""
    principals = [f"group:{group}" for group in groups] + ([] if user is None else [f"user:{user}"])
    checked = checked_readers(principals)
    if not TENANT.fullmatch(tenant):
        raise UsageError(
            f"{tenant!r} cannot be a tenant.", hint="Use letters, digits, dots, dashes, @ and _, at most 100."
        )
    if not _NAME.fullmatch(name.strip()):
        raise UsageError("A key needs a name of 1 to 100 characters.", hint="Say who or what uses it.")
    id, secret, now = secrets.token_hex(8), secrets.token_urlsafe(32), datetime.now(UTC)
    expires = now + timedelta(days=days) if days is not None else None
    named = sorted(one.removeprefix("group:") for one in checked if one.startswith("group:"))
    made = ApiKey(id, tenant, name.strip(), right, sha256(secret), now, expires, user=user, groups=tuple(named))
    return f"{PREFIX}{id}_{secret}", made


async def key_of(token: str, keys: Keys) -> ApiKey:
    """The key behind a token. UnauthorizedError, the same for every reason: a guess learns nothing."""
    read = _TOKEN.fullmatch(token)
    found = await keys.get(read[1]) if read else None
    same = hmac.compare_digest(found.digest if found else _NOBODY, sha256(read[2]) if read else "")
    if found is None or not same or not found.valid(datetime.now(UTC)):
        raise UnauthorizedError(
            "The key is not valid.", hint="`kedge key list` shows which are; send one as a bearer token."
        )
    return found
