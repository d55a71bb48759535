"""Front matter at the head of a markdown file: YAML between `---`, TOML between `+++`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time

import yaml

from kedge.core.untrusted import tame
from kedge.core.values import Json

_HEAD = re.compile(
    r"\A[ \t]*(?P<mark>---|\+\+\+)[ \t]*(?:\r\n?|\n)(?P<body>.*?)^(?P=mark)[ \t]*(?:\r\n?|\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_MAX_ALIASES = 20
_AsWritten = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a document says about itself."""

    end: int = 0
    """Offset behind the front matter; 0 when there is none."""
    values: Mapping[str, Json] = field(default_factory=dict)
    warning: str = ""
    """Set when it looks like front matter but cannot be read."""

    def text(self, *names: str) -> str | None:
        """The first of these fields that holds text; a list of names is joined."""
        for name in names:
            value = self.values.get(name)
            if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
                return ", ".join(str(item) for item in value)
            if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
                return str(value).strip()
        return None


def read_front_matter(text: str, *, as_written: bool = False) -> FrontMatter:
    """Split off the front matter; a body that is no mapping (say, a thematic break) is left in the text.

    `as_written`: numbers, dates and booleans stay the text they are, because `2.10` and `08` are names of lessons and
    YAML would make 2.1 and text of them.
    """
    match = _HEAD.match(text)
    if not match:
        return FrontMatter()
    try:
        values = _load(match["mark"], match["body"], as_written=as_written)
        if isinstance(values, dict):
            return FrontMatter(end=match.end(), values=tame({str(key): as_json(item) for key, item in values.items()}))
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        return FrontMatter(end=match.end(), warning=f"The front matter cannot be read: {_first_line(error)}")
    if values is None and not match["body"].strip():
        return FrontMatter(end=match.end())
    return FrontMatter()


def _load(mark: str, body: str, *, as_written: bool) -> object:
    if mark == "+++":
        return tomllib.loads(body, parse_float=str if as_written else float)
    if len(re.findall(r"(?:^|[\s,:\[{])\*\w", body)) > _MAX_ALIASES:
        raise ValueError("it has too many YAML aliases")
    if as_written:
        return yaml.load(body, _AsWritten)  # noqa: S506 (makes nothing but text, lists and mappings)
    return yaml.safe_load(body)


def as_json(value: object) -> Json:
    """The nearest JSON value: dates as ISO text, unknown things as text."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(item) for item in value]
    return str(value)


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
