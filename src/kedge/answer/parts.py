"""Answers to questions of several parts: each part is searched and read by itself, and the answers stand side by side.

What tells two things apart may stand in no sentence, while each of them is defined somewhere; two questions in one
sentence are answered in two documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kedge.answer.compose.quote import ExtractedAnswer, Quote, ShortAnswer
from kedge.answer.judge.verdict import AnswerVerdict
from kedge.core.values import SearchHit
from kedge.text.analyze import terms
from kedge.text.defining import defines
from kedge.text.parts import Part

OF_EACH = {"difference": 1, "each": 1, "names": 1, "joined": 2}
"""Most quotes of one part."""
SAID_OF_IT = 0.3
"""How far a statement must say what a side is to stand for it."""


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """One part with what was found for it and what that says."""

    part: Part
    hits: tuple[SearchHit, ...]
    verdict: AnswerVerdict


@dataclass(frozen=True, slots=True)
class JoinedAnswer:
    """The answers of all parts as one."""

    extracted: ExtractedAnswer
    probability: float
    joined: tuple[SearchHit, ...]
    """Hits of the parts beside those that were found for the whole: the quotes refer to these behind them."""


def are_wanted(whole: AnswerVerdict, parts: Sequence[Part], threshold: float) -> bool:
    """Whether the parts are worth a search each: not where one answer speaks of both that are named already."""
    if not parts or whole.signs is None or whole.extracted is None:
        return False
    sure = whole.probability >= threshold
    return not (sure and parts[0].kind in ("each", "names") and _says_both(whole.extracted.quotes, parts))


def joined_answer(
    whole: AnswerVerdict, hits: Sequence[SearchHit], answers: Sequence[PartAnswer], threshold: float
) -> JoinedAnswer | None:
    """What the parts say together; None where one of them has no answer, or the whole is answered by one statement.

    A statement that tells two things apart comes first, then what each of them is.
    """
    if any(one.verdict.extracted is None or one.verdict.probability < threshold for one in answers):
        return None
    kind = answers[0].part.kind
    extracted = whole.extracted
    sure = extracted is not None and whole.probability >= threshold
    parts = [one.part for one in answers]
    told_both = sure and extracted is not None and _says_both(extracted.quotes, parts)
    if kind == "difference" and told_both and not all(map(_is_defined, answers)):
        return None
    if kind in ("each", "names") and not all(map(_is_named, answers)):
        return None
    places = {hit.passage.id: place for place, hit in enumerate(hits)}
    joined: list[SearchHit] = []
    quotes: list[Quote] = []
    if kind == "difference" and sure and extracted is not None:
        quotes += [quote for quote in extracted.quotes[:1] if _says_both([quote], parts)]
    for one in answers:
        told = one.verdict.extracted
        assert told is not None
        for number, quote in enumerate(told.quotes[: OF_EACH[kind]]):
            hit = one.hits[quote.passage]
            if hit.passage.id not in places:
                places[hit.passage.id] = len(places)
                joined.append(replace(hit, rank=len(places)))
            moved = replace(quote, passage=places[hit.passage.id])
            if not any(_overlap(moved, other) for other in quotes):
                quotes.append(_unmarked(_named(moved, one.part.about) if not number else moved, told.short))
    if len(quotes) < len(answers):
        return None
    probability = min(one.verdict.probability for one in answers)
    short = answers[0].verdict.extracted
    verdict = short.verdict if kind == "joined" and short is not None else ""
    return JoinedAnswer(
        ExtractedAnswer(tuple(quotes), None, verdict),
        max(probability, whole.probability) if kind == "difference" else probability,
        tuple(joined),
    )


def _is_defined(one: PartAnswer) -> bool:
    """Whether the answer of a part says what its side is."""
    told = one.verdict.extracted
    if told is None:
        return False
    quote = told.quotes[0]
    words = (quote.shown or quote.text).replace("**", "")
    return max(defines(text, one.part.about) for text in (words, words.partition(": ")[2], quote.text)) >= SAID_OF_IT


def _is_named(one: PartAnswer) -> bool:
    """Whether the answer of a part speaks of what it is asked about."""
    told = one.verdict.extracted
    return told is not None and frozenset(terms(one.part.about)) <= frozenset(terms(told.quotes[0].text))


def _says_both(quotes: Sequence[Quote], parts: Sequence[Part]) -> bool:
    said = frozenset(terms(" ".join(f"{quote.shown} {quote.text}" for quote in quotes)))
    return all(frozenset(terms(one.about)) <= said for one in parts)


def _named(quote: Quote, about: str) -> Quote:
    """A quote that says what it is about: before one that does not, that is put."""
    if not about or frozenset(terms(about)) & frozenset(terms(f"{quote.shown} {quote.text}")):
        return quote
    return replace(quote, shown=f"{about}: {quote.shown or ' '.join(quote.text.split())}")


def _unmarked(quote: Quote, short: ShortAnswer | None) -> Quote:
    """Without the mark of a part's few words: they do not answer the whole."""
    marked = f"**{short.text}**" if short is not None else ""
    return replace(quote, shown=quote.shown.replace(marked, short.text, 1)) if short is not None and marked else quote


def _overlap(one: Quote, other: Quote) -> bool:
    return one.passage == other.passage and one.start < other.end and other.start < one.end
