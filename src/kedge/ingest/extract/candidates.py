"""What a sentence may state: a cue with each pair of phrases beside it, and what speaks for and against each pair.

Much more is proposed here than is stated; `weights` decides.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import pairwise

from kedge.ingest.extract.chunks import Chunker, NounChunk, learned_words
from kedge.ingest.extract.cues import CueSide, StatedCue
from kedge.ingest.extract.inside import inside_weights
from kedge.ingest.extract.word_classes import (
    CLOSED,
    CONJUNCTIONS,
    NEUTRAL,
    NO_KIND,
    OF,
    PREPOSITIONS,
    REACH,
    THIN,
    VAGUE,
    VERBAL,
)

REACHED = 3
"""Phrases on each side of a cue that are looked at."""
TOPIC = -1
"""The rank of what the sentence does not name."""
SHORT = 3
"""Letters below which a word says nothing."""
MAX_WORDS = 5
"""Of a phrase that becomes a concept."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]")
_LAST = re.compile(r"(?:(?<![^\W_])(?<![^\W_]['’-])[^\W_]++(?:['’-][^\W_]++)*+|[^\w\s])\s*+\Z")


class EndKind(StrEnum):
    """How an end of a relation is named."""

    CONCEPT = "concept"
    HOLDS = "holds"
    """A phrase with a concept in it."""
    PLAIN = "plain"
    POINTED = "pointed"
    """"This algorithm": the concept named before, or the section."""
    PRONOUN = "pronoun"
    TOPIC = "topic"
    """The document, where the sentence itself names no subject."""


@dataclass(frozen=True, slots=True)
class RelationEnd:
    """One end of a relation that may be stated."""

    key: str
    name: str
    kind: EndKind
    chunk: NounChunk | None = None
    """None for what the sentence does not name."""


@dataclass(frozen=True, slots=True)
class RelationCandidate:
    """A relation that a sentence may state."""

    subject: RelationEnd
    cue: StatedCue
    object: RelationEnd
    features: tuple[str, ...]


_LEADS_ON = OF | REACH


class CueNeighbours:
    """The phrases on one side of a cue, nearest first."""

    def __init__(self, text: str, cue: StatedCue, chunks: Sequence[NounChunk]) -> None:
        self._text = text
        self._cue = cue
        self.chunks = chunks

    def __iter__(self) -> Iterator[tuple[int, NounChunk]]:
        return iter(enumerate(self.chunks))

    @classmethod
    def seen_through(cls, text: str, cue: StatedCue, chunks: Sequence[NounChunk]) -> CueNeighbours:
        """Without phrases that only lead to what they are of: "the concept of hashing"."""
        kept = list(chunks)
        for one, other in pairwise(sorted(chunks, key=lambda chunk: chunk.start)):
            if one.head in _LEADS_ON and text[one.end : other.start].strip().lower() == "of":
                kept.remove(one)
        return cls(text, cue, kept)

    def linked(self, rank: int) -> str:
        """What stands between the phrase at this rank and the one nearer to the cue."""
        if rank == 0:
            return ""
        one, other = sorted((self.chunks[rank - 1], self.chunks[rank]), key=lambda chunk: chunk.start)
        between = _WORD.findall(self._text[one.end : other.start].lower())
        return link_between(between)


def listed_between(text: str) -> bool:
    """Whether a text only joins the items of a list."""
    return link_between(_WORD.findall(text.lower())) == "list"


def link_between(between: Sequence[str]) -> str:
    """What joins two phrases, by the words between them."""
    words = [word for word in between if word not in ("*", "_", "¤", "(", ")")]
    if not words:
        return "none"
    if all(word in (",", "and", "or", "as", "well", "&", "/") for word in words):
        return "list"
    if len(words) == 1 and words[0] in PREPOSITIONS:
        return words[0]
    if any(word in ("that", "which", "who", "where") for word in words):
        return "relative"
    if any(word in VERBAL for word in words):
        return "verb"
    return "other"


def end_features(side: str, end: RelationEnd, predicate: str) -> Iterator[str]:
    """What one end is like."""
    yield f"{side}={end.kind}"
    yield f"{predicate}:{side}={end.kind}"
    chunk = end.chunk
    if chunk is None or end.kind is EndKind.PRONOUN:
        return
    words = chunk.words.split()
    head = chunk.head
    kind = head_class(head)
    yield f"{side}.head={kind}"
    yield f"{predicate}:{side}.head={kind}:{end.kind}"
    if end.kind in (EndKind.PLAIN, EndKind.HOLDS):
        yield f"{side}.words={min(len(words), 6)}"
        yield f"{side}.suffix={head[-3:]}"
        yield f"{side}.first={head_class(words[0].lower()) if words else ''}"
        if len(words) == 1:
            yield f"{side}.one:{kind}"
    yield f"{side}.det={_determiner(chunk)}"
    yield f"{predicate}:{side}.det={_determiner(chunk)}"
    if words and words[0][0].isupper():
        yield f"{side}.capital"
    if chunk.plural:
        yield f"{predicate}:{side}.plural"
    if any(char.isdigit() for char in chunk.words):
        yield f"{side}.digit"


@lru_cache(maxsize=4096)
def head_class(word: str) -> str:
    """Of which class a word is that a phrase begins or ends with."""
    for name, words in (
        ("nokind", NO_KIND),
        ("neutral", NEUTRAL),
        ("thin", THIN),
        ("vague", VAGUE),
        ("closed", CLOSED),
    ):
        if word in words:
            return name
    if word in _adjectives():
        return "adjective"
    if word.isdigit() or len(word) < SHORT:
        return "short"
    return next((ending for ending in ("ing", "ed") if word.endswith(ending)), "noun")


@cache
def _adjectives() -> frozenset[str]:
    return learned_words("adjectives.txt")


def _determiner(chunk: NounChunk) -> str:
    one = chunk.determiner
    if one in ("a", "an"):
        return "a"
    if one in ("", "the", "this", "such", "no"):
        return one or "none"
    return "own" if one in ("its", "their", "our", "your", "his", "her") else "count"


def subject_features(text: str, start: int, cue: StatedCue, end: RelationEnd, predicate: str) -> Iterator[str]:
    """How the phrase before a cue stands to it."""
    if end.chunk is None:
        yield f"before={_author(text[start : cue.start])}"
        return
    between = _WORD.findall(text[end.chunk.end : cue.start].lower())
    yield f"gap={_gap(between)}"
    yield f"{predicate}:gap={_gap(between)}"
    if between:
        yield f"gap.last={_word_class(between[-1])}"
        yield f"gap.first={_word_class(between[0])}"
        yield f"gap.words={min(len(between), 8) // 2}"
    found = _LAST.search(text, start, end.chunk.start)
    previous = found.group().strip().lower() if found else ""
    yield f"previous={_word_class(previous)}"
    yield f"{predicate}:previous={_word_class(previous)}"
    if previous in PREPOSITIONS:
        yield f"previous.word={previous}"


def _gap(between: Sequence[str]) -> str:
    """How what stands between a phrase and a cue joins them."""
    if not between:
        return "none"
    shapes = (
        ("parenthesis", between[0] == "(" and between[-1] == ")"),
        ("relative", between[-1] in ("that", "which", "who")),
        ("and", between[-1] in ("and", "or", "but")),
        ("apposition", between[0] == "," and between[-1] == ","),
        ("verb", any(word in VERBAL for word in between)),
        ("preposition", any(word in PREPOSITIONS for word in between)),
    )
    return next((name for name, so in shapes if so), "other")


_CLASSES: tuple[tuple[str, Collection[str]], ...] = (
    ("relative", ("that", "which", "who", "where")),
    ("condition", ("if", "when", "whether", "unless")),
    ("conjunction", CONJUNCTIONS),
    ("preposition", PREPOSITIONS),
    ("not", ("not", "no", "never", "without")),
    ("verb", VERBAL),
)


@lru_cache(maxsize=4096)
def _word_class(word: str) -> str:
    if not word:
        return "start"
    for name, words in _CLASSES:
        if word in words:
            return name
    if not word[0].isalnum():
        return word[0] if word[0] in ",;:(.-–—" else "mark"
    return "adverb" if word.endswith("ly") else "word"


_AUTHORS = ("we", "you", "one", "i", "let's", "let", "to")


def _author(before: str) -> str:
    words: list[str] = _WORD.findall(before.lower())
    if not words:
        return "nothing"
    near = [word for word in words[-4:] if word in _AUTHORS]
    if near:
        return near[-1]
    return _word_class(words[-1])


def object_features(text: str, end: int, cue: StatedCue, one: RelationEnd, predicate: str) -> Iterator[str]:
    """How the phrase behind a cue stands to it, and what follows it."""
    if one.chunk is None:
        return
    between = _WORD.findall(text[cue.end : one.chunk.begins].lower())
    yield f"reach={_gap(between)}"
    if between:
        yield f"reach.last={_word_class(between[-1])}"
        yield f"reach.words={min(len(between), 6)}"
    after = _WORD.search(text, one.chunk.end, end)
    following = after.group().lower() if after else ""
    yield f"following={_word_class(following)}"
    yield f"{predicate}:following={following if following in ('of', 'for', 'to', 'in') else _word_class(following)}"


def rank_features(side: str, where: CueNeighbours, rank: int, predicate: str) -> Iterator[str]:
    """How far from the cue a phrase is, and by what it hangs on the nearer one."""
    yield f"{side}.rank={rank}"
    yield f"{predicate}:{side}.rank={rank}"
    if rank:
        link = where.linked(rank)
        yield f"{side}.link={link}"
        yield f"{predicate}:{side}.link={link}"
        nearer = where.chunks[rank - 1].head
        if link == "of":
            yield f"{side}.of={'reach' if nearer in _LEADS_ON else head_class(nearer)}"
        if rank > 1:
            yield f"{side}.links={where.linked(1)}+{link}"
    elif len(where.chunks) > 1:
        yield f"{side}.next={where.linked(1)}"


def pair_features(subject: RelationEnd, target: RelationEnd, predicate: str, words: str) -> Iterator[str]:
    """How two ends stand to each other."""
    one_form, other_form = _form(subject), _form(target)
    yield f"{predicate}:{one_form}>{other_form}"
    yield f"{words}:{one_form}>{other_form}"
    yield f"{subject.kind}+{target.kind}"
    yield f"{predicate}:{subject.kind}+{target.kind}"
    one, other = set(subject.key.split()), set(target.key.split())
    if one & other:
        yield "shared"
        yield f"{predicate}:shared"
        if one <= other or other <= one:
            yield "inside"


_JOINED = (
    "l=",
    "r=",
    "l.rank=",
    "r.rank=",
    "r.link=",
    "r.head=",
    "gap=",
    "before=",
    "previous=",
    "reach=",
    "following=",
)


def joined_features(features: Sequence[str], predicate: str) -> Iterator[str]:
    """What only together says something: how both phrases stand to the cue."""
    values = dict(one.split("=", 1) for one in features if one.startswith(_JOINED))
    left = f"{values.get('l.rank', values.get('before', '-'))},{values.get('gap', '-')},{values.get('previous', '-')}"
    right = f"{values.get('r.rank', '-')},{values.get('reach', '-')},{values.get('r.link', '-')}"
    yield f"left={left}"
    yield f"right={right}"
    yield f"{predicate}:{values.get('l.rank', '-')},{values.get('r.rank', '-')}"
    straight = values.get("l.rank") == "0" and values.get("r.rank") == "0" and values.get("gap") == "none"
    straight = straight and values.get("reach") == "none"
    if straight:
        yield f"straight={values.get('previous')}"
        yield f"{predicate}:straight"
        yield f"straight:{values.get('l')}+{values.get('r')}"
        yield f"straight:{predicate}:{values.get('r.head')}:{values.get('following')}"


def _form(end: RelationEnd) -> str:
    """Determiner, number and capital of an end."""
    if end.chunk is None or not end.chunk.words:
        return end.kind
    capital = "A" if end.chunk.words[0].isupper() else "a"
    return f"{_determiner(end.chunk)}{capital}{'s' if end.chunk.plural else ''}"


def cue_words(text: str, cue: StatedCue) -> str:
    """The words of a cue that say most, with its predicate and side."""
    words = text[cue.start : cue.end].lower().split()
    content = [word for word in words if word not in ("is", "are", "was", "were", "be", "a", "an", "the", "can", "may")]
    return f"{cue.cue.predicate.value}.{cue.cue.side}.{' '.join((content or words)[:3])}"


def subject_context(chunker: Chunker, cue: StatedCue, end: RelationEnd, words: str) -> Iterator[str]:
    """The classes of words around the phrase before a cue."""
    if end.chunk is None:
        yield f"{words}:l={end.kind}"
        before = chunker.classes_before(cue.start, 2)
        yield f"{words}:before={' '.join(before[-1:])}"
        yield f"lt={' '.join(before)}"
        return
    yield from _named("l", end, words)
    between = chunker.classes_between(end.chunk.end, cue.start)
    before = chunker.classes_before(end.chunk.start, 2)
    yield f"lp={' '.join(between[:4])}"
    yield f"lp2={' '.join(between[-2:])}"
    yield f"{words}:lp={' '.join(between[:3])}"
    yield f"lb={' '.join(before)}"
    yield f"{words}:lb={' '.join(before[-1:])}"
    yield f"lb+lp={' '.join(before[-1:])}|{' '.join(between[:2])}"


def object_context(chunker: Chunker, cue: StatedCue, end: RelationEnd, words: str) -> Iterator[str]:
    """The classes of words around the phrase behind a cue."""
    if end.chunk is None:
        return
    yield from _named("r", end, words)
    between = chunker.classes_between(cue.end, end.chunk.begins)
    behind = chunker.classes_behind(end.chunk.end, 2)
    yield f"rp={' '.join(between[:4])}"
    yield f"{words}:rp={' '.join(between[:3])}"
    yield f"rb={' '.join(behind)}"
    yield f"{words}:rb={' '.join(behind[:1])}"


def _named(side: str, end: RelationEnd, words: str) -> Iterator[str]:
    """What a phrase is made of."""
    chunk = end.chunk
    yield f"{words}:{side}={end.kind}"
    if chunk is None or not chunk.words:
        return
    parts = chunk.words.split()
    classes = inside_weights()
    last, first = classes.class_of(parts[-1]), classes.class_of(parts[0])
    yield f"{side}.last={last}"
    yield f"{side}.parts={first} {last} {min(len(parts), 4)}"
    yield f"{words}:{side}.last={last}"
    yield f"{side}.word={chunk.head}"
    yield f"{words[:4]}:{side}.word={chunk.head}"
    sure = min(int(chunk.sure), 4)
    yield f"{side}.sure={sure}"


def cue_features(text: str, start: int, end: int, cue: StatedCue, named: str) -> Iterator[str]:
    """What the words of a cue are, and the sentence they stand in."""
    side, predicate = cue.cue.side, cue.cue.predicate.value
    words = text[cue.start : cue.end].lower().split()
    yield f"{predicate}:{side}"
    yield f"cue={named.rsplit('.', 1)[-1]}"
    yield f"cue.words={words[0]}"
    yield f"cue.named={cue.cue.named}"
    yield f"long={min((end - start) // 80, 4)}"
    before = text[start : cue.start]
    if re.search(r"\b(?:not|n't|never|if|whether|would|could|might)\b", before[-60:], re.IGNORECASE):
        yield "doubt"
    if not before.strip(" -*>("):
        yield "opens"
    if "|" in text[start:end]:
        yield "table"


Pair = tuple[int, NounChunk | None, int, NounChunk]
"""Rank and phrase of the left end, None for the topic, and of the right one."""


def cue_sides(cue: StatedCue, left: CueNeighbours, right: CueNeighbours) -> Iterator[Pair]:
    """Each pair of phrases that a cue may join."""
    yield from _PAIRED.get(cue.cue.side, _around)(left, right)


def _around(left: CueNeighbours, right: CueNeighbours) -> Iterator[Pair]:
    for other, target in right:
        yield from ((rank, chunk, other, target) for rank, chunk in left)
        yield 0, None, other, target


def _listed(_: CueNeighbours, right: CueNeighbours) -> Iterator[Pair]:
    yield from ((0, None, rank, chunk) for rank, chunk in right)


def _pair(_: CueNeighbours, right: CueNeighbours) -> Iterator[Pair]:
    yield from ((0, right.chunks[0], rank, chunk) for rank, chunk in right if rank)


def _joined(left: CueNeighbours, _: CueNeighbours) -> Iterator[Pair]:
    if len(left.chunks) > 1:
        yield 1, left.chunks[1], 0, left.chunks[0]


def _opening(_: CueNeighbours, right: CueNeighbours) -> Iterator[Pair]:
    yield from ((rank, chunk, 0, right.chunks[0]) for rank, chunk in right if rank)


_PAIRED = {
    CueSide.LISTED: _listed,
    CueSide.PAIR: _pair,
    CueSide.CLASSED: _pair,
    CueSide.JOINED: _joined,
    CueSide.AROUND: _opening,
}
