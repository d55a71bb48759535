"""A small language guess for choosing a stemmer: by script first, by function words for Latin script.

A wrong guess costs little (two languages' stemmers agree on most names and numbers), so the guess needs two more
function words than English to leave English, the default.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

DEFAULT = "english"

_FUNCTION_WORDS = {
    "english": "the of and in to is was for on with as by that it from at are which what who how when where did does",
    "spanish": "el los las del que en una por con para se su es fue como al lo qué cuál cuándo quién cómo dónde",
    "french": "le les des du et une dans est pour qui que sur avec au aux par pas sont quel quelle où il elle ont été",
    "german": "der die das und ist von zu mit dem den des ein eine nicht auf für im wer wie wann wo wurde auch sich",
    "italian": "il gli della di che è per una con del nel sono dei alla come chi quando dove quale più anche stato",
    "portuguese": "os da do em um uma que para com não na no dos das foi é por mais como quem qual onde quando são",
    "dutch": "het een van en de op is voor met dat niet zijn aan wie wat waar wanneer welke hoe werd bij ook uit",
    "swedish": "och att det som en på är av för med den till inte om ett har de var vem vad när hur från",
}
_WORDS = {name: frozenset(words.split()) for name, words in _FUNCTION_WORDS.items()}
_LANGUAGES_OF = {
    word: tuple(name for name, known in _WORDS.items() if word in known) for word in frozenset().union(*_WORDS.values())
}
"""By a function word, the languages that have it."""
_SCRIPTS = (
    ("russian", re.compile("[\u0400-\u04ff]")),
    ("greek", re.compile("[\u0370-\u03ff]")),
    ("arabic", re.compile("[\u0600-\u06ff]")),
    ("hindi", re.compile("[\u0900-\u097f]")),
)
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 400


_MORE_ENGLISH = frozenset(
    "a an be been or has have had not this these those its their his her they he she we you can may must will would "
    "also because than but were between during into".split()
)
_FEWEST = 4


def speaks(text: str, language: str) -> bool | None:
    """Whether a sentence can be of that language: it has one of its function words. None where nobody can say.

    >>> speaks("The anchor is made of iron.", "english"), speaks("Ankaret är gjort av järn.", "english")
    (True, False)
    """
    known = _WORDS.get(language)
    words = _WORD.findall(text.lower())
    letters = sum(map(len, words))
    if known is None or letters < _FEWEST:
        return None
    if not any(char.isascii() for word in words for char in word):
        return False
    known = known | _MORE_ENGLISH if language == DEFAULT else known
    return True if known.intersection(words) else None if len(words) < _FEWEST else False


def guess(text: str) -> str:
    """Name of the Snowball algorithm that fits `text` best; `english` when nothing speaks for another."""
    return _guess(text[:_SAMPLE])


@lru_cache(maxsize=4096)
def _guess(sample: str) -> str:
    sample = sample.lower()
    if not sample.isascii():
        for name, letters in _SCRIPTS:
            if len(letters.findall(sample)) * 3 > len(sample):
                return name
    counts = Counter(name for word in _WORD.findall(sample) for name in _LANGUAGES_OF.get(word, ()))
    if "¿" in sample or "ñ" in sample:
        counts["spanish"] += 3
    best = max(_WORDS, key=lambda name: counts[name])
    return best if counts[best] >= counts[DEFAULT] + 2 else DEFAULT
