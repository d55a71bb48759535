"""Typed relations between concepts, each with a confidence and the passage that says so (D-06, D-07, D-21).

The words that state a relation are looked for first (`cues`), then every pair of noun phrases beside them (`chunks`) is
a candidate, and weights that were learned from sentences read by hand say how likely each is (`weights`). An end is a
concept: marked by the author, a title, or what the section is about where the sentence points at it ("this algorithm");
or a noun phrase that nothing marks, which becomes a concept by being related.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kedge.core.triples import triple_faults
from kedge.core.values import Passage, Predicate, Triple
from kedge.ingest.extract.candidates import (
    MAX_WORDS,
    REACHED,
    TOPIC,
    CueNeighbours,
    EndKind,
    RelationCandidate,
    RelationEnd,
    cue_features,
    cue_sides,
    cue_words,
    end_features,
    head_class,
    joined_features,
    object_context,
    object_features,
    pair_features,
    rank_features,
    subject_context,
    subject_features,
)
from kedge.ingest.extract.choosing import JUDGED, ScoredSentence, judge_all
from kedge.ingest.extract.chunks import BLANK, Chunker, NounChunk, readable
from kedge.ingest.extract.claims import RelationJudge
from kedge.ingest.extract.cues import CueSide, StatedCue, stated
from kedge.ingest.extract.weights import relation_weights
from kedge.ingest.extract.word_classes import CLOSED, NO_KIND, POINTS_AT, POINTS_IF_SO_CALLED, VAGUE
from kedge.text.concepts import ConceptMention, concept_key
from kedge.text.sentences import sentences

MAX_HEADING_WORDS = 6
MAX_TITLE_WORDS = 12
SHORT_WORD = 4
OPENING = 80
"""Characters of a sentence in which its first phrase is looked for."""
_USE_CASE = re.compile(r"\b(?:when|if|for|in case|as long as|whenever|on)\b[^.;]{4,160}", re.IGNORECASE)
_MADE_BY = re.compile(r"\b(?:created|made|written|maintained)\s+by\Z", re.IGNORECASE)
_LINK_ALONE = re.compile(r"\s*+(?:[-*+]|\d+[.)])\s++(?:\*\s*+)?\[[^\[\]\n]++\]\([^()\s]*+\)[\s.]*+")
"""An item of a list that is a link and nothing else."""
_PICTURED = re.compile(r"<(?:img|figure|figcaption|center)\b", re.IGNORECASE)
_HEADING = re.compile(r"[^\S\n]*(?:#{1,6}[^\S\n]|\|)")


@dataclass(slots=True)
class Relations:
    """What passages state."""

    triples: list[Triple] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Of concepts that only a relation names: key → as written."""
    dropped: int = 0
    """Triples that broke a rule (D-07)."""


def find_relations(passage: Passage, found: Sequence[ConceptMention], judge: RelationJudge | None = None) -> Relations:
    """The relations that the sentences of a passage state, in their order; each once.

    `found` are all mentions of concepts in it. A judge reads what the weights do not rule out.
    """
    reader, weights = RelationReader(passage, found), relation_weights()
    read = [ScoredSentence.weighed(place, reader.candidates(*place), weights) for place in reader.sentences()]
    threshold = weights.threshold
    if judge is not None:
        read, threshold = judge_all(read, judge, passage.title, reader.text), JUDGED
    result = Relations()
    seen: set[tuple[str, Predicate, str]] = set()
    for sentence in read:
        for probability, one in sentence.stated(threshold, reader.text):
            triple = reader.triple(one, probability, *sentence.place)
            which = (triple.subject, triple.predicate, triple.object)
            if which in seen:
                continue
            seen.add(which)
            if triple_faults(triple):
                result.dropped += 1
                continue
            result.triples.append(triple)
            result.names |= {end.key: end.name for end in (one.subject, one.object)}
    return result


class RelationReader:
    """Reads one passage, sentence by sentence."""

    def __init__(self, passage: Passage, found: Sequence[ConceptMention]) -> None:
        self._passage = passage
        self.text = readable(passage.text)
        """As it is read; as long as the passage."""
        self._concepts = _outermost(found)
        self._chunker = Chunker(self.text, self._concepts)
        self._about = _topics(passage)
        self._before: tuple[int, int] | None = None
        """Where the sentence before stands."""

    def sentences(self) -> Iterator[tuple[int, int]]:
        """Places of those that may state something: no headings, no questions, no links alone, no tagged captions."""
        text = self._passage.text
        for start, end in sentences(text):
            if _HEADING.match(text, start) or text[end - 1] == "?":
                continue
            if _LINK_ALONE.fullmatch(text, start, end) is None and _PICTURED.search(text, start, end) is None:
                yield start, end

    def candidates(self, start: int, end: int) -> list[RelationCandidate]:
        """What the sentence there may state; call it for each sentence, in order."""
        found: list[RelationCandidate] = []
        cues = list(stated(self.text[start:end]))
        if cues:
            self._chunker.read(start, end)
        for one in cues:
            found += self._around(StatedCue(one.cue, one.start + start, one.end + start), start, end)
        self._before = (start, end)
        return found

    def triple(self, one: RelationCandidate, probability: float, start: int, end: int) -> Triple:
        """The triple of a candidate in the sentence there."""
        compares = one.cue.cue.predicate is Predicate.COMPARED_TO
        sentence = self._passage.text[start:end]
        use_case = _USE_CASE.search(self.text, one.cue.end, end) or _USE_CASE.search(self.text, start, one.cue.start)
        return Triple(
            subject=one.subject.key,
            predicate=one.cue.cue.predicate,
            object=one.object.key,
            confidence=round(probability, 3),
            passage_id=self._passage.id,
            comparison=" ".join(sentence.split()) if compares else "",
            use_case=" ".join(self._passage.text[slice(*use_case.span())].split()) if compares and use_case else "",
        )

    def _around(self, cue: StatedCue, start: int, end: int) -> Iterator[RelationCandidate]:
        before = self._chunker.chunks(start, cue.start)[::-1]
        left = CueNeighbours.seen_through(self.text, cue, before[:REACHED] + before[REACHED:][-1:])
        right = CueNeighbours.seen_through(self.text, cue, self._chunker.chunks(cue.end, end)[: REACHED + 2])
        swapped = cue.cue.side in (CueSide.RIGHT, CueSide.CLASSED)
        tag = f"{cue.cue.predicate.value}.{cue.cue.side}"
        words = cue_words(self.text, cue)
        shared = tuple(cue_features(self.text, start, end, cue, words))
        firsts: dict[int, tuple[RelationEnd, tuple[str, ...]] | None] = {}
        seconds: dict[int, tuple[RelationEnd, tuple[str, ...]] | None] = {}
        for rank, one, other, target in cue_sides(cue, left, right):
            at = rank if one is not None else TOPIC
            if at not in firsts:
                first = self._topic() if one is None else self._end(one)
                firsts[at] = (
                    None
                    if first is None
                    else (
                        first,
                        (
                            *end_features("l", first, tag),
                            *subject_features(self.text, start, cue, first, tag),
                            *subject_context(self._chunker, cue, first, words),
                            *(rank_features("l", left, rank, tag) if one is not None and one in left.chunks else ()),
                        ),
                    )
                )
            if other not in seconds:
                second = self._end(target)
                seconds[other] = (
                    None
                    if second is None
                    else (
                        second,
                        (
                            *end_features("r", second, tag),
                            *object_features(self.text, end, cue, second, tag),
                            *object_context(self._chunker, cue, second, words),
                            *(rank_features("r", right, other, tag) if target in right.chunks else ()),
                        ),
                    )
                )
            near, far = firsts[at], seconds[other]
            if near is None or far is None or not _may_relate(near[0], far[0]):
                continue
            ends = (far[0], near[0]) if swapped else (near[0], far[0])
            if _says_nothing(ends[0]) or not _fits(cue, *ends, self.text):
                continue
            single = (*shared, *near[1], *far[1], *pair_features(near[0], far[0], tag, words))
            yield RelationCandidate(ends[0], cue, ends[1], single + tuple(joined_features(single, tag)))

    def _topic(self) -> RelationEnd | None:
        return self._about[0] if self._about else None

    def _end(self, chunk: NounChunk) -> RelationEnd | None:
        """What a phrase stands for; None where that is not known, or nothing to speak of."""
        if not chunk.words:
            if chunk.determiner in ("it", "they"):
                return self._pointed(chunk, EndKind.PRONOUN, self._last())
            about = self._about[-1] if self._about and chunk.determiner == "this" else None
            return self._pointed(chunk, EndKind.PRONOUN, about)
        if chunk.concept is not None:
            return RelationEnd(chunk.key, " ".join(chunk.concept.surface.split()), EndKind.CONCEPT, chunk)
        words = chunk.words.split()
        if (
            chunk.determiner in ("this", "these", "such", "the", "our")
            and len(words) == 1
            and not self.text[chunk.end : chunk.end + 2].strip().startswith(BLANK)  # "the method `f()`" is no other
        ):
            pointed = self._pointed_at(chunk)
            if pointed is not None or chunk.determiner != "the":
                return pointed
        key = chunk.key
        if len(words) > MAX_WORDS or len(key) < 2 or not any(map(str.isalpha, key)) or words[-1].lower() in CLOSED:
            return None
        return RelationEnd(key, chunk.words, EndKind.HOLDS if chunk.holds else EndKind.PLAIN, chunk)

    def _pointed(self, chunk: NounChunk, kind: EndKind, at: RelationEnd | None) -> RelationEnd | None:
        return RelationEnd(at.key, at.name, kind, chunk) if at is not None else None

    def _pointed_at(self, chunk: NounChunk) -> RelationEnd | None:
        """What "this algorithm" or "the problem" means: the concept before so called, the section, the title."""
        noun = chunk.head.removesuffix("s")
        before = [one for one in self._concepts if one.end <= chunk.start and one.key.endswith(" " + noun)]
        if before and noun in POINTS_AT | POINTS_IF_SO_CALLED:
            return RelationEnd(before[-1].key, before[-1].surface, EndKind.POINTED, chunk)
        if noun in POINTS_AT:
            return self._pointed(chunk, EndKind.POINTED, self._about[-1] if self._about else None)
        called = [one for one in self._about if noun in one.key.split() and noun in POINTS_IF_SO_CALLED]
        return self._pointed(chunk, EndKind.POINTED, called[-1] if called else None)

    def _last(self) -> RelationEnd | None:
        """What the sentence before was about: its first phrase, where that is a concept."""
        if self._before is None:
            return None
        start, end = self._before
        opening = self._chunker.opening(start, min(end, start + OPENING))[:1]
        one = self._end(opening[0]) if opening and opening[0].words else None
        return one if one is not None and one.kind is not EndKind.PLAIN else None


def _may_relate(one: RelationEnd, other: RelationEnd) -> bool:
    """Not a thing and itself by a longer or shorter name."""
    first, second = one.key.split(), other.key.split()
    if not first or not second or set(first) == set(second):
        return False
    short, long = sorted((first, second), key=len)
    return short != ["".join(word[0] for word in long)]


def _fits(cue: StatedCue, subject: RelationEnd, target: RelationEnd, text: str) -> bool:
    """Whether the object can be one of that relation: a kind of thing, a means, a part."""
    words = target.name.split()
    last = words[-1].lower()
    if target.key.startswith("using ") or target.key in CLOSED:
        return False
    if cue.cue.predicate is Predicate.EXAMPLE_OF:
        vague = target.kind is EndKind.PLAIN and (words[0].lower() in VAGUE or head_class(last) == "adjective")
        return not (vague or last in NO_KIND or last.removesuffix("s") in NO_KIND)
    if cue.cue.predicate is Predicate.USES:
        named = subject.kind in (EndKind.TOPIC, EndKind.PRONOUN, EndKind.POINTED)
        one, other = set(subject.key.split()), set(target.key.split())
        if (named and other <= one) or (one <= other and target.kind is not EndKind.CONCEPT):
            return False  # the method of a title does not use itself, nor its own concept
        if _MADE_BY.search(text, cue.start, cue.end) and len(words) > 1 and words[0][0].isupper():
            return False  # "was created by Noyes Chapman"
    return not _says_nothing(target)


def _says_nothing(end: RelationEnd) -> bool:
    """Whether it names no concept: "idea", "previous problem"."""
    if end.kind is not EndKind.PLAIN:
        return False
    words = end.name.lower().split()
    if words[0] in VAGUE or words[0] == "using":
        return True
    return all({head_class(word), head_class(_singular(word))} - {"noun", "ing"} for word in words)


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > SHORT_WORD else word


def _topics(passage: Passage) -> list[RelationEnd]:
    """What the passage is about: its document, then the heading that names a thing; the nearest last."""
    names = [passage.title]
    names += [part for part in passage.section_path if _names(part)]
    found = []
    for name in dict.fromkeys(names):
        key = concept_key(name)
        most = MAX_TITLE_WORDS if name == names[0] else MAX_HEADING_WORDS
        if len(key) > 1 and len(name.split()) <= most:
            found.append(RelationEnd(key, name, EndKind.TOPIC))
    return found


def _names(heading: str) -> bool:
    """Whether a heading names an algorithm, a structure and the like by its last word."""
    words = heading.split()
    if len(words) < 2:
        return False
    return words[-1].lower().removesuffix("s") in POINTS_AT and words[0].lower() not in _ORDER


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
