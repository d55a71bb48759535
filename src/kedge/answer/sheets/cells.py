"""What one cell says: its name without footnotes, its numbers, its date, and a form in which answers are compared."""

from __future__ import annotations

import re
from functools import lru_cache

from kedge.answer.sheets.words import MONTHS, NUMBER_WORDS, folded, number_of

Day = tuple[int, int, int]
"""Year, month, day; 0 for what is not written."""
BLANK = frozenset(("", "-", "--", "---", "n/a", "na", "none", "?", "tba", "tbd", "nil", "null", "x"))
"""Cells that say that there is nothing."""
_NOTES = re.compile(r"((?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+^])*+$")
_BRACKETS = re.compile(r"(?<!^)( \([^)]*\))*$")
_QUOTED = re.compile(r'^"([^"]*)"$')
_SPACE = re.compile(r"\s+")
_SPACED_THOUSANDS = re.compile(r"^\d{1,3}([ \u00a0]\d{3})+(?!\d)")
_CLOCK = re.compile(r"^\D{0,2}(\d+):(\d\d)(?::(\d\d))?(\.\d+)?")
_FEET = re.compile(r"^(\d+)\s*(?:ft|')\s*(\d+)\s*(?:in|\"|'')")
_NUMBERS = re.compile(r"(?:(?<![\w])[-+])?\d[\d,]*(?:\.\d+)?")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_MONTH_DAY = re.compile(r"\b([a-z]{3,9})\.?\b\s*(\d{1,2})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s*(\d{4}))?")
_DAY_MONTH = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?[\s-]+(?:of )?([a-z]{3,9})\b\.?,?[\s-]*(\d{4})?")
_MONTH_YEAR = re.compile(r"\b([a-z]{3,9})\.?,?\s*(\d{4})\b")
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_SINGLE = re.compile(r"^[\$£€#]?\s*([-+]?\d[\d,]*(?:\.\d+)?|\.\d+)\s*(?:%|[a-z]+|[a-z]+ [a-z]+)?$")
_ORDINAL = re.compile(r"^\d+(st|nd|rd|th)$")
_YEAR = re.compile(r"(?<!\d)(1[0-9]{3}|20\d\d)(?!\d)")
_SHORT_SPAN = re.compile(r"(?<!\d)(\d{4})-(\d\d)(?!\d)")
_LONGEST_DATE = 20
LONGEST_CELL = 500
"""Characters of a cell that is looked through for notes and brackets behind it."""


@lru_cache(maxsize=65536)
def plain(cell: str) -> str:
    """The cell in lower case without footnote marks, trailing brackets and quotes."""
    text = folded(cell)
    while len(text) <= LONGEST_CELL:
        before = text
        text = _NOTES.sub("", text.strip())
        text = _BRACKETS.sub("", text.strip())
        text = _QUOTED.sub(r"\1", text.strip())
        if text == before:
            break
    return _SPACE.sub(" ", text.removesuffix(".")).lower().strip()


def numbers(cell: str) -> list[float]:
    """The numbers of a cell, first four at most. A duration is its seconds, feet and inches are inches."""
    text = folded(cell).lower()
    if _SPACED_THOUSANDS.match(cell):
        text = re.sub(r"(?<=\d)[ \u00a0](?=\d{3}(?!\d))", ",", text)
    if match := _CLOCK.match(text):
        seconds = 0
        for part in match.group(1, 2, 3):
            seconds = seconds * 60 + int(part) if part else seconds
        return [seconds + float(match[4] or 0)]
    if match := _FEET.match(text):
        return [float(int(match[1]) * 12 + int(match[2]))]
    found = (number_of(token) for token in _NUMBERS.findall(text)[:4])
    return [number for number in found if number is not None]


@lru_cache(maxsize=65536)
def day_of(text: str) -> Day | None:
    """The first date of a text, whole or in part; a year alone is none."""
    low = folded(text).lower()
    if match := _ISO.search(low):
        return int(match[1]), int(match[2]), int(match[3])
    if (match := _MONTH_DAY.search(low)) and match[1] in MONTHS:
        return int(match[3] or 0), MONTHS[match[1]], int(match[2])
    if (match := _DAY_MONTH.search(low)) and match[2] in MONTHS:
        return int(match[3] or 0), MONTHS[match[2]], int(match[1])
    if (match := _MONTH_YEAR.search(low)) and match[1] in MONTHS:
        return int(match[2]), MONTHS[match[1]], 0
    if match := _SLASHED.search(low):
        return int(match[3]), int(match[1]), int(match[2])
    return None


def day_key(day: Day) -> int:
    """A number that orders dates; its year is `key // 400`."""
    return day[0] * 400 + day[1] * 32 + day[2]


def years(cell: str) -> list[float]:
    """The years that a cell names."""
    return [float(year) for year in _YEAR.findall(folded(cell))]


def span(cell: str) -> float | None:
    """Years from the first to the last that a cell names: 1998–2004, 2001–02."""
    named = years(cell)
    if len(named) > 1:
        return named[-1] - named[0]
    match = _SHORT_SPAN.search(folded(cell))
    return float((int(match[2]) - int(match[1]) % 100) % 100) if match else None


def written(number: float) -> str:
    """A number as a key."""
    rounded = round(number, 4)
    return f"#{int(rounded)}" if rounded == int(rounded) else f"#{rounded:g}"


@lru_cache(maxsize=65536)
def canonical(cell: str) -> str:
    """The form in which answers are compared: `#12` for numbers, `d2004-5-0` for dates, else the plain text."""
    text = plain(cell)
    digits = text.replace(" ", "") if _SPACED_THOUSANDS.fullmatch(text) else text
    if (match := _SINGLE.match(digits)) and not _ORDINAL.match(digits) and not (digits[-1].isalpha() and day_of(text)):
        number = number_of(match[1])
        if number is not None:
            return written(number)
    if text in NUMBER_WORDS:
        return written(NUMBER_WORDS[text])
    day = day_of(text)
    if day and len(text) < _LONGEST_DATE:
        return f"d{day[0]}-{day[1]}-{day[2]}"
    return text.lstrip("#")
