"""The words of a language that say what a question over a table asks for: data files, one per language."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from kedge.kinds.tables.asking.words import Token, singular, tokens

LANGUAGES = ("english", "german", "spanish", "french")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of the lexicon found in a question."""

    start: int
    end: int
    tags: frozenset[str]


@dataclass(frozen=True)
class Lexicon:
    """Phrases (folded words) and their tags, such as `func.sum` or `months.3`."""

    phrases: dict[tuple[str, ...], frozenset[str]]
    longest: int

    def at(self, question: Sequence[Token], start: int, end: int | None = None) -> Phrase | None:
        """The longest phrase that begins at this token and ends before `end`."""
        stop = min(len(question) if end is None else end, start + self.longest)
        for last in range(stop, start, -1):
            tags = self.phrases.get(tuple(token.folded for token in question[start:last]))
            if tags:
                return Phrase(start, last, tags)
        return None

    @cached_property
    def things(self) -> dict[str, str]:
        """Nouns for what a row may be, in comparable form, and their kind."""
        return {
            singular(phrase[0]): tag.partition(".")[2]
            for phrase, tags in self.phrases.items()
            for tag in tags
            if tag.startswith("thing.") and len(phrase) == 1
        }

    def tags(self, *folded: str) -> frozenset[str]:
        """Tags of exactly this phrase."""
        return self.phrases.get(folded, frozenset())


@lru_cache(maxsize=8)
def load(language: str) -> Lexicon:
    """The lexicon of one language."""
    raw = tomllib.loads(files(__package__).joinpath(f"{language}.toml").read_text("utf-8"))
    tags: dict[tuple[str, ...], set[str]] = {}
    for section, entries in raw.items():
        for name, phrases in entries.items():
            for phrase in phrases.split() if isinstance(phrases, str) else phrases:
                key = tuple(token.folded for token in tokens(phrase.replace("-", " "))) or (phrase,)
                tags.setdefault(key, set()).add(f"{section}.{name}")
    return Lexicon({key: frozenset(found) for key, found in tags.items()}, max(map(len, tags)))


def lexicon_for(question: Sequence[Token]) -> Lexicon:
    """The lexicon that knows most words of the question; English when others know no more."""
    return max((load(language) for language in LANGUAGES), key=lambda lexicon: _known(lexicon, question))


def _known(lexicon: Lexicon, question: Sequence[Token]) -> int:
    known, place = 0, 0
    while place < len(question):
        phrase = lexicon.at(question, place)
        known += phrase.end - phrase.start if phrase and question[place].folded.isalpha() else 0
        place = phrase.end if phrase else place + 1
    return known
