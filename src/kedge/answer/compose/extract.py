"""An answer without a language model: one to three verbatim sentences, each with its exact place in the evidence.

The first sentence is the best single answer. More follow only when they bring what is still missing: a part of the
question that is not yet covered (comparisons), or the passage that a quoted sentence leads to (bridges).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kedge.answer.compose.quote import ExtractedAnswer, Quote, ShortAnswer
from kedge.answer.compose.short import best_span
from kedge.text.analyze import terms
from kedge.text.evidence import EvidencePassage, EvidenceSentence, quotable_spans
from kedge.text.question import Question

MAX_SENTENCES = 3
TYPE_BONUS = 0.1
"""What offering an answer of the right kind is worth beside coverage and cosine."""
BRIDGE_BONUS = 0.25
"""What coming from a passage is worth whose title a quoted sentence mentions."""
MIN_GAIN = 0.12
"""Least new share of the question, or bridge, for which another sentence is quoted."""
ANSWERED = 0.75
"""Share of the question from which on nothing of it is missing that a further sentence could bring."""
LABEL_WORDS = 3
_REDUNDANT = 0.6
_POINTS_BACK = re.compile(
    r"(?:[-*+•]\s+)?(?:This|That|These|Those|It|They|He|She|Its|Their|His|Her|Such|Thus|Therefore|Hence|So|Otherwise)\b"
)
_WHY = re.compile(r"\W*(?:why|what caused|for what reason|warum|pourquoi|por qué)\b", re.IGNORECASE)
_REASON = re.compile(
    r"\b(?:because|due to|owing to|thanks to|since|as a result|in order to|so that|caused by|led to|reasons?|therefore|"
    r"weil|wegen|parce que|porque|debido a)\b",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\n\s*\n")


def extract_answer(
    question: Question,
    passages: Sequence[EvidencePassage],
    ranked: Sequence[EvidenceSentence],
    *,
    limit: int = MAX_SENTENCES,
) -> ExtractedAnswer | None:
    """Quote the sentences of `ranked` (from `kedge.text.evidence.rank_sentences`) that answer; None without any."""
    if not ranked:
        return None
    ranked = [sentence for sentence in ranked if not _only_names(question, sentence)] or ranked
    first = max(ranked, key=lambda one: (worth(one) + _gives_reason(question, one), -one.passage, -one.start))
    chosen = [first]
    titles = [frozenset(terms(passage.title)) for passage in passages]
    while len(chosen) < limit:
        following = _next(question, ranked, chosen, titles)
        if following is None:
            break
        chosen.append(following)
    rest = sorted(
        chosen[1:], key=lambda sentence: (sentence.passage != first.passage, sentence.passage, sentence.start)
    )
    quotes = separate([quote_of(sentence, passages[sentence.passage]) for sentence in (first, *rest)])
    bridged = any(leads_to(sentence, [first], titles) for sentence in rest)
    return ExtractedAnswer(quotes, None if bridged else short_answer(question, first))


def quote_of(sentence: EvidenceSentence, passage: EvidencePassage) -> Quote:
    """The sentence; with the one before it when it points back and both stand in the same paragraph."""
    start = sentence.start
    if points_back(sentence.text):
        before = [span for span in quotable_spans(passage.text) if span[1] <= start]
        if before and not _PARAGRAPH.search(passage.text, before[-1][1], start):
            start = before[-1][0]
    return Quote(sentence.passage, start, sentence.end, passage.text[start : sentence.end])


def points_back(text: str) -> bool:
    """Whether a sentence opens with a word for something that was said before it."""
    return _POINTS_BACK.match(text) is not None


def separate(quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """Without quotes that lie inside others; the larger takes the place of the smaller."""
    kept: list[Quote] = []
    for quote in quotes:
        if any(_inside(quote, other) for other in kept):
            continue
        nested = [place for place, other in enumerate(kept) if _inside(other, quote)]
        if nested:
            kept[nested[0]] = quote
            kept = [other for place, other in enumerate(kept) if place not in nested[1:]]
        else:
            kept.append(quote)
    return tuple(kept)


def _inside(quote: Quote, other: Quote) -> bool:
    return quote.passage == other.passage and other.start <= quote.start and quote.end <= other.end


def worth(sentence: EvidenceSentence) -> float:
    """How well a sentence answers by itself."""
    return sentence.score + TYPE_BONUS * bool(sentence.answers)


def _only_names(question: Question, sentence: EvidenceSentence) -> bool:
    """Whether it is a few words that the question has too: a title or a label, not a statement."""
    return len(sentence.text.split()) <= LABEL_WORDS and frozenset(sentence.terms) <= frozenset(question.terms)


def _gives_reason(question: Question, sentence: EvidenceSentence) -> float:
    """What it is worth that a sentence says why, where that is asked."""
    return TYPE_BONUS * bool(_WHY.match(question.text) and _REASON.search(sentence.text))


def _next(
    question: Question,
    ranked: Sequence[EvidenceSentence],
    chosen: Sequence[EvidenceSentence],
    titles: Sequence[frozenset[str]],
) -> EvidenceSentence | None:
    """The sentence that adds most to `chosen`, or None when nothing adds enough.

    Where nearly all of the question is covered and something of the kind that it asks for is said, only a bridge adds.
    """
    covered = frozenset().union(*(sentence.matched for sentence in chosen))
    share = question.coverage(covered)
    done = share >= ANSWERED and (question.kind == "text" or any(sentence.answers for sentence in chosen))
    best: tuple[float, EvidenceSentence] | None = None
    for sentence in ranked:
        bridge = leads_to(sentence, chosen, titles)
        known = titles[sentence.passage] if bridge else frozenset[str]()
        if sentence in chosen or any(_repeats(sentence, other, known) for other in chosen):
            continue
        gain = question.coverage(covered | sentence.matched) - share
        gain += BRIDGE_BONUS if bridge else 0.0
        if gain < MIN_GAIN or (done and not bridge):
            continue
        value = gain + worth(sentence)
        if best is None or value > best[0]:
            best = (value, sentence)
    return best[1] if best else None


def leads_to(sentence: EvidenceSentence, chosen: Sequence[EvidenceSentence], titles: Sequence[frozenset[str]]) -> bool:
    """Whether a chosen sentence speaks of what the sentence's document, another one, is called."""
    title = titles[sentence.passage]
    said = {term for other in chosen for term in other.terms}
    return bool(title) and title <= said and all(titles[other.passage] != title for other in chosen)


def _repeats(sentence: EvidenceSentence, other: EvidenceSentence, known: frozenset[str]) -> bool:
    """Whether it says the same again; the name of what it is about (`known`) may come again."""
    left, right = set(sentence.terms) - known, set(other.terms)
    return not left or left == right or len(left & right) > _REDUNDANT * min(len(left), len(right))


def short_answer(question: Question, sentence: EvidenceSentence) -> ShortAnswer | None:
    """The span of the right kind that the sentence most likely answers with."""
    span = best_span(question, sentence)
    if span is None:
        return None
    start, end = span
    offset = sentence.start
    return ShortAnswer(question.kind, offset + start, offset + end, sentence.text[start:end])
