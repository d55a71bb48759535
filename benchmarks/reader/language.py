"""Names, years, numbers and words of English text, found by expression."""

from __future__ import annotations

import re
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""Start and end of characters in a text."""

NAME = re.compile(r"\b[A-Z][\w’'-]*(?:\s+(?:(?:of|the|de|von|van)\s+){0,2}[A-Z][\w’'-]*)*")
YEAR = re.compile(r"\b(?:1\d{3}|20[0-2]\d)\b")
NUMBER = re.compile(
    r"\b\d[\d,.]*\d\b|\b\d\b"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|hundred)\b"
)
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
STOP = frozenset(
    """the a an of in on at to for from by with and or as is was were are be been being did does do has have had who
    whom whose what which when where why how that this these those it its they their he his she her him them there not
    no many much than then after before during into over under about also such other some any most more less one two
    first last name named called type kind year time part would could can may might will shall should""".split()
)
MONTHS = frozenset("January February March April May June July August September October November December".split())
OPENERS = frozenset("What Who Whom Whose When Where Which Why How In On At By From To For With The A An".split())
"""Words that are capitals at the start of a sentence only, so no part of a name."""
ENDINGS = ("ing", "ed", "ly", "ies", "s", "tion", "er", "al")


def names(text: str, *, skip_first: bool = False) -> list[Span]:
    """Runs of capitalised words; `skip_first` leaves out a single word at the very start, which may be no name."""
    found: list[Span] = []
    for match in NAME.finditer(text):
        start, name = match.start(), match.group()
        first = name.split()[0]
        if first in OPENERS:
            name = name[len(first) :].lstrip()
            if not name or not name[0].isupper():
                continue
            start = match.end() - len(name)
        if skip_first and match.start() == 0 and len(name.split()) == 1:
            continue
        if len(name) >= 3:
            found.append((start, start + len(name)))
    return found


def name_texts(text: str) -> list[str]:
    """The names themselves, without a lone first word."""
    return [text[start:end] for start, end in names(text, skip_first=True)]


def ending(word: str) -> str:
    """What a word ends in, as a rough sign of its part of speech."""
    return next((ending for ending in ENDINGS if word.endswith(ending)), "")


def put(text: str, span: Span, new: str) -> str:
    """`text` with `new` in the place of a span."""
    return text[: span[0]] + new + text[span[1] :]


def cased(new: str, old: str) -> str:
    """`new` with a capital where `old` has one."""
    return new.capitalize() if old[:1].isupper() else new
