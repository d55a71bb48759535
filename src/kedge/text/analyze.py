"""From text to search terms: the one analyser behind keyword search in every store.

>>> terms("The suffix automata of C++ run in O(n)")
['suffix', 'automata', 'c++', 'run', 'o(n)']
>>> terms("北京大学")
['北京', '京大', '大学']
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from kedge.text.languages import guess
from kedge.text.sentences import sentences

__all__ = ["SparseTerms", "fold", "sentences", "terms", "words"]

_ACCENTS = re.compile("[\u0300-\u036f\u064b-\u065f\u0670]")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese and Khmer, which write no space between words either."""
_RUN = 4
"""Characters of theirs that make a term. On Spanish without spaces (149 questions of xquad/es, BM25) the right passage
came first for 55, 87, 87 and 87 % with runs of 2, 3, 4 and 5."""
_MARKS = (
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962-\u0963\u0981-\u0983\u09bc-\u09cd\u0a3c-\u0a4d\u0abc-\u0acd"
    "\u0b3c-\u0b4d\u0bbe-\u0bcd\u0c3e-\u0c4d\u0cbe-\u0ccd\u0d3e-\u0d4d"
)
"""Vowel signs of the scripts of India: parts of a word, though no letters."""
_TOKEN = re.compile(
    rf"""
    (?P<cjk>[{_CJK}]+)
  | (?P<unspaced>[{_UNSPACED}]+)
  | (?P<order>\bo\([^()\n]{{1,16}}\))                 # O(n), O(n log n)
  | (?P<sharp>\b[a-z](?:\+\+|\#)(?![\w+#]))           # C++, C#
  | (?P<number>\d+(?:[.,]\d+)+)                       # 3.14  10,000
  | (?P<initials>\b(?:[a-z]\.){{2,}}[a-z]?\b|\b(?:[a-z]\.){{2,}})  # U.S.  e.g.
  | (?P<word>(?:[^\W_{_CJK}]|[{_MARKS}])+(?:['’][^\W_{_CJK}]+)*)
    """,
    re.VERBOSE,
)
_MARKED = re.compile(rf"(?:[^\W\d_]|[{_MARKS}])+")
_PLAIN = re.compile("[a-z]+(?: [a-z]+)*")
_DATE = re.compile(r"\b(?:(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)|(?P<dd>\d{1,2})\.(?P<mm>\d{1,2})\.(?P<yy>\d{4}))\b")
_MONTHS = "January February March April May June July August September October November December".split()
_APOSTROPHE = re.compile("['’]")
LONGEST_REMEMBERED = 600
"""Characters of a text whose terms are remembered: of a sentence or a row, not of a document."""
_STOP = frozenset(
    "a an and are as at be been but by did do does for from had has have he her his how if in into is it its of on or "
    "she such that the their then there these they this to was were what when where which who whom whose why will with "
    # Spanish, French, German, Italian, Portuguese: articles, prepositions and question words only
    "el la los las un una unos unas de del al y en que se por con para su es fue como cual cuando quien donde cuantos "
    "cuantas cuanto le les des du et une dans est pour qui sur avec au aux par quel quelle der die das und ist von zu "
    "mit dem den ein eine im wer wie wann wo il gli della di che per nel dei alla chi quale os da em um uma com na no "
    "dos".split()
)


def fold(text: str) -> str:
    """Lower-case compatibility form without Latin accents and Arabic short vowels; marks that carry meaning stay."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def words(text: str) -> list[str]:
    """Unstemmed terms in order: words, numbers, `c++`, `o(n)`, and runs of characters where words are not spaced: two
    of Chinese, Japanese, Korean, four of Thai, Lao, Burmese, Khmer."""
    folded = fold(text)
    if _PLAIN.fullmatch(folded):
        return folded.split()  # most names
    found: list[str] = []
    for match in _TOKEN.finditer(folded):
        token = match.group()
        kind = match.lastgroup
        if kind == "word":
            found.append(token if token.isalnum() else _without_apostrophe(token))
        elif kind == "cjk":
            found.extend(token[i : i + 2] for i in range(max(1, len(token) - 1)))
        elif kind == "unspaced":
            found.extend(token[i : i + _RUN] for i in range(max(1, len(token) - _RUN + 1)))
        elif kind == "order":
            found.append(token.replace(" ", ""))
        elif kind == "number":
            found.append(token.replace(",", ""))
        elif kind == "initials":
            found.append(token.replace(".", ""))
        else:
            found.append(token)
    return found


def _without_apostrophe(word: str) -> str:
    return _APOSTROPHE.split(word)[0] if word[-2:] in ("'s", "’s") else _APOSTROPHE.sub("", word)


def terms(text: str, language: str | None = None) -> list[str]:
    """Search terms of `text` in order, with repetitions: folded, without function words, stemmed.

    `language` names a Snowball algorithm; by default it is guessed from the text.
    """
    if len(text) > LONGEST_REMEMBERED:
        return _terms(text, language)
    return list(_remembered(text, language))


def _terms(text: str, language: str | None) -> list[str]:
    stem = _stemmer(language or guess(text))
    return [stem(word) for word in words(text) if word not in _STOP]


@lru_cache(maxsize=8192)
def _remembered(text: str, language: str | None) -> tuple[str, ...]:
    """A question is held against the same statements again and again: when they are chosen, read, weighed, shown."""
    return tuple(_terms(text, language))


def _dates_in_words(text: str) -> str:
    """What to add to a question so that `2007-10-29` and `29.10.2007` also find `29 October 2007`."""
    added = []
    for found in _DATE.finditer(text):
        month = int(found["m"] or found["mm"])
        if 1 <= month <= len(_MONTHS):
            rest = (
                f" {int(found['dd'])} {found['yy']}"
                if found["dd"]
                else f" {int(found['d'])}"
                if found["d"][0] == "0"
                else ""
            )
            added.append(f" {_MONTHS[month - 1]}{rest}")
    return "".join(added)


class _CachedStemmer:
    """One Snowball stemmer; PyStemmer itself caches per word."""

    def __init__(self, language: str) -> None:
        self._stem = Stemmer.Stemmer(language, 50_000).stemWord

    def __call__(self, word: str) -> str:
        return str(self._stem(word)) if word.isalpha() or _MARKED.fullmatch(word) else word


@lru_cache(maxsize=32)
def _stemmer(language: str) -> _CachedStemmer:
    return _CachedStemmer(language)


@dataclass(frozen=True, slots=True)
class SparseTerms:
    """BM25 as sparse vectors: the document side saturates term counts, the store multiplies with idf.

    The idf is the engine's own, `ln(1 + (N - n + 0.5) / (n + 0.5))`, so weights never change when the collection grows.
    """

    k1: float = 1.2
    """How fast repeated terms saturate."""
    b: float = 0.75
    """How strongly long passages are discounted."""
    average_length: float = 130.0
    """Length in terms of a typical passage; fixed, so that stored weights stay valid."""

    def term_weights(self, text: str) -> dict[int, float]:
        """Weights of a stored passage, by term id."""
        counts = Counter(terms(text))
        norm = self.k1 * (1 - self.b + self.b * sum(counts.values()) / self.average_length)
        return _by_id((term, n * (self.k1 + 1) / (n + norm)) for term, n in counts.items())

    def query_weights(self, text: str) -> dict[int, float]:
        """Weights of a question, by term id: how often each term is asked for. Dates in figures are asked in words too.

        >>> asked = SparseTerms().query_weights
        >>> sorted(asked("2007-10-29")) == sorted(asked("29 October 2007 10"))
        True
        """
        return _by_id((term, float(n)) for term, n in Counter(terms(text + _dates_in_words(text))).items())


def term_id(term: str) -> int:
    """Stable unsigned 32-bit id of a term, equal in every process and store."""
    return zlib.crc32(term.encode())


def _by_id(weights: Iterable[tuple[str, float]]) -> dict[int, float]:
    merged: dict[int, float] = {}
    for term, weight in weights:
        key = term_id(term)
        merged[key] = merged.get(key, 0.0) + weight
    return merged
