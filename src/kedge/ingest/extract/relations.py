"""Typed relations between concepts, each with a confidence and the passage that says so (D-06, D-07, D-21).

The words that state a relation are looked for first (`cues`), then the noun phrases beside them (`phrases`). One end
must be a concept: marked by the author, a title, or what the section is about where the sentence points at it ("this
algorithm"). The other may be a noun phrase that nothing marks; it becomes a concept by being related to one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from kedge.core.triples import triple_faults
from kedge.core.values import Passage, Predicate, Triple
from kedge.ingest.extract.cues import CueSide, StatedCue, stated
from kedge.ingest.extract.phrases import NounPhrase, Phrases, readable
from kedge.text.concepts import ConceptMention, concept_key
from kedge.text.sentences import sentences

MAX_HEADING_WORDS = 6
MAX_TITLE_WORDS = 10
POINTED = 0.9
"""What is left of the confidence where the subject is only pointed at."""
AUTHOR = 0.86
"""What is left of it where the author says what is done, and the document is the subject."""
UNMARKED = 0.85
"""What is left of it where an end is a noun phrase that nothing marks."""
_USE_CASE = re.compile(r"\b(?:when|if|for|in case|as long as|whenever|on)\b[^.;]{4,160}", re.IGNORECASE)
_HEADING = re.compile(r"[^\S\n]*(?:#{1,6}[^\S\n]|\|)")
_POINTS_AT = frozenset(
    "algorithm method technique approach structure theorem lemma protocol model system library tool format "
    "theory".split()
)
"""What a document or section may be called when it is pointed at: "this algorithm"."""
_POINTS_IF_SO_CALLED = frozenset("problem task function principle rule process form knot".split())
"""The same, where its name has the word."""


@dataclass(slots=True)
class Relations:
    """What passages state."""

    triples: list[Triple] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Of concepts that only a relation names: key → as written."""
    dropped: int = 0
    """Triples that broke a rule (D-07)."""


@dataclass(frozen=True, slots=True)
class _End:
    key: str
    name: str
    sure: float


def find_relations(passage: Passage, found: Sequence[ConceptMention]) -> Relations:
    """The relations that the sentences of a passage state, in their order; each once.

    `found` are all mentions of concepts in it.
    """
    return _RelationReader(passage, _outermost(found)).read()


class _RelationReader:
    """Reads one passage."""

    def __init__(self, passage: Passage, concepts: Sequence[ConceptMention]) -> None:
        self._passage = passage
        self._text = readable(passage.text)
        self._concepts = concepts
        self._phrases = Phrases(self._text, concepts, passage.title)
        self._about = _topics(passage)
        self._last: _End | None = None
        """The subject of the sentence before."""
        self._begun = False

    def read(self) -> Relations:
        """Sentence by sentence."""
        result = Relations()
        seen: set[tuple[str, Predicate, str]] = set()
        for start, end in sentences(self._passage.text):
            if _HEADING.match(self._passage.text, start) or self._passage.text[end - 1] == "?":
                continue
            opening = self._opening(start, end)
            for subject, cue, target in self._stated(start, end):
                triple = self._triple(cue, subject, target, start, end)
                which = (triple.subject, triple.predicate, triple.object)
                if which in seen or triple.subject == triple.object:
                    continue
                seen.add(which)
                if triple_faults(triple):
                    result.dropped += 1
                    continue
                result.triples.append(triple)
                result.names |= {one.key: one.name for one in (subject, target)}
            self._last = opening
            self._begun = True
        return result

    def _stated(self, start: int, end: int) -> Iterator[tuple[_End, StatedCue, _End]]:
        sentence = self._text[start:end]
        if not self._about and not any(start <= one.start < end for one in self._concepts):
            return
        for one in stated(sentence):
            cue = StatedCue(one.cue, one.start + start, one.end + start)
            for subject, target in self._ends(cue, start, end):
                if max(subject.sure, target.sure) > UNMARKED and _sound(subject, target):
                    yield subject, cue, target

    def _ends(self, one: StatedCue, start: int, end: int) -> Iterator[tuple[_End, _End]]:
        """Subjects and objects of a cue in the sentence from `start` to `end`."""
        side = one.cue.side
        right = self._phrases.after(one.end, end, listed=side is CueSide.LISTED)
        if side is CueSide.LISTED:
            before = self._text[start : one.start].strip(" -*>(")
            if not before or before.endswith(","):
                yield from product(self._about[-1:], self._objects(right, one))
            return
        if side is CueSide.PAIR:
            if len(right) == 2 and all(one.concept is not None or one.marked for one in right):
                yield from product(self._objects(right[:1], one), self._objects(right[1:], one))
            return
        if side is CueSide.AROUND:
            comma = self._text.find(",", one.end, end)
            if not self._text[start : one.start].strip(" -*>(") and right and comma > 0:
                then = self._phrases.opening(comma + 1, end)
                yield from product(self._resolved([then] if then is not None else []), self._objects(right[:1], one))
            return
        left = self._left(one, start)
        if side is CueSide.JOINED:
            if len(left) == 2:
                yield from product(self._resolved(left[1:]), self._resolved(left[:1]))
            return
        subjects, targets = self._resolved(left), self._objects(right, one)
        if not subjects and one.cue.predicate is Predicate.USES and side is CueSide.LEFT:
            targets = [target for target in targets if target.sure == 1]
            subjects = self._author(start, one.start)
        if side is CueSide.RIGHT:
            if one.cue.named:
                subjects = [
                    subject for subject in subjects if subject.sure == 1 or one.cue.predicate is not Predicate.PART_OF
                ]
            yield from product(targets, subjects)
        else:
            yield from product(subjects, targets)

    def _left(self, one: StatedCue, start: int) -> list[NounPhrase]:
        """The phrases before the cue that may be its subject, or its object where the cue is passive."""
        if one.cue.close or (one.cue.side is CueSide.RIGHT and one.cue.predicate is Predicate.EXAMPLE_OF):
            return self._near(one, start)
        relative = _RELATIVE.search(self._text, start, one.start)
        if relative is not None:
            opener = self._opener(start, relative.start())
            if opener and opener[0].words.lower() != "it" and _BEING.match(self._text, opener[0].end, relative.start()):
                return opener  # "X is a Y that uses Z": X does
            near = self._phrases.close(start, relative.start())
            return [near] if near is not None and near.concept is not None else []
        found = [] if one.cue.opens else self._phrases.before(start, one.start)
        coordinated = one.cue.opens or _COORDINATED.search(self._text, start, one.start)
        return self._opener(start, one.start) if not found and coordinated else found

    def _near(self, one: StatedCue, start: int) -> list[NounPhrase]:
        """The phrase right before the cue: a concept, or what the listed examples are of."""
        near = self._phrases.close(start, one.start)
        if near is None or one.cue.side is not CueSide.RIGHT:
            return [near] if near is not None and near.concept is not None else []
        any_of = self._text[near.start : near.end].lower().startswith("any ")
        return [near] if near.plural or any_of else []

    def _opener(self, start: int, end: int) -> list[NounPhrase]:
        """What the sentence begins with, where that is a concept or points at one."""
        found = self._phrases.opening(start, end)
        return [found] if found is not None and (found.concept is not None or found.pointing or found.marked) else []

    def _author(self, start: int, at: int) -> list[_End]:
        """What the document is about, where its author says what is done: "we use …", "this can be solved with …"."""
        if not self._about or _AUTHOR.fullmatch(self._text, start, at) is None:
            return []
        return [_End(self._about[0].key, self._about[0].name, AUTHOR)]

    def _objects(self, phrases: Sequence[NounPhrase], one: StatedCue) -> list[_End]:
        if one.cue.kind:
            phrases = [phrase for phrase in phrases[:1] if not _OF_NEXT.match(self._text, phrase.end)]
        return [
            _End(phrase.key, _surface(phrase), _sure(phrase))
            for phrase in phrases
            if phrase.concept is not None or (not one.cue.named and (phrase.kind if one.cue.kind else phrase.sound))
        ]

    def _resolved(self, phrases: Sequence[NounPhrase]) -> list[_End]:
        """The phrases as ends; what points at something said before is followed."""
        ends = []
        for phrase in phrases:
            if phrase.concept is not None:
                ends.append(_End(phrase.key, _surface(phrase), 1.0))
            elif phrase.pointing:
                ends += self._pointed_at(phrase)
            elif phrase.sound and (phrase.marked or " " in phrase.words):
                ends.append(_End(phrase.key, _surface(phrase), _sure(phrase)))
        return ends

    def _pointed_at(self, phrase: NounPhrase) -> list[_End]:
        """What "it", "this algorithm" or "the problem" means: the last subject, the section or the document."""
        words = phrase.words.lower().split()
        if words == ["it"]:
            first = self._about[:1] if self._passage.index == 0 and not self._begun else []
            return [_End(self._last.key, self._last.name, POINTED)] if self._last is not None else first
        noun = words[-1].removesuffix("s")
        if len(words) != 1:
            return []
        if noun not in _POINTS_AT:
            called = [one for one in self._about if noun in one.key.split() and noun in _POINTS_IF_SO_CALLED]
            return called[-1:]
        before = [one for one in self._concepts if one.end <= phrase.start and one.key.endswith(" " + noun)]
        named = [_End(one.key, one.surface, POINTED) for one in before[-1:]]
        return named or [_End(one.key, one.name, POINTED) for one in self._about[-1:]]

    def _opening(self, start: int, end: int) -> _End | None:
        """What the sentence is about: its first phrase, where that is a concept."""
        ends = self._resolved(self._opener(start, end))
        return ends[0] if ends else None

    def _triple(self, one: StatedCue, subject: _End, target: _End, start: int, end: int) -> Triple:
        compares = one.cue.predicate is Predicate.COMPARED_TO
        sentence = self._passage.text[start:end]
        use_case = _USE_CASE.search(self._text, one.end, end) or _USE_CASE.search(self._text, start, one.start)
        return Triple(
            subject=subject.key,
            predicate=one.cue.predicate,
            object=target.key,
            confidence=round(one.cue.confidence * subject.sure * target.sure, 3),
            passage_id=self._passage.id,
            comparison=" ".join(sentence.split()) if compares else "",
            use_case=" ".join(self._passage.text[slice(*use_case.span())].split()) if compares and use_case else "",
        )


_AUTHOR = re.compile(
    r"(?:.*[,;:]\s*|(?:so|then|thus|therefore|hence|here|also|but|however|now|and)\s+|.*\b(?:solve|do|find|compute|handle)\s+(?:this|it|the\s+problem|this\s+problem|this\s+task)[\s,]+)?"
    r"(?:we|you|one\s+can|this|(?:this|the)\s+(?:problem|task|question)|)\s*",
    re.IGNORECASE | re.DOTALL,
)
_BEING = re.compile(r"\s*(?:\([^()]*\)\s*)?(?:is|are|was|were)\s+(?:\w+\s+)?(?:an?|the|one)\s", re.IGNORECASE)
_OF_NEXT = re.compile(r"\s+(?:of|for|to|in)\b|,\s*(?!that\b|which\b|and\b|but\b|where\b|so\b)\w", re.IGNORECASE)
_RELATIVE = re.compile(r"\s*,?\s*\b(?:which|that)(?:\s+\w+ly)?\s+\Z", re.IGNORECASE)
_COORDINATED = re.compile(r"\b(?:and|but)(?:\s+\w+ly)?\s+\Z", re.IGNORECASE)


def _sound(subject: _End, target: _End) -> bool:
    """Not a thing and itself by a longer or shorter name."""
    one, other = subject.key.split(), target.key.split()
    if not one or not other or set(one) == set(other):
        return False
    short, long = sorted((one, other), key=len)
    initials = "".join(word[0] for word in long)
    if short == [initials]:
        return False
    return subject.sure != AUTHOR or not set(short) <= set(long)


def _sure(phrase: NounPhrase) -> float:
    """What is left of the confidence for this end."""
    return 1.0 if phrase.concept is not None else POINTED if phrase.marked else UNMARKED


def _surface(phrase: NounPhrase) -> str:
    return " ".join((phrase.concept.surface if phrase.concept is not None else phrase.words).split())


def _topics(passage: Passage) -> list[_End]:
    """What the passage is about: its document, then the heading that names a thing; the nearest last."""
    names = [passage.title]
    names += [part for part in passage.section_path if _names(part)]
    found = []
    for name in dict.fromkeys(names):
        key = concept_key(name)
        most = MAX_TITLE_WORDS if name == names[0] else MAX_HEADING_WORDS
        if len(key) > 1 and len(name.split()) <= most:
            found.append(_End(key, name, POINTED))
    return found


def _names(heading: str) -> bool:
    """Whether a heading names an algorithm, a structure and the like by its last word."""
    words = heading.split()
    if len(words) < 2:
        return False
    return words[-1].lower().removesuffix("s") in _POINTS_AT and words[0].lower() not in _ORDER


_ORDER = frozenset(
    "first second third another other alternative naive simple our the this faster better new general".split()
)


def _outermost(found: Sequence[ConceptMention]) -> list[ConceptMention]:
    """Drop mentions inside longer ones."""
    ordered = sorted(found, key=lambda mention: (mention.start, -mention.end))
    kept: list[ConceptMention] = []
    for mention in ordered:
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept
