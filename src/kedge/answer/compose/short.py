"""Which name, date or number in a sentence is the answer: one near the question's words, with the right signs by it.

The signs are those of grammar: who did something stands before the verb or behind "by", where it is behind "in" or
"at", how many before the word that is counted. Where a sentence has little of the question, or only its names, there is
no short answer: then it only leads to the one that has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kedge.text.analyze import terms
from kedge.text.evidence import EvidenceSentence
from kedge.text.question import Question

Span = tuple[int, int]
ENOUGH = 0.6
"""Least share of the question, by rarity, in a sentence that is taken to answer it in a few words."""
NEARNESS = 2 / 3
"""What a character of distance to each of the three nearest words of the question costs."""
RELATION = 0.5
"""Least share of the question's words beside its names that the sentence itself must have."""
STRONG, WEAK = 40.0, 20.0
"""What a sign is worth, in characters of distance."""
_WORD = re.compile(r"[^\W_]+")
_BEFORE = re.compile(
    r"(?<![^\W\d_])([^\W\d_]++)\s*+(?:the\s+|an?\s+|about\s+|around\s+|early\s+|late\s+|present-day\s+|nearby\s+)?\Z",
    re.IGNORECASE,
)
_BY = re.compile(r"\bby\s+(?:(?:the|an?|[a-z]+|[A-Z]\w*(?:an|ish|ese|ch|ic|ine))\s+){0,4}\Z")
_BEHIND = re.compile(r"[\s-]*([^\W\d_]+)(?:\s+([^\W\d_]+))?")
_ADJECTIVE = re.compile(r"[A-Z]\w*(?:an|ish|ese|ch|ic|ine)\Z")
_UNIT = re.compile(
    r"(?:second|minute|hour|day|week|month|year|decade|centur|met(?:er|re)|kilomet|mile|foot|feet|inch|cent|km\b|cm\b|mm\b|m\b)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:1\d{3}|20\d{2})s?(?:\s?[–-]\s?\d{2,4})?\Z")
_ENDS = re.compile(
    r"\b(?:end\w*|fall|fell|die[sd]?|death|clos\w+|ceas\w+|finish\w*|until|dissol\w+|abolish\w*|stop\w*)\b", re.I
)
_BEGINS = re.compile(
    r"\b(?:begin\w*|began|start\w*|born|birth|found(?:ed|ing)?|open\w*|establish\w*|since|first)\b", re.I
)
_CALENDAR = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\Z"
)
_POSSESSIVE = re.compile(r"['’]s?\Z")
_WHERE = re.compile(r"\bwhere\b|\b(?:what|which) (?:country|city|state|place|town|river|region)\b", re.I)
_WHO = re.compile(r"\bwho\s+(?:(did|do|does)\b|((?!(?:is|are|was|were|has|had|have)\b)[^\W\d_]+))", re.I)
_OPENING = re.compile(r"[A-ZÀ-Þ][\w’-]+\b(?=\s*(?:\(|[a-z]))")
_LAST = re.compile(r"\b(from|in|to|at|with|by|on|of|for|against|near|through)\W*\Z", re.I)
_MEASURED = re.compile(r"\bhow (?:long|old|far|tall|high|deep|wide)\b", re.I)
_SIZE = re.compile(r"\bhow (?:many|much|long|old|far|large|big|tall|high|deep|fast|few|wide)\b", re.I)

_KIND_WORDS = frozenset(
    term
    for word in "year date day month century decade name country city state place town person number many much".split()
    for term in terms(word)
)


def best_span(question: Question, sentence: EvidenceSentence) -> Span | None:
    """The likeliest answer inside the sentence; None where it has none, or too little of the question."""
    spans = list(dict.fromkeys(_spans(question, sentence)))
    if not spans or not _says_it(question, sentence):
        return None
    asked = [
        match.start() for match in _WORD.finditer(sentence.text) if sentence.matched.intersection(terms(match.group()))
    ]

    def cost(span: Span) -> float:
        near = NEARNESS * sum(sorted(abs(place - (span[0] + span[1]) / 2) for place in asked)[:3])
        return near - _signs(question, sentence, span)

    return min(spans, key=cost)


def _spans(question: Question, sentence: EvidenceSentence) -> Iterator[Span]:
    """Stretches that can be the answer at all."""
    text = sentence.text
    for start, end in sentence.answers:
        span = text[start:end]
        if question.kind == "number" and _YEAR.match(span) and _SIZE.search(question.text):
            continue
        if question.kind != "name":
            yield start, end
            continue
        ending = _POSSESSIVE.search(span)
        behind = _BEHIND.match(text[end:])
        described = _ADJECTIVE.match(span) and behind and behind.group(1).islower()
        if not _CALENDAR.match(span) and not described:
            yield start, end - (len(ending.group()) if ending else 0)
    first = _OPENING.match(text)
    who = _WHO.search(question.text)
    if question.kind == "name" and first and who and who.group(2) and not _ADJECTIVE.match(first.group()):
        own = frozenset(terms(first.group()))
        if own - frozenset(question.terms):
            yield first.span()


def _says_it(question: Question, sentence: EvidenceSentence) -> bool:
    """Whether the sentence has enough of the question, and of what is asked of the names in it."""
    kinds = frozenset(question.terms) & _KIND_WORDS  # the answer itself stands for them
    asked = frozenset(question.terms) - question.names - kinds
    said = asked & sentence.matched & frozenset(sentence.terms)
    return question.coverage(sentence.matched | kinds) >= ENOUGH and len(said) >= RELATION * len(asked)


def _signs(question: Question, sentence: EvidenceSentence, span: tuple[int, int]) -> float:
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
        return _named(question, sentence, span, before)
    return 0.0


def _counted(question: Question, span: str, following: list[str]) -> float:
    value = 0.0
    if any(set(terms(word)) & set(question.terms) for word in following):
        value += STRONG
    if _MEASURED.search(question.text) and following:
        value += STRONG if _UNIT.match(following[0]) else 0.0
    if re.search(r"percent|proportion|share", question.text, re.I) and re.search(r"%|percent|per cent", span):
        value += STRONG
    return value - (WEAK if _YEAR.match(span) else 0.0)


def _dated(question: Question, sentence: EvidenceSentence, span: tuple[int, int], before: str) -> float:
    value = WEAK if before in ("in", "on", "since", "until", "from", "during", "between", "after", "of") else 0.0
    if sentence.text[: span[0]].count("(") > sentence.text[: span[0]].count(")"):
        value -= WEAK
    if _ENDS.search(question.text) and span == sentence.answers[-1]:
        value += STRONG
    if _BEGINS.search(question.text) and span == sentence.answers[0]:
        value += WEAK
    return value


def _named(question: Question, sentence: EvidenceSentence, span: Span, before: str) -> float:
    text = sentence.text
    last = _LAST.search(question.text)
    value = STRONG if last and before == last.group(1).lower() else 0.0
    if _WHERE.search(question.text):
        if before not in ("in", "at", "near", "on", "inside", "from", "through", "to"):
            return value
        lead = _WORD.findall(text[: span[0]])[-3:]
        return value + WEAK + (WEAK if any(sentence.matched.intersection(terms(word)) for word in lead) else 0.0)
    role = _role(question, sentence, span)
    if role <= 0 and _BY.search(text[: span[0]]):
        value += 2 * STRONG
    elif before in ("in", "at", "of", "from", "to", "on", "with", "for") and not last:
        value -= WEAK
    return value + role + (WEAK if " " in text[slice(*span)] else 0.0)


def _role(question: Question, sentence: EvidenceSentence, span: Span) -> float:
    """Who did it stands before the verb, mostly first of all names; whom it was done to stands behind it."""
    asked = _WHO.search(question.text)
    if asked is None:
        return 0.0
    acted = frozenset(terms(asked.group(2)) if asked.group(2) else terms(question.text[asked.end() :]))
    verbs = acted - question.names
    places = [match.start() for match in _WORD.finditer(sentence.text) if verbs.intersection(terms(match.group()))]
    if not places:
        return 0.0
    place = min(places, key=lambda one: min(abs(one - span[0]), abs(one - span[1])))
    if asked.group(1):
        return STRONG if span[0] > place else -STRONG
    if span[1] > place:
        return -STRONG
    return STRONG + (STRONG if span == min(_spans(question, sentence)) else 0.0)
