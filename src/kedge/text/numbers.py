"""Numbers in a text, in one spelling each: `1,000`, `1000` and `one thousand` are the same."""

from __future__ import annotations

import re

_UNIT_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_UNITS = {word: value for value, word in enumerate(_UNIT_WORDS.split())}
_TENS = {
    word: 10 * tens for tens, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ONE = "|".join([*_UNITS, *_TENS])
_SCALE = "|".join(_SCALES)
_NUMBER = re.compile(
    rf"(?P<digits>\d+(?:[.,]\d+)*)(?P<times>(?:\s+(?:{_SCALE})\b)*)"
    rf"|\b(?P<words>(?:{_ONE})(?:-(?:{_ONE}))?(?:(?:\s+(?:{_SCALE})\b)+(?:\s+(?:and\s+)?(?:{_ONE})\b(?:-(?:{_ONE})\b)?)?)*)\b",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")


def numbers(text: str) -> frozenset[str]:
    """Every number that `text` names, by digits or in English words; `one` alone is too often a pronoun.

    >>> sorted(numbers("In 1,200 towns, twenty-one of 3.50 million; one may ask"))
    ['1200', '21', '3500000']
    >>> sorted(numbers("Two thousand and five men met in 1066, version 3.1.2"))
    ['1066', '2005', '3.1.2']
    """
    found: set[str] = set()
    for match in _NUMBER.finditer(text):
        if match["digits"]:
            found.add(_scaled(match["digits"], match["times"]))
        elif match["words"].lower() != "one":
            found.add(f"{_spelled(match['words'].lower())}")
    return frozenset(found)


def _scaled(digits: str, times: str) -> str:
    plain = digits.replace(",", "") if _THOUSANDS.match(digits) else digits.replace(",", ".")
    if plain.count(".") > 1:
        return plain
    value = float(plain)
    for scale in times.lower().split():
        value *= _SCALES[scale]
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _spelled(words: str) -> int:
    total = part = 0
    for word in re.split(r"[\s-]+", words):
        if word in _SCALES:
            part = max(part, 1) * _SCALES[word]
            if word != "hundred":
                total, part = total + part, 0
        elif word != "and":
            part += _UNITS.get(word, 0) + _TENS.get(word, 0)
    return total + part
