"""What text and values from outside may hold: one rule for questions, names, filters and bodies of requests.

NUL and lone surrogates are no text, and stores refuse them in ways of their own. Control characters and marks that
reverse the direction of writing have no place in names: they are shown in lists and written to logs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kedge.core.values.base import Json

MAX_NAME_CHARS = 200
MAX_DEPTH = 32
MAX_VALUES = 100_000
MAX_METADATA = 10_000
"""Values that a file may say about itself."""
MAX_INTEGER = 2**63 - 1
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
"""Control characters but white space."""
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
"""Those, line breaks and marks of direction."""
_BLANKS = re.compile(r"\s+")


def fault_in_text(text: str) -> str:
    """What is wrong with a text: empty when nothing is."""
    if "\0" in text:
        return "holds a NUL"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "holds half a character (a lone surrogate)"
    return ""


def fault_in_line(text: str) -> str:
    """The same for what a person types: control characters have no place there either."""
    if fault := fault_in_text(text):
        return fault
    return "holds control characters" if _CONTROLS.search(text) else ""


def file_name(name: str) -> str:
    """The bare name of an uploaded file: no folders, nothing unseen, not too long. It never becomes a path.

    >>> file_name("C:\\\\temp\\\\..\\\\notes.md"), file_name("/etc/\\u202egnp.md"), file_name("..")
    ('notes.md', 'gnp.md', 'upload')
    """
    bare = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    bare = bare.encode("utf-8", "replace").decode()
    bare = _BLANKS.sub(" ", _UNSEEN.sub("", unicodedata.normalize("NFC", bare))).strip()
    if bare in ("", ".", ".."):
        return "upload"
    if len(bare) <= MAX_NAME_CHARS:
        return bare
    stem, dot, suffix = bare.rpartition(".")
    suffix = dot + suffix if stem and len(suffix) <= 10 else ""
    return bare[: MAX_NAME_CHARS - len(suffix)] + suffix


def tame(values: Mapping[str, Json]) -> dict[str, Json]:
    """What a file says about itself, as stores and JSON can keep it; ValueError when it is too deep or too much."""
    left = [MAX_METADATA]

    def tamed(item: Json, depth: int) -> Json:
        left[0] -= 1
        if depth > MAX_DEPTH or left[0] < 0:
            raise ValueError("it is nested too deep or holds too much")
        if isinstance(item, dict):
            return {_text(key): tamed(inner, depth + 1) for key, inner in item.items()}
        if isinstance(item, list):
            return [tamed(inner, depth + 1) for inner in item]
        if isinstance(item, str):
            return _text(item)
        try:
            _check_scalar(item)
        except ValueError:
            return str(item) if isinstance(item, float) else None
        return item

    return {_text(key): tamed(value, 0) for key, value in values.items()}


def _text(text: str) -> str:
    return text if text.isascii() and "\0" not in text else text.replace("\0", "").encode("utf-8", "replace").decode()


def check_json(value: Json) -> None:
    """ValueError for JSON that is too deep, too much, or holds what is no text and no number that stores can keep."""
    left = MAX_VALUES
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        deeper: list[Json] = []
        left -= len(level)
        if left < 0:
            raise ValueError(f"holds more than {MAX_VALUES:,} values")
        for item in level:
            if isinstance(item, dict):
                deeper.extend(item)
                deeper.extend(item.values())
            elif isinstance(item, list):
                deeper.extend(item)
            else:
                _check_scalar(item)
        if not deeper:
            return
        level = deeper
    raise ValueError(f"is nested deeper than {MAX_DEPTH} levels")


def _check_scalar(item: Json) -> None:
    if isinstance(item, str):
        if fault := fault_in_text(item):
            raise ValueError(f"{fault}; write it as valid UTF-8")
    elif isinstance(item, float):
        if item - item != 0:
            raise ValueError("holds a number that is not finite")
    elif isinstance(item, int) and abs(item) > MAX_INTEGER:
        raise ValueError("holds a whole number of more than 64 bits")
