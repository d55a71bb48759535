"""Which name, date or number in a sentence is the answer: one near the question's words, with the right signs by it.

The signs are those of grammar: who did something stands behind "by", where it is behind "in" or "at", how many before
the word that is counted.
"""

from __future__ import annotations

import re

from kedge.text.analyze import terms
from kedge.text.evidence import Sentence
from kedge.text.question import Question

STRONG, WEAK = 40.0, 20.0
"""What a sign is worth, in characters of distance."""
_WORD = re.compile(r"[^\W_]+")
_BEFORE = re.compile(r"([^\W\d_]+)\s*(?:the\s+|an?\s+|about\s+|around\s+|early\s+|late\s+)?\Z", re.IGNORECASE)
_BEHIND = re.compile(r"[\s-]*([^\W\d_]+)(?:\s+([^\W\d_]+))?")
_ADJECTIVE = re.compile(r"[A-Z]\w*(?:an|ish|ese|ch|ic|ine)\Z")
_UNIT = re.compile(
    r"(?:second|minute|hour|day|week|month|year|decade|centur|met(?:er|re)|kilomet|mile|foot|feet|inch|cent|km\b|cm\b|mm\b|m\b)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:1\d{3}|20\d{2})s?\Z")
_ENDS = re.compile(
    r"\b(?:end\w*|fall|fell|die[sd]?|death|clos\w+|ceas\w+|finish\w*|until|dissol\w+|abolish\w*|stop\w*)\b", re.I
)
_BEGINS = re.compile(
    r"\b(?:begin\w*|began|start\w*|born|birth|found(?:ed|ing)?|open\w*|establish\w*|since|first)\b", re.I
)


def best_span(question: Question, sentence: Sentence) -> tuple[int, int]:
    """The likeliest of `sentence.answers`, which must not be empty."""
    asked = [
        match.start() for match in _WORD.finditer(sentence.text) if sentence.matched.intersection(terms(match.group()))
    ]

    def cost(span: tuple[int, int]) -> float:
        near = sum(sorted(abs(place - (span[0] + span[1]) / 2) for place in asked)[:3])
        return near - _signs(question, sentence, span)

    return min(sentence.answers, key=cost)


def _signs(question: Question, sentence: Sentence, span: tuple[int, int]) -> float:
    text, (start, end) = sentence.text, span
    found = _BEFORE.search(text[:start])
    before = found.group(1).lower() if found else ""
    behind = _BEHIND.match(text[end:])
    following = [word for word in (behind.groups() if behind else ()) if word]
    if question.kind == "number":
        return _counted(question, text[start:end], following)
    if question.kind == "date":
        return _dated(question, sentence, span, before)
    if question.kind == "name":
        return _named(question, text[start:end], before, following)
    return 0.0


def _counted(question: Question, span: str, following: list[str]) -> float:
    value = 0.0
    if any(set(terms(word)) & set(question.terms) for word in following):
        value += STRONG
    if re.search(r"\bhow (?:long|old|far|tall|high|deep|wide)\b", question.text, re.I) and following:
        value += STRONG if _UNIT.match(following[0]) else 0.0
    if re.search(r"percent|proportion|share", question.text, re.I) and re.search(r"%|percent|per cent", span):
        value += STRONG
    return value - (WEAK if _YEAR.match(span) else 0.0)


def _dated(question: Question, sentence: Sentence, span: tuple[int, int], before: str) -> float:
    value = WEAK if before in ("in", "on", "since", "until", "from", "during", "between", "after", "of") else 0.0
    if sentence.text[: span[0]].count("(") > sentence.text[: span[0]].count(")"):
        value -= WEAK
    if _ENDS.search(question.text) and span == sentence.answers[-1]:
        value += WEAK
    if _BEGINS.search(question.text) and span == sentence.answers[0]:
        value += WEAK
    return value


def _named(question: Question, span: str, before: str, following: list[str]) -> float:
    adjective = _ADJECTIVE.match(span) and following and following[0].islower()
    value = -STRONG if adjective else 0.0
    if re.search(r"\bwhere\b|\b(?:what|which) (?:country|city|state|place|town|river|region)\b", question.text, re.I):
        return value + (WEAK if before in ("in", "at", "near", "on", "inside", "from", "through", "to") else 0.0)
    if before == "by":
        value += STRONG
    elif before in ("in", "at", "of", "from", "to", "on", "with", "for"):
        value -= WEAK
    return value + (WEAK if " " in span else 0.0)
