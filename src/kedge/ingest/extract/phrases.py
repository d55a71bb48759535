"""The noun phrases beside the words that state a relation, found by closed classes of words alone.

A phrase runs from a place up to the next word that no noun phrase holds: a preposition, a pronoun, an auxiliary, a
full stop. What is a concept is known from elsewhere; a phrase that ends with one stands for it ("the modified
Dijkstra's algorithm"), one that goes on behind it does not ("the nodes of a tree", "segment tree vertex").
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.ingest.extract.word_classes import (
    ARTICLE,
    CLAUSE,
    CLOSED,
    COUNTING,
    LEADING,
    NAMING,
    NEUTRAL,
    NO_KIND,
    OF,
    POINTING,
    REACH,
    THIN,
    VAGUE,
    VERBAL,
)
from kedge.text.concepts import ConceptMention, concept_key, prose
from kedge.text.generic import generic_terms

BLANK = "¤"
"""Stands for code and formulas."""
MAX_WORDS = 4
"""Of a noun phrase that becomes a concept without being marked."""
MAX_OBJECTS = 6

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_TRAILING = re.compile(
    r"[\s,]*(?:(?:that\s+is\s+|which\s+is\s+|as\s+)?(?:described|presented|given|discussed|shown|proposed|explained|used|mentioned)"
    r"(?:\s+(?:here|above|below|earlier|before|in\s+this\s+\w+))*|(?:itself|here|above|below|in\s+(?:this\s+\w+|general|practice|turn)|usually|often|then))\s*\Z",
    re.IGNORECASE,
)
_PARENTHESIS = re.compile(r"\s*\([^()]*\)\s*\Z")
_APPOSITION = re.compile(r",[^,.;:]{2,80},\s*\Z")
_OPENS = re.compile(r"(?:[\s#>*+\-•–|_\"“«(]|\d{1,3}[.)](?=\s)|\[[ xX]?\])*\Z")
_SPACING = re.compile(r"[\s*_]*")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{2,120})\]\(([^()\s]*)\)")


def readable(text: str) -> str:
    """The text as long as before, with code and formulas as `BLANK`, links as their words, emphasis as spaces."""
    plain = prose(_LINK.sub(lambda m: f" {m[1]}{' ' * (len(m[0]) - len(m[1]) - 1)}", text), BLANK)
    return re.sub(r"[*_]{1,3}|[\"“”]", lambda m: " " * len(m[0]), plain).replace("\n", " ")


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase of a sentence."""

    words: str
    """Without article."""
    start: int
    end: int
    concept: ConceptMention | None = None
    """The concept it stands for."""
    pointing: bool = False
    """It points at something said before: "this algorithm", "it"."""
    marked: bool = False
    """Though it is no concept, it holds one: "HNSW index"."""

    @property
    def key(self) -> str:
        """The key of its concept, or of its words."""
        return self.concept.key if self.concept is not None else concept_key(self.words)

    @property
    def sound(self) -> bool:
        """Whether it could be a concept though nothing marks it: a few words whose last says something."""
        found = self.words.split()
        if not found or len(found) > MAX_WORDS or self.pointing or not all(map(_may_be_named, found)):
            return False
        if self.marked and len(found) > 1 and found[-1].lower() in NAMING:
            return True
        if len(found) > 1 and found[0].lower().endswith("ing") and not self.marked:
            return False
        return (
            found[-1].lower() not in THIN and found[0].lower() not in VAGUE and (len(found) > 1 or not _thin(found[0]))
        )

    @property
    def kind(self) -> bool:
        """Whether it can say what kind of thing something is: "greedy algorithm", "winch"."""
        found = self.words.split()
        last = found[-1].lower() if found else ""
        if last in NO_KIND or last.endswith(("ing", "ed")) or {"bit", "more", "less"} & set(found):
            return False
        return self.sound or (1 < len(found) <= MAX_WORDS and last in NEUTRAL and all(map(_may_be_named, found)))

    @property
    def plural(self) -> bool:
        """Whether it is about several."""
        return self.words.endswith("s") and not self.words.endswith("ss")


class Phrases:
    """The noun phrases of one passage that is `readable`."""

    def __init__(self, text: str, concepts: Sequence[ConceptMention], topic: str = "") -> None:
        """`concepts` by place, without overlaps; `topic` is what the document is called."""
        self._text = text
        self._topic = {key for key in concept_key(topic).split() if len(key) > 4 and not _thin(key)}
        concepts = [one for one in concepts if _names(one.key)]
        self._starts = [one.start for one in concepts]
        self._by_end = {one.end: one for one in concepts}
        self._concepts = concepts

    def after(self, at: int, end: int, *, listed: bool = False) -> list[NounPhrase]:
        """The phrase that begins at `at` and those joined to it before `end`, by "and", "or" and commas before these.

        `listed`: a list of its own, where commas are enough.
        """
        found: list[NounPhrase] = []
        ended = False
        while len(found) < MAX_OBJECTS:
            phrase = self._forward(at, end)
            if phrase is None:
                break
            found.append(phrase)
            joint = _JOINT.match(self._text, phrase.end, end)
            if joint is None or joint.end() == phrase.end or ended:
                break
            ended = joint.group().strip() != ","
            at = joint.end()
        return found if ended or listed else found[:1]

    def before(self, start: int, at: int) -> list[NounPhrase]:
        """The phrase that ends at `at` and those joined to it by "and", from `start`; nearest first.

        None where it is no subject: the object of a preposition, or of a verb.
        """
        last = self._backward(start, self._trimmed(start, at))
        for _ in range(2):
            if last is None or (hung := _HUNG.search(self._text, start, last.start)) is None:
                break
            head = self._backward(start, hung.start())
            if head is None or head.concept is None:
                if head is None or head.words.lower() not in REACH:
                    return []
                last = NounPhrase(last.words, head.start, last.end, last.concept, last.pointing, last.marked)
            else:
                last = head
        if last is None:
            return []
        found = [last]
        joined = _JOINED_BEFORE.search(self._text, start, last.start)
        if joined is not None and (other := self._backward(start, joined.start())) is not None:
            if " " not in last.words and " " not in other.words and last.words[0].isupper():
                return []  # "Divide and Conquer" is one
            found.append(other)
        lead = found[-1]
        return found if self._leads(start, lead.start) else []

    def opening(self, start: int, end: int) -> NounPhrase | None:
        """The phrase that a sentence begins with, seen through mark-up; with "the" and one word it points back."""
        at = _OPENER.match(self._text, start, end).end()  # type: ignore[union-attr]
        word = _WORD.match(self._text, at, end)
        if (
            word is not None
            and word.group().lower() in ("it", "this")
            and _VERB_NEXT.match(self._text, word.end(), end)
        ):
            return self._pronoun(word)
        found = self._forward(at, end)
        if found is None or found.concept is not None or word is None:
            return found
        definite = word.group().lower() == "the" and len(found.words.split()) == 1
        return NounPhrase(found.words, found.start, found.end, None, found.pointing or definite, found.marked)

    def close(self, start: int, at: int) -> NounPhrase | None:
        """The phrase that ends right at `at`, whatever stands before it."""
        return self._backward(start, at)

    def _trimmed(self, start: int, at: int) -> int:
        """Where the phrase before `at` ends, without what stands between subject and verb."""
        for pattern in (_APPOSITION, _PARENTHESIS, _TRAILING, _PARENTHESIS):
            match = pattern.search(self._text, start, at)
            if match is not None and match.start() > start:
                at = match.start()
        return at

    def _leads(self, start: int, at: int) -> bool:
        """Whether what begins at `at` opens a clause."""
        before = self._text[start:at].rstrip()
        if _OPENS.fullmatch(before) or before[-1] in ",;:.—–-(":
            return True
        words = _WORD.findall(before)
        return bool(words) and before.endswith(words[-1]) and words[-1].lower() in CLAUSE

    def _forward(self, at: int, end: int) -> NounPhrase | None:
        position = _SPACING.match(self._text, at).end()  # type: ignore[union-attr]
        words: list[re.Match[str]] = []
        pointing = False
        while (word := _WORD.match(self._text, position, end)) is not None:
            concept = self._at(word.start())
            lower = word.group().lower()
            if concept is not None and concept.end <= end:
                after = self._absorbed(concept.end, end)
                if after is not None:
                    first = words[0].start() if words else concept.start
                    return NounPhrase(self._text[first:after].strip(), first, after, self._whole(concept, after))
            if not words and lower in POINTING:
                pointing = True
            elif not words and lower.endswith("ing") and _ARTICLED.match(self._text, word.end(), end):
                pointing = False  # "by building a tree": of the tree
            elif words or lower not in LEADING:
                if lower in CLOSED or (words and len(lower) > 4 and lower.endswith("ly")):
                    if not words or lower != "of" or words[-1].group().lower() not in OF:
                        break
                    words, pointing = [], False
                else:
                    words.append(word)
            position = _GAP.match(self._text, word.end()).end()  # type: ignore[union-attr]
        if not words or (pointing and len(words) > 2):
            return None
        first, last = words[0].start(), words[-1].end()
        name = " ".join(self._text[first:last].split())
        if len(words) == 1 and name.endswith("ing") and _GOVERNS.match(self._text, last, end):
            return None
        return NounPhrase(name, first, last, self._by_end.get(last), pointing, self._marked(words))

    def _marked(self, words: Sequence[re.Match[str]]) -> bool:
        """Whether the words hold a concept or a name, or speak of a part of what the document is about."""
        if len(words) == 1:
            return concept_key(words[0].group()) in self._topic
        if any(word.group()[0].isupper() for word in words[words[-1].group().lower() not in NAMING :]):
            return True
        if self._holds(words[0].start(), words[-1].end()):
            return True
        return any(concept_key(word.group()) in self._topic for word in words)

    def _holds(self, start: int, end: int) -> bool:
        place = bisect_left(self._starts, start)
        return place < len(self._starts) and self._starts[place] < end

    def _whole(self, concept: ConceptMention, end: int) -> ConceptMention:
        """The concept with the word behind it that belongs to its name: "Euclidean algorithm"."""
        surface = self._text[concept.start : end]
        if end == concept.end or surface.split()[-1].lower().removesuffix("s") not in NAMING:
            return concept
        return ConceptMention(surface, concept_key(surface), concept.start, end)

    def _absorbed(self, at: int, end: int) -> int | None:
        """Where a phrase ends that holds a concept up to `at`, or None if the words behind make it another thing."""
        while (word := _WORD.match(self._text, _GAP.match(self._text, at).end(), end)) is not None:  # type: ignore[union-attr]
            if word.group().lower() in CLOSED or word.group().lower().endswith("ly"):
                return at
            if word.group().lower() not in NEUTRAL:
                return None
            at = word.end()
        return at

    def _backward(self, start: int, at: int) -> NounPhrase | None:
        text = self._text[start:at]
        end = start + len(text.rstrip(" ,\t"))
        found = list(_WORD.finditer(self._text, start, end))
        if not found or found[-1].end() != end:
            return None
        concept = self._by_end.get(end)
        words: list[re.Match[str]] = []
        for word in reversed(found):
            lower = word.group().lower()
            if concept is not None and word.start() >= concept.start:
                words.insert(0, word)
                continue
            if words and self._text[word.end() : words[0].start()].strip():
                break
            if lower in CLOSED or lower in POINTING or lower in ARTICLE:
                break
            words.insert(0, word)
        if not words:
            return self._pronoun(found[-1])
        first = words[0].start()
        index = len([word for word in found if word.start() < first])
        before = found[index - 1].group().lower() if index else ""
        near = index > 0 and not self._text[found[index - 1].end() : first].strip()
        pointing = concept is None and near and before in POINTING | {"the"} and len(words) == 1
        if concept is None and len(words) > 1 and words[-1].group().lower() in NEUTRAL:
            held = self._by_end.get(words[-2].end())
            concept = self._whole(held, end) if held is not None else None
            pointing = pointing and concept is None
        while (
            words[1:]
            and words[0].group().lower() in LEADING
            and (len(words) > 2 or words[0].group().lower() in COUNTING)
            and (concept is None or words[0].end() <= concept.start)
        ):
            words = words[1:]
        begin = found[index - 1].start() if near and (before in POINTING or before in ARTICLE) else first
        name = " ".join(self._text[words[0].start() : end].split())
        return NounPhrase(name, begin, end, concept, pointing, self._marked(words))

    def _pronoun(self, word: re.Match[str]) -> NounPhrase | None:
        if word.group().lower() not in ("it", "this"):
            return None
        return NounPhrase(word.group(), word.start(), word.end(), None, True)

    def _at(self, start: int) -> ConceptMention | None:
        place = bisect_left(self._starts, start)
        return self._concepts[place] if place < len(self._starts) and self._starts[place] == start else None


_OPENER = re.compile(
    r"(?:[\s#>*+\-•–|_\"“«(]|\d{1,3}[.)](?=\s)"
    r"|(?:thus|therefore|hence|however|so|then|in fact|moreover|note that|also|but|and)\b,?)*",
    re.IGNORECASE,
)
_VERB_NEXT = re.compile(r"\s+(?:is|are|was|were|has|can|may|will|\w+s)\b", re.IGNORECASE)
_GOVERNS = re.compile(r"\s+(?:that|how|the|an?|each|every|all|it|this|whether|which)\b", re.IGNORECASE)
_ARTICLED = re.compile(r"\s+(?:an?|the|some|several|its|their)\s", re.IGNORECASE)
_HUNG = re.compile(r"\s+(?:of|in|for|on|with|from|to|at|by)\s+\Z", re.IGNORECASE)
_GAP = re.compile(r"[ \t*_\"“”'’]*(?:[-–][ \t]?)?")
_JOINT = re.compile(
    r"\s*(?:\([^()]*\))?\s*(?:,\s*(?:and|or)?|and|or|plus|as\s+well\s+as|(?<=\s)&)\s*(?=[\w\"“])", re.IGNORECASE
)
_JOINED_BEFORE = re.compile(r"\s*(?:,\s*)?\b(?:and|or|as\s+well\s+as)\s+\Z", re.IGNORECASE)


def _may_be_named(word: str) -> bool:
    lower = word.lower()
    return (
        len(word) > 1
        and lower not in CLOSED
        and lower not in POINTING
        and not word.isdigit()
        and not lower.endswith("ly")
    )


def _names(key: str) -> bool:
    """Whether a concept says more than "algorithm" or "following"."""
    words = key.split()
    if words[0] in ("using", "see", "note") or (len(words) > 2 and set(words) & VERBAL):
        return False
    if len(words) == 1:
        return (len(key) > 2 or key.isalpha()) and words[0] not in THIN | NEUTRAL | LEADING | VAGUE | CLOSED
    return words[0] not in THIN | NEUTRAL or not all(word.isdigit() for word in words[1:])


def _thin(word: str) -> bool:
    lower = word.lower()
    return lower in THIN or len(word) < 4 or bool(generic_terms() & {lower}) or (lower.endswith(("ed", "able")))
