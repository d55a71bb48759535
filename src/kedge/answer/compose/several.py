"""Answers of more than one fact: both sides of a comparison, the items of a list, a summary that repeats nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kedge.answer.compose.extract import quote_of, separate, short_answer, worth
from kedge.answer.compose.quote import ExtractedAnswer, Quote
from kedge.text.analyze import terms
from kedge.text.evidence import EvidencePassage, EvidenceSentence
from kedge.text.form import Form
from kedge.text.question import Question

MOST = 5
"""Sentences of a list or a summary."""
REPEATS = 0.6
"""What a sentence loses that says again what was said, for a full repetition."""
LEAST = 0.6
"""Least share of the best sentence's worth for one more of a list or a summary."""
SIDE = 0.5
"""Least share of a side's words that a sentence about it has, in itself or its heading."""
LONGEST_LIST = 1500
_ITEM = re.compile(
    r"""
    ^[^\S\n]*(?:[-*+•]|\d{1,3}[.)])[^\S\n]+\S[^\n]*             # an item
    (?:\n(?![^\S\n]*(?:[-*+•]|\d{1,3}[.)]))[^\S\n]+\S[^\n]*)*   # and the lines it goes on in
    """,
    re.VERBOSE | re.MULTILINE,
)


def extract_several(
    question: Question, shape: Form, passages: Sequence[EvidencePassage], ranked: Sequence[EvidenceSentence]
) -> ExtractedAnswer | None:
    """Quote what the shape of the question asks for; None where it asks for one fact, or nothing fits."""
    if not ranked or shape.kind not in ("comparison", "list", "summary"):
        return None
    chosen = _both_sides(shape.sides, passages, ranked) if shape.kind == "comparison" else _diverse(ranked, MOST)
    if not chosen:
        return None
    first, rest = (
        chosen[0],
        sorted(chosen[1:], key=lambda one: (one.passage != chosen[0].passage, one.passage, one.start)),
    )
    quotes = [quote_of(sentence, passages[sentence.passage]) for sentence in (first, *rest)]
    if shape.kind == "list":
        quotes = [_with_items(quote, passages[quote.passage].text) for quote in quotes]
    short = None if shape.kind == "comparison" else short_answer(question, first)
    return ExtractedAnswer(separate(quotes), short)


def _both_sides(
    sides: Sequence[str], passages: Sequence[EvidencePassage], ranked: Sequence[EvidenceSentence]
) -> list[EvidenceSentence]:
    """The best sentence about each side, and before them one about both, if there is any."""
    own = [frozenset(terms(side)) for side in sides]
    marks = [side - frozenset().union(*(other for other in own if other is not side)) or side for side in own]
    headings = [frozenset(terms(passage.title)) for passage in passages]

    def about(sentence: EvidenceSentence, side: frozenset[str]) -> bool:
        said = frozenset(sentence.terms) | headings[sentence.passage]
        return bool(side) and len(side & said) >= SIDE * len(side)

    both = [sentence for sentence in ranked if all(about(sentence, side) for side in marks)]
    chosen = [max(both, key=worth)] if both else []
    for side in marks:
        found = [one for one in ranked if about(one, side) and one not in chosen]
        if not found:
            continue
        best = max(found, key=lambda one: (worth(one) - REPEATS * _repeated(one, chosen), -one.passage, -one.start))
        if _repeated(best, chosen) < REPEATS:
            chosen.append(best)
    covered = [side for side in marks if any(about(one, side) for one in chosen)]
    return chosen if len(covered) == len(marks) else []


def _diverse(ranked: Sequence[EvidenceSentence], most: int) -> list[EvidenceSentence]:
    """The best first, then what is nearly as good and says something else (maximal marginal relevance)."""
    first = max(ranked, key=lambda one: (worth(one), -one.passage, -one.start))
    chosen = [first]
    while len(chosen) < most:
        left = [one for one in ranked if one not in chosen and worth(one) >= LEAST * worth(first)]
        scored = [(worth(one) * (1 - _repeated(one, chosen)), one) for one in left if _repeated(one, chosen) < REPEATS]
        if not scored:
            break
        chosen.append(max(scored, key=lambda item: (item[0], -item[1].passage, -item[1].start))[1])
    return chosen


def _repeated(sentence: EvidenceSentence, chosen: Sequence[EvidenceSentence]) -> float:
    """Largest share of its words that one of the chosen has already."""
    own = set(sentence.terms)
    if not own:
        return 1.0
    return max((len(own.intersection(one.terms)) / len(own) for one in chosen), default=0.0)


def _with_items(quote: Quote, text: str) -> Quote:
    """The quote with the list that it announces, or with the rest of the list that it is an item of."""
    last = quote.text.rstrip().rsplit("\n", 1)[-1]
    if not last.endswith(":") and not _ITEM.match(last):
        return quote
    end = quote.end
    for item in _ITEM.finditer(text, quote.end):
        if text[end : item.start()].strip() or item.end() - quote.start > LONGEST_LIST:
            break
        end = item.end()
    return Quote(quote.passage, quote.start, end, text[quote.start : end])
