"""Typed relations between concepts by patterns, each with a confidence and the passage that says so (D-06, D-07)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kedge.core.values import Passage, Predicate, Triple
from kedge.text.concepts import ConceptMention
from kedge.text.sentences import sentences

MAX_GAP = 90
"""Most characters between two concepts that one pattern may join."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    predicate: Predicate
    between: re.Pattern[str]
    """Must match the whole text between the two concepts."""
    confidence: float
    swap: bool = False
    """The second concept is the subject."""


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\W*(?:\w+ly\s+)?(?:{pattern})\W*(?:the|a|an|its|our)?\W*", re.IGNORECASE)


_TABLE: tuple[tuple[Predicate, str, float, bool], ...] = (
    (Predicate.PART_OF, r"(?:is|are|was|forms?) (?:a |an |the )?(?:part|component|member|chapter) of", 0.9, False),
    (Predicate.PART_OF, r"belongs? to", 0.7, False),
    (Predicate.PART_OF, r"(?:consists? of|comprises?|contains?|includes?)", 0.7, True),
    (
        Predicate.EXAMPLE_OF,
        r"(?:is|are|was) (?:a |an |one )?(?:well-known |typical |classic(?:al)? )?"
        r"(?:examples?|instances?|kinds?|types?|special cases?) of",
        0.9,
        False,
    ),
    (Predicate.EXAMPLE_OF, r",? (?:such as|for example|for instance|e\.g\.)", 0.7, True),
    (
        Predicate.USES,
        r"(?:uses?|used|using|relies on|rely on|applies|employs?|(?:is|are) based on|"
        r"(?:can be|is|are) (?:solved|implemented|computed|built|found) (?:with|using|by))",
        0.8,
        False,
    ),
    (Predicate.USES, r"(?:is|are) used (?:in|by|for)", 0.75, True),
    (Predicate.IMPLEMENTS, r"(?:implements?|is an? implementation of|realises?|realizes?)", 0.85, False),
    (
        Predicate.PREREQUISITE,
        r"(?:requires?|needs?|assumes?|depends? on|presupposes?)(?: (?:an? )?(?:knowledge|understanding) of)?",
        0.7,
        False,
    ),
    (
        Predicate.COMPARED_TO,
        r",? (?:unlike|compared (?:to|with)|in contrast to|versus|vs\.?|(?:is|are) (?:faster|slower|simpler|better|"
        r"worse|larger|smaller|older|newer|more \w+|less \w+) than)",
        0.85,
        False,
    ),
    (
        Predicate.RELATED_TO,
        r"(?:is|are) (?:closely |strongly )?(?:related|similar|equivalent|linked) to",
        0.8,
        False,
    ),
)
"""Predicate, words between the concepts, confidence, whether the second concept is the subject."""
_PATTERNS = tuple(_Pattern(name, _words(words), sure, swap) for name, words, sure, swap in _TABLE)
_USE_CASE = re.compile(r"\b(?:when|if|for|in case)\b[^.;]{5,160}", re.IGNORECASE)


def find_triples(passage: Passage, found: Sequence[ConceptMention]) -> list[Triple]:
    """Relations that one sentence states between two neighbouring concepts of it."""
    ordered = sorted(_outermost(found), key=lambda mention: mention.start)
    spans: list[tuple[int, int]] = []
    triples: dict[tuple[str, Predicate, str], Triple] = {}
    for left, right in pairwise(ordered):
        if left.key == right.key or not 0 < right.start - left.end <= MAX_GAP:
            continue
        pattern = _stated(passage.text[left.end : right.start])
        if pattern is None:
            continue
        spans = spans or sentences(passage.text)  # rarely needed, and costly
        sentence = next((span for span in spans if span[0] <= left.start and right.end <= span[1]), None)
        if sentence is not None:
            triple = _triple(passage, pattern, left, right, passage.text[slice(*sentence)])
            triples.setdefault((triple.subject, triple.predicate, triple.object), triple)
    return list(triples.values())


def _stated(between: str) -> _Pattern | None:
    return next((pattern for pattern in _PATTERNS if pattern.between.fullmatch(between)), None)


def _triple(passage: Passage, pattern: _Pattern, left: ConceptMention, right: ConceptMention, sentence: str) -> Triple:
    subject, target = (right, left) if pattern.swap else (left, right)
    compares = pattern.predicate is Predicate.COMPARED_TO
    use_case = _USE_CASE.search(sentence) if compares else None
    return Triple(
        subject=subject.key,
        predicate=pattern.predicate,
        object=target.key,
        confidence=pattern.confidence,
        passage_id=passage.id,
        comparison=" ".join(sentence.split()) if compares else "",
        use_case=" ".join(use_case.group().split()) if use_case else "",
    )


def _outermost(found: Sequence[ConceptMention]) -> list[ConceptMention]:
    """Drop mentions inside longer ones."""
    ordered = sorted(found, key=lambda mention: (mention.start, -mention.end))
    kept: list[ConceptMention] = []
    for mention in ordered:
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept
