"""Names and keys on the server's side. What users write never stands in an expression: only numbers and hashes do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from functools import lru_cache

from kedge.core.values import DEFAULT_TENANT

_LONGEST = 200
_PLAIN = re.compile(r"[A-Za-z0-9]|_(?=[A-Za-z0-9])")
_ID_LENGTH = 36


def collection_name(index: str) -> str:
    """The server's name of an index: letters, digits and single underscores stay, all else is written in hex."""
    written = []
    for place, character in enumerate(index):
        plain = _PLAIN.match(index, place) is not None and not (place == 0 and character.isdigit())
        written.append(character if plain else "".join(f"__{byte:02x}" for byte in character.encode()))
    name = "".join(written)
    return name if 0 < len(name) <= _LONGEST else f"{name[:_LONGEST]}__{hashed(index):016x}"


@lru_cache(maxsize=65536)
def hashed(*parts: str) -> int:
    """A stable number of 63 bits for these texts; small enough for a signed field."""
    written = json.dumps(parts).encode()
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest()) >> 1


def inner_id(id: str, tenant: str) -> str:
    """The server's key of a tenant's point; the default tenant's is the id itself."""
    return id if tenant == DEFAULT_TENANT else f"{id}@{hashed(tenant):016x}"


def outer_id(key: str) -> str:
    """The way back."""
    return key[:_ID_LENGTH]


def id_list(keys: Iterable[str]) -> str:
    """`id in […]` for keys that `inner_id` made."""
    quoted = ", ".join(f'"{key}"' for key in keys)
    return f"id in [{quoted}]"


def clipped(text: str, most: int) -> str:
    """The longest beginning of the text that takes at most this many bytes."""
    if len(text) * 4 <= most:
        return text
    return text.encode()[:most].decode(errors="ignore")
