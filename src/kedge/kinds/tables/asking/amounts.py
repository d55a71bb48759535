"""Numbers as questions write them: 1,000 · 1.5k · 20% · three · half a million · 2 million."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.kinds.tables.asking.lexicon import Lexicon
from kedge.kinds.tables.asking.words import Token

_SCALES = {"k": 1e3, "m": 1e6, "mio": 1e6, "bn": 1e9}
_DIGITS = re.compile(r"(\d+(?:[.,]\d+)*)(k|m|mio|bn)?")
_HALVED = re.compile(r"(\d{1,2})(am|pm)")
_MINUTES = re.compile(r"[0-5]\d")
_NAMED = {"noon": 1200.0, "midday": 1200.0}
_HOURS = 24
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in a question: tokens `start` to `end`."""

    start: int
    end: int
    value: float
    unit: str = ""
    """`money`, `percent`, `duration`, `physical`, `clock` (then the value is hhmm) or nothing."""
    worded: bool = False


def amounts(question: Sequence[Token], lexicon: Lexicon) -> list[Amount]:
    """All numbers, units and scales included, in order."""
    out: list[Amount] = []
    place = 0
    while place < len(question):
        amount = _amount(question, place, lexicon)
        if amount:
            out.append(amount)
        place = amount.end if amount else place + 1
    return out


def _amount(question: Sequence[Token], start: int, lexicon: Lexicon) -> Amount | None:
    if clock := _clock(question, start):
        return clock
    unit, place = "", start
    if "units.money" in lexicon.tags(question[start].folded) and start + 1 < len(question):
        unit, place = "money", start + 1
    value, place, worded = _number(question, place, lexicon)
    if value is None:
        return None
    while place < len(question):
        scale = _scale(question, place, lexicon)
        if scale is None:
            break
        value, place = value * scale, place + 1
    if place < len(question):
        units = [tag.partition(".")[2] for tag in lexicon.tags(question[place].folded) if tag.startswith("units.")]
        if units:
            unit = units[0]
            place += 1 if unit in ("money", "percent") else 0
    return Amount(start, place, value, unit, worded)


def _clock(question: Sequence[Token], start: int) -> Amount | None:
    """A time of day: 6 am, 6:30 pm, 18:05, noon."""
    first = question[start]
    if first.folded in _NAMED:
        return Amount(start, start + 1, _NAMED[first.folded], "clock")
    whole = _HALVED.fullmatch(first.folded)
    hours, place = (whole[1] if whole else first.folded), start + 1
    if not hours.isdigit() or int(hours) > _HOURS:
        return None
    half, minutes = (whole[2] if whole else ""), ""
    if not whole and place < len(question):
        following = question[place]
        if _MINUTES.fullmatch(following.folded) and following.start == first.end + 1:
            minutes, place = following.folded, place + 1
    if not half and place < len(question) and question[place].folded in ("am", "pm"):
        half, place = question[place].folded, place + 1
    if not half and not minutes:
        return None
    hour = int(hours) % 12 + (12 if half == "pm" else 0) if half else int(hours)
    return Amount(start, place, 100.0 * hour + float(minutes or 0), "clock")


def _number(question: Sequence[Token], start: int, lexicon: Lexicon) -> tuple[float | None, int, bool]:
    match = _DIGITS.fullmatch(question[start].folded)
    if match:
        return _digits(match.group(1)) * _SCALES.get(match.group(2) or "", 1), start + 1, False
    phrase = lexicon.at(question, start)
    for last in range(phrase.end if phrase else start, start, -1):
        tags = lexicon.tags(*(token.folded for token in question[start:last]))
        for tag in tags:
            if tag.startswith("numbers."):
                return float(tag.partition(".")[2]), last, True
    return None, start, False


def _scale(question: Sequence[Token], place: int, lexicon: Lexicon) -> float | None:
    if question[place].folded in _SCALES:
        return _SCALES[question[place].folded]
    for tag in lexicon.tags(question[place].folded):
        if tag in ("numbers.100", "numbers.1000", "numbers.1000000", "numbers.1000000000"):
            return float(tag.partition(".")[2])
    return None


def _digits(text: str) -> float:
    """1,000 and 1.000 are a thousand; 1.5, 1,5 and 1.25 are fractions; 1.000,5 has both."""
    if _GROUPED.fullmatch(text) and not (text.count(".") == 1 and "," not in text and text.startswith("0")):
        return float(re.sub(r"[.,]", "", text))
    last = max(text.rfind("."), text.rfind(","))
    if last < 0:
        return float(text)
    return float(re.sub(r"[.,]", "", text[:last]) + "." + text[last + 1 :])
