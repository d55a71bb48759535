"""Whether the evidence says what a generated sentence says, and where.

A sentence is supported when a few spans of the evidence hold its words, all of its numbers and names, and nothing that
denies it, and when they are about the question. What reads as an order to the model is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kedge.answer.compose.quote import Quote
from kedge.answer.write.context import heading
from kedge.answer.write.sentences import without_urls
from kedge.core.values import SearchHit
from kedge.models.ports import Vectors
from kedge.retrieve.soft import open_vectors, soft_match
from kedge.text.analyze import terms, words
from kedge.text.antonyms import OPPOSITES
from kedge.text.generic import generic_terms
from kedge.text.languages import guess, speaks
from kedge.text.numbers import numbers
from kedge.text.orders import inside, ordering_spans
from kedge.text.question import Question, negations
from kedge.text.sentences import sentences

Embed = Callable[[Sequence[str]], Awaitable[Vectors]]

MOST_SPANS = 3
"""Spans that may support one sentence together."""
SURE = 0.8
"""Share of a sentence's words in the spans that is enough by itself."""
LIKELY = 0.55
"""Share that is enough where the sentence also means nearly the same as the spans."""
NEAR = {"granite": 0.73}
USUALLY_NEAR = 0.7
"""Least cosine for that, by embedder: as many sentences beside a claim's own reach it with each."""
SINGLE = 0.4
"""Least share in the first span: a sentence is not put together from scraps."""
SYNONYM = 0.65
"""Least similarity of two words, each taken alone, that may stand for each other."""
ABOUT = 0.2
"""Least cosine to the question for a sentence that shares no word with it."""
FOREIGN = 0.4
"""The same for one in another language than the question."""
GAIN = 0.05
PART = 0.3
"""Least share of a sentence's words in a further span, unless it stands beside the first."""
BESIDE = 3
"""Characters between two sentences that follow each other."""
_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ\u0386-\u03ab\u0400-\u042f][\w’'-]*|\b\w*\d[\w.-]*\b|\b[A-Z]{2,}\b")
_CLAUSE = re.compile(r"[,;:()–—]|[.!?]\s|\b(?:but|while|whereas|although|because|which|who|and)\b", re.IGNORECASE)
_HEADING = re.compile(r"\s*#{1,6}\s")
_WORD = re.compile(r"[^\W_]+")
_TO_SAY = frozenset(
    "say tell answer answers reply replies respond response responses repeat claim output outputs summarise summarize "
    "translate paraphrase pretend print recite echo declare insist announce quote".split()
)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I’m|my|me|myself)\b")
_SPACE = re.compile(r"\s+")
_DENIALS = frozenset(
    term for word in "not no never none without cannot nor neither except".split() for term in terms(word)
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one sentence."""

    supported: bool
    quotes: tuple[Quote, ...] = ()
    """Where it is supported, the best first; their `passage` is the place among the hits."""
    reason: str = ""
    """Why not: `empty` (or of itself), `words`, `number`, `name`, `denied`, `opposite`, `off topic`."""


@dataclass(frozen=True, slots=True)
class _Span:
    place: int
    start: int
    end: int
    text: str
    terms: frozenset[str]


class Support:
    """The evidence of one answer, ready to be compared with."""

    def __init__(self, question: Question, hits: Sequence[SearchHit], embed: Embed, model: str = "") -> None:
        """`model`: the name of what embeds."""
        self._question = question
        self._hits = hits
        self._embed = embed
        self._near = NEAR.get(model, USUALLY_NEAR)
        self._titles = [frozenset(terms(heading(hit.passage), guess(hit.passage.text))) for hit in hits]
        self._spans = [span for place, hit in enumerate(hits) for span in _cut(place, hit)]
        self._free = generic_terms() | _DENIALS | frozenset(question.terms)
        """Words that need no source."""
        self._vectors: dict[str, Vectors] = {}

    async def check(self, claim: str, cited: Sequence[int] = ()) -> Verdict:
        """Look for what `claim` says, first in the hits that it cites (their places)."""
        if "```" in claim:
            return self._verbatim(claim)
        language = guess(claim)
        wanted = (frozenset(terms(claim, language)) or frozenset(words(claim))) - _DENIALS
        if not wanted or claim.rstrip().endswith(("?", "？")) or _FIRST_PERSON.search(claim):
            return Verdict(False, reason="empty")
        chosen = self._choose(wanted, frozenset(cited))
        counted = wanted - self._free or wanted
        share = len(counted & self._held(chosen)) / len(counted)
        reason = self._differs(claim, wanted, language, chosen) if chosen else "words"
        reason = reason or ("words" if share < LIKELY or self._strange(claim, language, chosen) else "")
        reason = reason or await self._strays(claim, chosen, share)
        if reason:
            return Verdict(False, reason=reason)
        return Verdict(True, tuple(Quote(span.place, span.start, span.end, span.text) for span in chosen))

    def has(self, address: str) -> bool:
        """Whether an address stands in the evidence, outside of orders, or is that of a source."""
        return any(address in span.text for span in self._spans) or any(
            address == hit.passage.url for hit in self._hits
        )

    def _choose(self, wanted: frozenset[str], cited: frozenset[int]) -> list[_Span]:
        """The fewest spans that hold most of the words: the best one, then what adds to it nearby."""
        usable = [span for span in self._spans if not _only_to_be_said(span, wanted)]
        scored = [(self._share(span, wanted), span.place in cited, span) for span in usable]
        scored.sort(key=lambda item: (-item[0] - 0.1 * item[1], item[2].place, item[2].start))
        best = next(((share, span) for share, _, span in scored if span.terms & wanted), None)
        if best is None or best[0] < SINGLE:
            return []
        chosen = [best[1]]
        while len(chosen) < MOST_SPANS:
            missing = wanted - self._held(chosen) - self._free
            gains = [
                (len(span.terms & missing) / len(wanted) + 0.01 * (span.place == best[1].place), span)
                for _, _, span in scored
                if span not in chosen and span.terms & missing and (_part(span, wanted) or _next_to(span, chosen))
            ]
            gain, span = max(gains, key=lambda item: (item[0], -item[1].place, -item[1].start), default=(0.0, None))
            if span is None or gain < GAIN:
                break
            chosen.append(span)
        return chosen

    def _share(self, span: _Span, wanted: frozenset[str]) -> float:
        return len(wanted & (span.terms | self._titles[span.place])) / len(wanted)

    def _held(self, chosen: Sequence[_Span]) -> frozenset[str]:
        return frozenset().union(*(span.terms | self._titles[span.place] for span in chosen))

    def _differs(self, claim: str, wanted: frozenset[str], language: str, chosen: Sequence[_Span]) -> str:
        """In what the spans do not say the same, though they have the words."""
        said = " ".join(span.text for span in chosen)
        headings = " ".join(dict.fromkeys(heading(self._hits[span.place].passage) for span in chosen))
        counted = " ".join(span.text for span in chosen if span is chosen[0] or _part(span, wanted))
        if not numbers(claim) <= numbers(f"{counted} {headings}"):
            return "number"
        if not _names(claim, language) <= frozenset(terms(f"{said} {headings}", language)):
            return "name"
        if _denied(claim, said) or _denied(said, claim):
            return "denied"
        mine, theirs = set(words(claim)), set(words(f"{said} {headings}"))
        if any(word not in theirs and not OPPOSITES.get(word, frozenset()).isdisjoint(theirs - mine) for word in mine):
            return "opposite"
        return ""

    def _strange(self, claim: str, language: str, chosen: Sequence[_Span]) -> list[str]:
        """Words of the claim that carry meaning and that neither the spans nor the question have, nor a near word."""
        held = self._held(chosen) | self._free
        missing = [word for word in words(claim) if not frozenset(terms(word, language)) <= held]
        near = open_vectors()
        if not missing or near is None:
            return missing
        said = " ".join(span.text for span in chosen)
        return [word for word in missing if soft_match(near, word, [said])[0] < SYNONYM]

    def _question_in(self, chosen: Sequence[_Span]) -> bool:
        return self._question.coverage(self._held(chosen)) >= ABOUT

    async def _strays(self, claim: str, chosen: Sequence[_Span], share: float) -> str:
        """Whether it means something else, or nothing that was asked."""
        near, about = await self._cosines(claim, " ".join(span.text for span in chosen))
        if share < SURE and near < self._near:
            return "words"
        asked = frozenset(self._question.terms)
        if (bare := without_urls(claim)) != " ".join(claim.split()) and asked.isdisjoint(terms(bare)):
            return "off topic"
        if about < FOREIGN and self._foreign(claim):
            return "off topic"
        return "off topic" if about < ABOUT and not self._question_in(chosen) else ""

    def _foreign(self, claim: str) -> bool:
        """Whether it is in another language than the question and shares no word with it."""
        asked = self._question.text
        language = guess(asked)
        if speaks(asked, language) is not True or speaks(claim, language) is not False:
            return False
        return frozenset(self._question.terms).isdisjoint(terms(claim))

    async def _cosines(self, claim: str, said: str) -> tuple[float, float]:
        """Nearness of the claim to the spans and to the question."""
        asked = self._question.text
        missing = [text for text in dict.fromkeys((claim, said, asked)) if text not in self._vectors]
        if missing:
            rows = await self._embed(missing)
            self._vectors.update(zip(missing, rows, strict=True))
        own = self._vectors[claim]
        return float(np.dot(own, self._vectors[said])), float(np.dot(own, self._vectors[asked]))

    def _verbatim(self, claim: str) -> Verdict:
        """Code is right only as it stands."""
        code = _SPACE.sub(" ", claim.replace("```", "\x00").split("\x00")[1].partition("\n")[2]).strip()
        for place, hit in enumerate(self._hits):
            found = re.search(r"\s+".join(map(re.escape, code.split())), hit.passage.text) if code else None
            if found:
                return Verdict(True, (Quote(place, *found.span(), found.group()),))
        return Verdict(False, reason="words")


def _cut(place: int, hit: SearchHit) -> list[_Span]:
    """Sentences, list items and rows of a passage that can prove something."""
    text = hit.passage.text
    orders = ordering_spans(text)
    language = guess(text)
    return [
        _Span(place, start, end, text[start:end], frozenset(terms(text[start:end], language)))
        for start, end in sentences(text)
        if not inside(orders, start, end) and not _HEADING.match(text, start, end)
    ]


def _part(span: _Span, wanted: frozenset[str]) -> bool:
    """Whether a span says a part of it, and does not only have a word in common."""
    return len(span.terms & wanted) >= max(2.0, PART * len(wanted))


def _next_to(span: _Span, chosen: Sequence[_Span]) -> bool:
    """Whether a span stands beside a chosen one, which may point to it."""
    return any(
        span.place == one.place and (0 <= one.start - span.end < BESIDE or 0 <= span.start - one.end < BESIDE)
        for one in chosen
    )


def _only_to_be_said(span: _Span, wanted: frozenset[str]) -> bool:
    """Whether the span holds the words only as something to be said ("claim that …", "the response is: …")."""
    for match in _WORD.finditer(span.text):
        own = frozenset(terms(match.group()))
        if match.group().lower() in _TO_SAY and not own <= wanted:
            return True
        if own and own <= wanted:
            return False
    return False


def _names(claim: str, language: str) -> frozenset[str]:
    """Search terms of words that are names by their look; the first word only if a second name follows it.

    German writes every noun like a name, so they are cut to their stems as the evidence is: in the claim's language.
    """
    found = list(_NAME.finditer(claim))
    first = found[0] if found else None
    if first and not claim[: first.start()].strip(" \"'“‘(*-•") and first.group()[1:].islower():
        following = found[1] if len(found) > 1 else None
        if following is None or claim[first.end() : following.start()].strip():
            found = found[1:]
    return frozenset(term for match in found if not numbers(match.group()) for term in terms(match.group(), language))


def _denied(one: str, other: str) -> bool:
    """Whether `one` denies something that `other` says too, and `other` does not deny it."""
    theirs = [set(terms(part)) for part in _clauses(other) if negations(part)]
    spoken = set(terms(other))
    for part in _clauses(one):
        if not negations(part):
            continue
        own = set(terms(part)) - _DENIALS
        if not own or len(own & spoken) * 2 < len(own):
            continue
        if not any(len(own & clause) * 2 >= len(own) for clause in theirs):
            return True
    return False


def _clauses(text: str) -> list[str]:
    return [part for part in _CLAUSE.split(text) if part.strip()]
