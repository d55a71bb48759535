"""Writes `src/kedge/text/data/orders_words.txt`: for each pattern of `orders.txt` words that each of its matches has.

    python -m tests.text.order_words

They are read from the patterns as Python's own parser of regular expressions understands them, so that a text with none
of the words need not be searched. A test compares the file with what this makes of the patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from kedge.text.orders import WORDS, order_patterns

MOST = 48
"""Alternatives of one requirement; beyond that it is cheaper to search."""
KEPT = 3
"""Requirements of one pattern."""
Words = frozenset[str]
"""One requirement: every match holds one of these strings."""


def words_of(pattern: str) -> list[Words]:
    """The most telling requirements of a pattern; none where nothing is known of all its matches."""
    found = [one for one in _needed(parser.parse(pattern, re.MULTILINE)) if len(one) <= MOST]
    return sorted(dict.fromkeys(found), key=_telling, reverse=True)[:KEPT]


def _needed(sequence: Iterable[tuple[Any, Any]]) -> list[Words]:
    """What the parts of a sequence need: all of it."""
    found: list[Words] = []
    run = ""
    for code, value in sequence:
        if code is codes.LITERAL:
            run += chr(value)
            continue
        found += [frozenset({run})] if run else []
        found += _of_part(code, value)
        run = ""
    return [*found, frozenset({run})] if run else found


def _of_part(code: Any, value: Any) -> list[Words]:
    if code is codes.SUBPATTERN:
        return _needed(value[3])
    if code is codes.ATOMIC_GROUP:
        return _needed(value)
    if code is codes.BRANCH:
        return _either([_needed(one) for one in value[1]])
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, _, body = value
        return _needed(body) if least else []
    return []


def _either(parts: Sequence[list[Words]]) -> list[Words]:
    """What one of several parts needs: known only where it is known of all."""
    return [frozenset().union(*(max(one, key=_telling) for one in parts))] if parts and all(parts) else []


def _telling(words: Words) -> tuple[int, int, list[str]]:
    """Longer words first, then fewer; in the end always the same."""
    return min(5, *map(len, words)), -len(words), sorted(words)


def text() -> str:
    """The file: a line for each pattern; its requirements with a tab between them, their words with a space."""
    lines = ("\t".join(" ".join(sorted(words)) for words in words_of(pattern)) for pattern in order_patterns())
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    WORDS.write_text(text(), encoding="utf-8")
