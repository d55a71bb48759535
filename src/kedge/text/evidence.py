"""The sentences of the evidence, measured against the question: the ground of both the judge and the answer.

Two pure steps with the embedding between them, so that the caller embeds (asynchronously, cached) only a few sentences:

    candidates = candidate_sentences(question, passages)
    vectors = await embedder.embed([candidate.text for candidate in candidates])
    ranked = rank_sentences(candidates, query_vector, vectors)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kedge.text.analyze import sentences, terms
from kedge.text.languages import guess
from kedge.text.question import Question, answer_spans

Vector = npt.NDArray[np.float32]

MAX_CANDIDATES = 8
"""Sentences embedded per question. The judge is as good with 4 as with 12; answers over several passages need more."""
COVERAGE_WEIGHT = 0.5
"""Weight of the covered share of the question beside the cosine; see `python -m benchmarks.judge`."""
_RANK_PRIOR = 0.05
_MAX_QUOTE = 700
_FUZZY_LENGTH = 5
_FUZZY_DICE = 0.7

_NOT_PROSE = re.compile(
    r"""
    \s*(?:```|~~~|\||!\[|<[a-zA-Z/!]|---|===|\{%|\{\{|\#include|@)   # code, tables, pictures, markup, rules
  | \s*(?:(?:[-*+•]|\d+[.)])\s*)?(?:\*\*)?\[[^\]]*\]\([^)]*\)[^\w]*\Z                          # nothing but a link
  | [^\w]*\Z
    """,
    re.VERBOSE,
)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"\s*#{1,6}\s[^\n]*(?:\n|\Z)")
_CODE = re.compile(r"\s*(?:```|~~~)")
_CLOSING = " \t\n\"'”»)*_"
_QUESTION_MARKS = ("?", "？", "؟")
_FORMULA = re.compile(r"\s*\$\$")


@dataclass(frozen=True, slots=True)
class EvidencePassage:
    """What a sentence is cut from."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
    """A quotable stretch of one passage and how it relates to the question."""

    passage: int
    """Index of its passage in the evidence, best first."""
    start: int
    """Offset of its first character in the passage's text."""
    end: int
    """Offset behind its last character."""
    text: str
    """`passage.text[start:end]`."""
    terms: tuple[str, ...]
    """Its search terms, in order."""
    matched: frozenset[str]
    """Terms of the question found in the sentence or its passage's title."""
    coverage: float
    """Share of the question that `matched` is, weighted by rarity."""
    answers: tuple[tuple[int, int], ...]
    """Spans inside `text` of the kind that the question asks for."""
    cosine: float | None = None
    """Similarity to the question, or None without embeddings."""
    score: float = 0.0
    """Coverage and cosine together; only meaningful within one question."""


@dataclass(frozen=True, slots=True)
class TermMatcher:
    """Which spellings in the evidence count as which term of the question."""

    spellings: dict[str, str]
    """From a term of the evidence to the term of the question."""

    @classmethod
    def of(cls, question: Question, vocabulary: Iterable[str]) -> TermMatcher:
        """Equal terms match; a long word that occurs nowhere also matches its nearest misspelling."""
        vocabulary = set(vocabulary)
        spellings = {term: term for term in question.terms if term in vocabulary}
        for term in question.terms:
            if term not in vocabulary and len(term) >= _FUZZY_LENGTH and term.isalpha():
                near = max(((_dice(term, other), other) for other in vocabulary if other[0] == term[0]), default=None)
                if near is not None and near[0] >= _FUZZY_DICE:
                    spellings.setdefault(near[1], term)
        return cls(spellings)

    def matched(self, found: Iterable[str]) -> frozenset[str]:
        """Terms of the question that `found` contains."""
        return frozenset(self.spellings[term] for term in found if term in self.spellings)


def passage_terms(passage: EvidencePassage) -> tuple[list[str], list[str]]:
    """Search terms of the title and of the text."""
    language = guess(passage.text)
    return terms(passage.title, language), terms(passage.text, language)


def candidate_sentences(
    question: Question, passages: Sequence[EvidencePassage], *, limit: int = MAX_CANDIDATES
) -> list[EvidenceSentence]:
    """The `limit` sentences that cover most of the question, best first, without embeddings.

    The best sentence of every passage comes before the second best of any, as far as the limit allows.
    """
    languages = [guess(passage.text) for passage in passages]
    prepared = [(terms(one.title, language), language) for one, language in zip(passages, languages, strict=True)]
    cut = [
        (index, start, end, terms(passage.text[start:end], prepared[index][1]))
        for index, passage in enumerate(passages)
        for start, end in quotable_spans(passage.text, code=question.kind == "code")
    ]
    matcher = TermMatcher.of(question, {term for *_, found in cut for term in found}.union(*(t for t, _ in prepared)))
    found: list[EvidenceSentence] = []
    for index, start, end, own in cut:
        text = passages[index].text[start:end]
        matched = matcher.matched([*own, *prepared[index][0]])
        coverage = question.coverage(matched)
        score = coverage - _RANK_PRIOR * index / max(1, len(passages))
        answers = tuple(answer_spans(text, question))
        found.append(EvidenceSentence(index, start, end, text, tuple(own), matched, coverage, answers, None, score))
    found.sort(key=lambda sentence: (-sentence.score, sentence.passage, sentence.start))
    leaders = {sentence.passage: sentence for sentence in reversed(found)}
    picked = [s for s in found if leaders[s.passage] is s][:limit]
    picked += [s for s in found if leaders[s.passage] is not s][: limit - len(picked)]
    return sorted(picked, key=lambda sentence: (-sentence.score, sentence.passage, sentence.start))


def rank_sentences(
    candidates: Sequence[EvidenceSentence], query: Vector | None = None, vectors: Vector | None = None
) -> list[EvidenceSentence]:
    """The candidates with cosine and final score, best first. Without vectors the order stays lexical."""
    if query is None or vectors is None or not candidates:
        return list(candidates)
    cosines = vectors @ query
    scored = [
        replace(sentence, cosine=float(cosine), score=float(cosine) + COVERAGE_WEIGHT * sentence.coverage)
        for sentence, cosine in zip(candidates, cosines, strict=True)
    ]
    return sorted(scored, key=lambda sentence: (-sentence.score, sentence.passage, sentence.start))


def quotable_spans(text: str, *, code: bool = False) -> list[tuple[int, int]]:
    """Spans of `text` that may be quoted: no headings, tables, pictures or questions, no code unless asked for.

    A formula on its own line stays with the sentence that announces it.
    """
    spans: list[tuple[int, int]] = []
    front = _FRONT_MATTER.match(text)
    prose = front.end() if front else 0
    for first, end in sentences(text):
        start = _behind_headings(text, min(max(first, prose), end), end)
        if text[start:end].rstrip(_CLOSING).endswith(_QUESTION_MARKS):
            continue
        if start == end or (_NOT_PROSE.match(text[start:end]) and not (code and _CODE.match(text, start, end))):
            continue
        if spans and _belongs_to(text, spans[-1], start, end):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _behind_headings(text: str, start: int, end: int) -> int:
    while heading := _HEADING.match(text, start, end):
        start = heading.end()
    while start < end and text[start].isspace():
        start += 1
    return start


def _belongs_to(text: str, before: tuple[int, int], start: int, end: int) -> bool:
    """Whether the span from `start` goes on with the span before: a formula, or what a colon announces."""
    if text[before[1] : start].strip() or end - before[0] > _MAX_QUOTE:
        return False
    open_ended = text[before[1] - 1] in ",:" or text[before[0] : before[1]].endswith("$$")
    return open_ended or _FORMULA.match(text, start, end) is not None


def _dice(left: str, right: str) -> float:
    """Share of common character pairs, in [0, 1]: high for two spellings of one word."""
    if abs(len(left) - len(right)) > 2:
        return 0.0
    pairs_left = {left[i : i + 2] for i in range(len(left) - 1)}
    pairs_right = {right[i : i + 2] for i in range(len(right) - 1)}
    total = len(pairs_left) + len(pairs_right)
    return 2 * len(pairs_left & pairs_right) / total if total else 0.0
