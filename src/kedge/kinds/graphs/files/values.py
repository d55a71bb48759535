"""Values as files write them, and ids of edges that have none."""

from __future__ import annotations

import json
import re

from kedge.core.ids import sha256
from kedge.core.values import Json

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)\.\d+")
MAX_VALUE_CHARS = 10_000


def edge_id(source: str, type: str, target: str) -> str:
    """The id of an edge that was given none: the same triple is the same edge, however often it is written."""
    return sha256(f"{source}\x1f{type}\x1f{target}")[:32]


def property_value(text: str, kind: str = "") -> Json:
    """A cell as a number or truth value where it plainly is one; text otherwise. Neo4j's types are kept to.

    >>> property_value("18"), property_value("18.50"), property_value("007"), property_value("18", "string")
    (18, 18.5, '007', '18')
    """
    if kind.endswith("[]"):
        return [property_value(part, kind[:-2]) for part in split_list(text)]
    if kind in ("string", "char") or len(text) > MAX_VALUE_CHARS:
        return text[:MAX_VALUE_CHARS]
    if _INTEGER.fullmatch(text):
        return float(text) if kind in ("float", "double") else int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    return text.lower() == "true" if kind == "boolean" or text in ("true", "false", "True", "False") else text


def split_list(text: str) -> list[str]:
    """The parts of a cell that holds several: a JSON list, or parted by `;` or `|`."""
    if text.startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list):
            return [str(one) for one in found]
    return [part.strip() for part in re.split(r"[;|]", text) if part.strip()]
