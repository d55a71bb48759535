"""The words of questions, headings and cells, in one form."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MONTHS = {
    name: number
    for number, full in enumerate(
        "january february march april may june july august september october november december".split(), start=1
    )
    for name in (full, full[:3])
} | {"sept": 9}
NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "hundred": 100}
ORDINALS = {
    word: number
    for number, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), start=1)
}
FUNCTION_WORDS = frozenset(
    "a an the of in on at to for from by with and or is was were are be been did do does has have had that this these "
    "those it its their his her he she they who what which when where how many much there than as not no any all s "
    "only listed list table chart number total amount name people time times year years other each if one".split()
)
"""Words that name nothing by themselves: no cell is looked up by one of them alone."""
_FOLDS = (("[‘’´`]", "'"), ("[“”]", '"'), ("[‐‑‒–—−]", "-"))
_TOKEN = re.compile(r"\d[\d,]*\.?\d*|[^\W\d_]+(?:'s)?|[%#]")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
_VOWELS = frozenset("aeiou")


@lru_cache(maxsize=65536)
def folded(text: str) -> str:
    """Without accents, with plain quotes and dashes; case stays."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn")
        for pattern, sign in _FOLDS:
            text = re.sub(pattern, sign, text)
    return text


def tokens(text: str) -> list[str]:
    """Words and numbers of a folded text in lower case, without a genitive's ending."""
    return [token.removesuffix("'s") for token in _TOKEN.findall(text)]


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A word without the ending of its plural."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith("es") and word[-3] in "sxh":
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def heading_words(name: str) -> list[str]:
    """The stems of a heading: `dep_delay`, `UnitPrice` and `Unit price` have two words each."""
    apart = name if " " in name.strip() else _HUMP.sub(" ", name)
    return [stem(token) for token in tokens(folded(apart).lower())]


@lru_cache(maxsize=65536)
def akin(one: str, two: str) -> bool:
    """Whether two words share most of their beginning: nationality, nation."""
    shared = 0
    for left, right in zip(one, two, strict=False):
        if left != right:
            break
        shared += 1
    return shared >= 4 and shared >= 0.6 * max(len(one), len(two))


@lru_cache(maxsize=65536)
def abbreviates(short: str, long: str) -> bool:
    """Whether one word is a usual shortening of the other: dep, departure; qty, quantity; pts, points."""
    if not (2 <= len(short) <= 5 and len(long) >= len(short) + 2) or short[0] != long[0]:
        return False
    if len(short) >= 3 and long.startswith(short):
        return True
    if len(short) < 3 and not all(letter not in _VOWELS for letter in short):
        return False
    place = 0
    for letter in short:
        place = long.find(letter, place) + 1
        if not place:
            return False
    return len(short) >= 3 and sum(letter in _VOWELS for letter in short[1:]) == 0


def number_of(token: str) -> float | None:
    """The number that a token of digits writes."""
    try:
        return float(token.replace(",", "").rstrip("."))
    except ValueError:
        return None
