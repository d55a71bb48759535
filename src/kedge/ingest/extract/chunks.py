"""The noun phrases of a sentence, found by closed classes of words and a learned list of verbs, without a parser.

A phrase runs up to the next word that no noun phrase holds: a preposition, a pronoun, a verb, a full stop.
What is a concept is known from elsewhere and never cut.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from kedge.ingest.extract.inside import END, LEAST, NAME, START, SURE, inside_weights
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
_NAME_IN_CODE = re.compile(r"(?<!`)`([^\W\d_][\w.:<>!-]{1,39})`(?!`)")
"""A single word of code is a name."""
_EMPHASIS = re.compile(r"\*{1,3}|(?<![^\W_])_+|_+(?![^\W_])|[\"“”]")
"""What marks words and is none; not the lines inside a name such as `file_name`."""
_PRONOUNS = frozenset("it they this these that those".split())
_SKIPPED = frozenset("\"“”'‘’*_`")


def readable(text: str) -> str:
    """The text as long as before: code and formulas as `BLANK`, links and single words of code as words."""
    text = _NAME_IN_CODE.sub(lambda m: f" {m[1]} ", text)
    plain = prose(_LINK.sub(lambda m: f" {m[1]}{' ' * (len(m[0]) - len(m[1]) - 1)}", text), BLANK)
    return _EMPHASIS.sub(lambda m: " " * len(m[0]), plain).replace("\n", " ")


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
    sure: float = SURE
    """How surely each of its words belongs to it: of the least sure one."""

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
        self._words: list[_Unit] = []
        self._word_starts: list[int] = []
        self._classes: list[str] = []

    def chunks(self, start: int, end: int) -> list[NounChunk]:
        """The noun phrases and pronouns between two places of the sentence read last, in order."""
        found: list[NounChunk] = []
        tokens = self._between(start, end)
        run: list[_Unit] = []
        determiner: _Unit | None = None

        def close() -> None:
            nonlocal run, determiner
            if run:
                found.append(self._chunk(run, determiner))
            elif determiner is not None and determiner.lower in _PRONOUNS:
                found.append(NounChunk("", determiner.start, determiner.end, determiner.lower, begins=determiner.start))
            run, determiner = [], None

        for place, unit in enumerate(tokens):
            if unit.concept is not None:
                run.append(unit)
            elif unit.mark:
                if unit.lower not in _SKIPPED:
                    close()
            elif unit.lower in DETERMINING and not (run and unit.text == "A"):
                close()
                determiner = unit
            elif unit.lower in ("it", "they"):
                close()
                determiner = unit
                close()
            elif determiner is not None and not run and _adverb(unit):
                continue
            elif unit.inside or (run and unit.lower == "based" and _goes_on(tokens, place)):
                run.append(unit)  # "a flow based implementation"
            else:
                close()
        close()
        return found

    def read(self, start: int, end: int) -> None:
        """Take up the sentence between two places."""
        words = [(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(self._text, start, end)]
        at = bisect_left(self._starts, start)
        named = []
        for _, begins, ends in words:
            while at < len(self._concepts) and self._concepts[at].end <= begins:
                at += 1
            named.append(at < len(self._concepts) and self._concepts[at].start < ends and self._concepts[at].end <= end)
        weights = inside_weights()
        told = [NAME if name else weights.class_of(word) for (word, _, _), name in zip(words, named, strict=True)]
        self._classes = [START, START, *told, END, END]
        sums = weights.sums([word for word, _, _ in words], self._classes, named)
        self._words = [_Unit(*word, None, one) for word, one in zip(words, sums, strict=True)]
        self._word_starts = [begins for _, begins, _ in words]

    def opening(self, start: int, end: int) -> list[NounChunk]:
        """The phrases between two places of another sentence, which is not taken up."""
        kept = self._words, self._word_starts, self._classes
        self.read(start, end)
        found = self.chunks(start, end)
        self._words, self._word_starts, self._classes = kept
        return found

    def classes_before(self, place: int, count: int) -> Sequence[str]:
        """Classes of the words that end before a place of the sentence, in their order."""
        at = bisect_left(self._word_starts, place) + 2
        return self._classes[max(at - count, 0) : at]

    def classes_behind(self, place: int, count: int) -> Sequence[str]:
        """Classes of the words that begin behind a place of the sentence, in their order."""
        at = bisect_left(self._word_starts, place) + 2
        return self._classes[at : at + count]

    def classes_between(self, start: int, end: int) -> Sequence[str]:
        """Classes of the words that begin between two places of the sentence."""
        return self._classes[bisect_left(self._word_starts, start) + 2 : bisect_left(self._word_starts, end) + 2]

    def _between(self, start: int, end: int) -> list[_Unit]:
        """Words and whole concepts between two places."""
        units: list[_Unit] = []
        skip_to = start
        for unit in self._words[bisect_left(self._word_starts, start) : bisect_left(self._word_starts, end)]:
            if unit.start < skip_to or unit.end > end:
                continue
            concept = self._at(unit.start)
            if concept is not None and concept.end <= end:
                units.append(_Unit(self._text[concept.start : concept.end], concept.start, concept.end, concept))
                skip_to = concept.end
            else:
                units.append(unit)
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
        sure = min(unit.sure for unit in kept)
        return NounChunk(words, start, run[-1].end, article, self._named(kept), holds, kept[0].start, sure)

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
    sure: float = SURE
    """How surely a noun phrase holds it."""

    @property
    def inside(self) -> bool:
        return self.sure > LEAST

    @property
    def lower(self) -> str:
        return self.text.lower()

    @property
    def mark(self) -> bool:
        return self.concept is None and not self.text[0].isalnum()


def _goes_on(units: Sequence[_Unit], place: int) -> bool:
    """Whether a noun phrase goes on behind the word there."""
    return place + 1 < len(units) and not units[place + 1].mark and units[place + 1].inside


def _adverb(unit: _Unit) -> bool:
    return len(unit.lower) > 4 and unit.lower.endswith("ly") and unit.lower not in _NOUNS_IN_LY


def _hyphenated(text: str, one: ConceptMention) -> bool:
    """Whether it is only a part of a word: "INI" in "INI-file"."""
    after, before = text[one.end : one.end + 2], text[max(0, one.start - 2) : one.start]
    return (after[:1] == "-" and after[1:].isalnum()) or (before[1:] == "-" and before[:1].isalnum())


_NOUNS_IN_LY = frozenset("family assembly anomaly supply reply monopoly butterfly polygonally".split())


def names_something(key: str) -> bool:
    """Whether a concept says more than "algorithm" or "following"."""
    words = key.split()
    if not words or words[0] in ("using", "see", "note") or (len(words) > 2 and set(words) & VERBAL):
        return False
    if len(words) == 1:
        return (len(key) > 2 or key.isalpha()) and words[0] not in THIN | NEUTRAL | LEADING | VAGUE | CLOSED | ARTICLE
    return words[0] not in THIN | NEUTRAL or not all(word.isdigit() for word in words[1:])
