"""Names of nodes and relations, as keys to look up and as words to compare with a question's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPACES = re.compile(r"[_\s]+")
_PARTS = re.compile(r"__+|[./:#|]+")
_INVERSE = re.compile(
    r"^(?:inverse|inv|reverse|rev)(?:\s+of)?\s+|\s(?:inverse|inv|reverse|rev)$|^(?:-|~|\^)|(?:-1|⁻¹)$"
)


def readable(name: str) -> str:
    """A name as people write it: identifiers joined by underscores become words.

    >>> readable("Manchester_United_FC"), readable("snake case stays")
    ('Manchester United FC', 'snake case stays')
    """
    return _SPACES.sub(" ", name).strip() or name


@dataclass(frozen=True, slots=True)
class RelationName:
    """A relation's name as words."""

    words: str
    """The last part of a dotted or `__` joined name: `people.person.place_of_birth` → `place of birth`."""
    inverse: bool
    """The name itself says that it runs backwards: `plays_in_club_inverse`."""


@lru_cache(maxsize=65536)
def relation_name(name: str) -> RelationName:
    """Read a relation's name in snake_case, camelCase, UPPER_CASE, with dots, slashes or a namespace.

    >>> relation_name("people.person.place_of_birth")
    RelationName(words='place of birth', inverse=False)
    >>> relation_name("plays_in_club_inverse").words, relation_name("hasPart").words, relation_name("SHIPS_TO").words
    ('plays in club', 'has part', 'ships to')
    """
    parts = [words for part in _PARTS.split(name.strip()) if (words := _words(part))] or [_words(name) or name]
    last = parts[-1]
    plain = _INVERSE.sub("", last).strip()
    inverse = bool(plain) and plain != last
    return RelationName(plain if inverse else last, inverse)


def _words(part: str) -> str:
    return _SPACES.sub(" ", _CAMEL.sub(" ", part)).replace("-", " ").strip().lower()
