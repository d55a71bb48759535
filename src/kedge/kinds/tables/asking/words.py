"""Words of questions, column names and values, brought to one form so that they can be compared.

>>> [token.word for token in tokens("Top 5 cities, before 2017-04-01")]
['top', '5', 'citi', 'before', '2017-04-01']
>>> name_words("shipCountry"), name_words("coupon_disc")
(('ship', 'country'), ('coupon', 'discount'))
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from kedge.text.analyze import fold

_TOKEN = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4}|\d+(?:[.,]\d+)+(?![^\W\d_])|[^\W_]+(?:['’][^\W\d_]+)*|[$€£¥%#]|[<>]=?|[≤≥]"
)
_QUOTED = re.compile(r"[\"“”„«»]([^\"“”„«»]{1,200})[\"“”„«»]")
_CAMEL = re.compile(r"(?<=[a-zà-ÿ0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_APOSTROPHES = re.compile("['’]s?(?![a-z])|['’]")
_IRREGULAR = {"children": "child", "men": "man", "women": "woman", "feet": "foot", "mice": "mouse"}
_ENDING = re.compile(r"([a-z]{3,})(wt|wgt|qty|amt|pct|num|price|cost|name|value|weight|height|length|width|income)")
_SHORT = {
    "disc": "discount",
    "qty": "quantity",
    "amt": "amount",
    "num": "number",
    "nbr": "number",
    "dept": "department",
    "prod": "product",
    "cust": "customer",
    "cat": "category",
    "desc": "description",
    "mfr": "manufacturer",
    "manuf": "manufacturer",
    "addr": "address",
    "dob": "birthdate",
    "pct": "percent",
    "perc": "percent",
    "yr": "year",
    "yrs": "year",
    "wk": "week",
    "txn": "transaction",
    "trans": "transaction",
    "emp": "employee",
    "acct": "account",
    "inv": "invoice",
    "ts": "timestamp",
    "hrs": "hour",
    "mins": "minute",
    "avg": "average",
    "temp": "temperature",
    "max": "maximum",
    "min": "minimum",
    "wt": "weight",
    "wgt": "weight",
    "ht": "height",
    "hgt": "height",
    "hp": "horsepower",
    "lat": "latitude",
    "lon": "longitude",
    "lng": "longitude",
    "pop": "population",
    "precip": "precipitation",
    "dist": "distance",
    "edu": "education",
    "educ": "education",
    "exp": "experience",
    "exper": "experience",
    "cyl": "cylinder",
    "mag": "magnitude",
    "pub": "publisher",
    "mph": "speed",
    "lang": "language",
    "mgr": "manager",
    "govt": "government",
    "univ": "university",
}
"""Abbreviations that column names commonly carry."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a question."""

    text: str
    """As written."""
    folded: str
    """Lower case, without accents."""
    word: str
    """Folded, singular: the form in which words are compared."""
    start: int
    end: int
    quote: int = 0
    """Number of the quotation it stands in, from 1; 0 outside."""


def tokens(text: str) -> list[Token]:
    """The words, numbers, dates and signs of a text, in order."""
    quotes = [match.span(1) for match in _QUOTED.finditer(text)]
    out = []
    for match in _TOKEN.finditer(text):
        folded = _APOSTROPHES.sub("", fold(match.group()))
        quote = next((number for number, (a, b) in enumerate(quotes, 1) if a <= match.start() < b), 0)
        out.append(Token(match.group(), folded, singular(folded), match.start(), match.end(), quote))
    return out


def written_out(word: str) -> str:
    """The word that an abbreviation stands for; the word itself if it is none."""
    return _SHORT.get(word, word)


def words(text: str) -> tuple[str, ...]:
    """Comparable words of a value."""
    found = _TOKEN.findall(fold(text))
    if "'" in text or "’" in text:
        found = [_APOSTROPHES.sub("", word) for word in found]
    return tuple(map(singular, found))


def name_words(name: str) -> tuple[str, ...]:
    """Words of a column's name, split at underscores and capitals, common abbreviations written out; not singular."""
    split = _CAMEL.sub(" ", name.replace("_", " "))
    found = [_APOSTROPHES.sub("", word) for word in _TOKEN.findall(fold(split))]
    parts = [part for word in found for part in _parted(word)]
    return tuple(_SHORT.get(word, word) for word in parts)


def _parted(word: str) -> tuple[str, ...]:
    """A measure's abbreviation at the end of a word, apart: brainwt is the brain weight."""
    match = _ENDING.fullmatch(word)
    return match.groups() if match else (word,)


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """One form for singular and plural: not always a word, but the same for both."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zes")) else word[:-1]
    if word.endswith("ie"):
        return word[:-1]
    return word[:-1] + "i" if word.endswith("y") and word[-2] not in "aeiou" else word


def skeleton(word: str) -> str:
    """A word without its vowels after the first letter, as abbreviations leave it: frozen → frzn."""
    return word[:1] + "".join(char for char in word[1:] if char not in "aeiouy")
