"""The noun phrases of a sentence, found by closed classes of words and a learned list of verbs, without a parser.

A phrase runs up to the next word that no noun phrase holds: a preposition, a pronoun, a verb, a full stop.
What is a concept is known from elsewhere and never cut.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kedge.ingest.extract.word_classes import (
    ARTICLE,
    CLOSED,
    COUNTING,
    DETERMINING,
    LEADING,
    NAMING,
    NEUTRAL,
    THIN,
    VAGUE,
    VERBAL,
)
from kedge.text.concepts import ConceptMention, concept_key, prose

BLANK = "¤"
"""Stands for code and formulas."""
_TOKEN = re.compile(r"[^\W_]+(?:['’./+:_-]+[^\W_]+)*(?:\+\+|\#|<[\w, ]{1,20}>|!(?=\s))?|¤+|[^\w\s]")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{2,120})\]\(([^()\s]*)\)")
SHORT_VERB = 4
_NAME_IN_CODE = re.compile(r"(?<!`)`([^\W\d_][\w.:<>!-]{1,39})`(?!`)")
"""A single word of code is a name."""
_PRONOUNS = frozenset("it they this these that those".split())
_SKIPPED = frozenset("\"“”'‘’*_`")


def readable(text: str) -> str:
    """The text as long as before: code and formulas as `BLANK`, links and single words of code as words."""
    text = _NAME_IN_CODE.sub(lambda m: f" {m[1]} ", text)
    plain = prose(_LINK.sub(lambda m: f" {m[1]}{' ' * (len(m[0]) - len(m[1]) - 1)}", text), BLANK)
    return re.sub(r"[*_]{1,3}|[\"“”]", lambda m: " " * len(m[0]), plain).replace("\n", " ")


@cache
def verbs() -> frozenset[str]:
    """Words that mostly stand where verbs stand (`data/verbs.txt`)."""
    return learned_words("verbs.txt") | VERBAL


def learned_words(name: str) -> frozenset[str]:
    """The words of a list in `data`."""
    lines = files("kedge.ingest.extract").joinpath("data", name).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


@dataclass(frozen=True, slots=True)
class NounChunk:
    """A noun phrase of a sentence, or a pronoun."""

    words: str
    """Without articles and what else leads; empty for a pronoun."""
    start: int
    """With its determiner."""
    end: int
    determiner: str = ""
    """In small letters; the word itself for a pronoun."""
    concept: ConceptMention | None = None
    """The concept it stands for: the one it ends with."""
    holds: bool = False
    """It holds a concept somewhere."""
    begins: int = -1
    """Where its words begin, behind the determiner."""

    @property
    def key(self) -> str:
        """The key of its concept, or of its words."""
        return self.concept.key if self.concept is not None else concept_key(self.words)

    @property
    def head(self) -> str:
        """Its last word, in small letters."""
        return self.words.rsplit(None, 1)[-1].lower() if self.words else ""

    @property
    def plural(self) -> bool:
        """Whether it is about several."""
        return self.words.endswith("s") and not self.words.endswith("ss")


class Chunker:
    """Cuts the sentences of one passage that is `readable`."""

    def __init__(self, text: str, concepts: Sequence[ConceptMention]) -> None:
        """`concepts` by place, without overlaps."""
        self._text = text
        kept = [one for one in concepts if names_something(one.key) and not _hyphenated(text, one)]
        self._starts = [one.start for one in kept]
        self._concepts = kept

    def chunks(self, start: int, end: int) -> list[NounChunk]:
        """The noun phrases and pronouns between two places, in order."""
        found: list[NounChunk] = []
        tokens = self._tokens(start, end)
        run: list[_Unit] = []
        determiner: _Unit | None = None

        def close() -> None:
            nonlocal run, determiner
            if run:
                found.append(self._chunk(run, determiner))
            elif determiner is not None and determiner.lower in _PRONOUNS:
                found.append(NounChunk("", determiner.start, determiner.end, determiner.lower, begins=determiner.start))
            run, determiner = [], None

        previous = ""
        for place, unit in enumerate(tokens):
            before, previous = previous, unit.lower
            following = tokens[place + 1] if place + 1 < len(tokens) else None
            if unit.concept is not None:
                run.append(unit)
            elif unit.mark:
                if unit.lower not in _SKIPPED:
                    close()
            elif unit.lower in DETERMINING:
                close()
                determiner = unit
            elif unit.lower in ("it", "they"):
                close()
                determiner = unit
                close()
            elif determiner is not None and not run and _adverb(unit):
                continue
            elif (not run and _acts(unit, before)) or self._breaks(unit, run, determiner, following):
                close()
            else:
                run.append(unit)
        close()
        return found

    def _breaks(self, unit: _Unit, run: Sequence[_Unit], determiner: _Unit | None, following: _Unit | None) -> bool:
        """Whether no noun phrase holds this word here."""
        lower = unit.lower
        goes_on = _noun(following)
        if lower in _NEVER or _adverb(unit):
            return True
        if lower == "based" and run and goes_on:
            return False  # "a flow based implementation"
        if lower in _BEHIND and run:
            return not goes_on
        past = lower.endswith("ed") and len(lower) > SHORT_VERB and unit.text.islower()
        if lower in verbs() or (run and _third_person(unit)) or past:
            if determiner is not None and not run:
                return past and not goes_on
            return not past or not goes_on or (bool(run) and (determiner is None or lower in VERBAL))
        return _gerund(unit) and following is not None and _governs(run, determiner, following)

    def _tokens(self, start: int, end: int) -> list[_Unit]:
        units: list[_Unit] = []
        at = start
        while (match := _TOKEN.search(self._text, at, end)) is not None:
            concept = self._at(match.start())
            if concept is not None and concept.end <= end:
                units.append(_Unit(self._text[concept.start : concept.end], concept.start, concept.end, concept))
                at = max(concept.end, match.start() + 1)
            else:
                units.append(_Unit(match.group(), match.start(), match.end()))
                at = match.end()
        return units

    def _at(self, start: int) -> ConceptMention | None:
        place = bisect_left(self._starts, start)
        return self._concepts[place] if place < len(self._starts) and self._starts[place] == start else None

    def _chunk(self, run: Sequence[_Unit], determiner: _Unit | None) -> NounChunk:
        start = determiner.start if determiner is not None else run[0].start
        kept = list(run)
        while len(kept) > 1 and kept[0].concept is None and self._leads(kept):
            kept = kept[1:]
        words = " ".join(" ".join(unit.text.split()) for unit in kept)
        holds = any(unit.concept is not None for unit in kept)
        article = determiner.lower if determiner is not None else ""
        return NounChunk(words, start, run[-1].end, article, self._named(kept), holds, kept[0].start)

    @staticmethod
    def _leads(kept: Sequence[_Unit]) -> bool:
        lower = kept[0].lower
        return lower in LEADING and (len(kept) > 2 or lower in COUNTING or kept[1].concept is not None)

    def _named(self, kept: Sequence[_Unit]) -> ConceptMention | None:
        """The concept that the phrase stands for, with the words that make it another one or belong to its name."""
        last = kept[-1].concept
        if last is not None:
            if len(kept) == 1 or not last.surface.islower():
                return last
            return self._made(kept)  # "implicit treap" is another thing than "treap"
        if len(kept) > 1 and kept[-1].lower.removesuffix("s") in NAMING and kept[-2].concept is not None:
            return self._made(kept[-2:])
        return None

    def _made(self, kept: Sequence[_Unit]) -> ConceptMention | None:
        if len(kept) > 4:
            return kept[-1].concept
        start, end = kept[0].start, kept[-1].end
        surface = " ".join(self._text[start:end].split())
        return ConceptMention(surface, concept_key(surface), start, end)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A word, a mark or a whole concept."""

    text: str
    start: int
    end: int
    concept: ConceptMention | None = None

    @property
    def lower(self) -> str:
        return self.text.lower()

    @property
    def mark(self) -> bool:
        return self.concept is None and not self.text[0].isalnum()


def _gerund(unit: _Unit) -> bool:
    return unit.lower.endswith("ing") and len(unit.lower) > SHORT_VERB + 1 and unit.text.islower()


def _governs(run: Sequence[_Unit], determiner: _Unit | None, following: _Unit) -> bool:
    """Whether a gerund there has an object of its own: "a module having a …"."""
    if run:
        return following.lower in DETERMINING
    return determiner is None and not _noun(following)


def _adverb(unit: _Unit) -> bool:
    return len(unit.lower) > 4 and unit.lower.endswith("ly") and unit.lower not in _NOUNS_IN_LY


def _third_person(unit: _Unit) -> bool:
    """Whether it is a verb of the list with an "s": "encodes"."""
    lower = unit.lower
    return unit.text.islower() and lower.endswith("s") and (lower[:-1] in verbs() or lower[:-2] in verbs())


def _acts(unit: _Unit, before: str) -> bool:
    """Whether it is a verb by the word before it: "to address", "we search", ", producing"."""
    if not unit.text.islower():
        return False
    if before in ("we", "you", "they", "i"):
        return True
    if before in _BEFORE_VERBS:
        return unit.lower in _maybe_verbs()
    return before in (",", "for", "by", "of", "while", "when") and unit.lower.endswith("ing")


@cache
def _maybe_verbs() -> frozenset[str]:
    return learned_words("maybe_verbs.txt")


_BEFORE_VERBS = frozenset("to can could may might must should will would not cannot".split())


def _noun(unit: _Unit | None) -> bool:
    """Whether it may go on a noun phrase."""
    if unit is None or unit.mark:
        return False
    lower = unit.lower
    return unit.concept is not None or (lower not in CLOSED and lower not in DETERMINING and lower not in verbs())


_BEHIND = frozenset("available similar different due able capable equal necessary useful possible alike".split())
"""Adjectives that may follow a noun; then it ends there."""


def _hyphenated(text: str, one: ConceptMention) -> bool:
    """Whether it is only a part of a word: "INI" in "INI-file"."""
    after, before = text[one.end : one.end + 2], text[max(0, one.start - 2) : one.start]
    return (after[:1] == "-" and after[1:].isalnum()) or (before[1:] == "-" and before[:1].isalnum())


_NEVER = (CLOSED - VERBAL) | frozenset(
    "also only just even still already yet ever never always often sometimes perhaps maybe etc rather again together "
    "instead twice too very quite almost".split()
)
_NOUNS_IN_LY = frozenset("family assembly anomaly supply reply monopoly butterfly polygonally".split())


def names_something(key: str) -> bool:
    """Whether a concept says more than "algorithm" or "following"."""
    words = key.split()
    if not words or words[0] in ("using", "see", "note") or (len(words) > 2 and set(words) & VERBAL):
        return False
    if len(words) == 1:
        return (len(key) > 2 or key.isalpha()) and words[0] not in THIN | NEUTRAL | LEADING | VAGUE | CLOSED | ARTICLE
    return words[0] not in THIN | NEUTRAL or not all(word.isdigit() for word in words[1:])
