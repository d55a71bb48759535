"""A refusal that helps: what was looked for, and what was found nearest, which is shown but answers nothing.

The first line of the text is the fixed sentence of its kind of collection, so that clients can know a refusal by it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.answer.write.context import heading
from kedge.answer.write.sentences import read_sentence, without_links, without_urls
from kedge.core.excerpt import excerpt
from kedge.core.values import Json, SearchHit
from kedge.text.analyze import terms
from kedge.text.concepts import mentions
from kedge.text.evidence import EvidencePassage, candidate_sentences
from kedge.text.orders import gives_orders, inside, ordering_spans
from kedge.text.question import AnswerKind, Question
from kedge.text.statements.markup import plain

NEAREST = 2
"""Sources that are named."""
MOST_TERMS = 6
SNIPPET_CHARS = 200
_LOOKED_AT = 8
"""Sentences of a source among which the one nearest to the question is sought."""
_KINDS: dict[AnswerKind, str] = {
    "name": "a name or a place",
    "date": "a date",
    "number": "a number",
    "complexity": "a running time",
    "code": "code",
    "text": "a statement",
}
_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
_ASKING = frozenset(
    term
    for word in (
        "who whom whose what which when where why how many much long old far name named called kind type year date day "
        "month century decade place number amount percentage list give tell explain describe show does did can could "
        "would should there between i we me my our us you your use do"
    ).split()
    for term in terms(word) or (word,)
)


@dataclass(frozen=True, slots=True)
class Near:
    """A source that is near to the question and does not answer it."""

    title: str
    identity: str
    """What its document calls itself."""
    place: str
    """That, and the section."""
    passage_id: str
    snippet: str
    """Its sentence nearest to the question, verbatim; empty where it has none to quote."""
    start: int
    """Offset of the snippet in the document's text."""
    end: int

    def as_json(self) -> dict[str, Json]:
        return {
            "title": self.title,
            "identity": self.identity,
            "passage_id": self.passage_id,
            "snippet": self.snippet,
            "start": self.start,
            "end": self.end,
        }

    def line(self) -> str:
        """Its place and its sentence, without anything that a client could fetch or run."""
        said = excerpt(without_urls(read_sentence("", plain(self.snippet), first=True).text), SNIPPET_CHARS)
        place = without_links(read_sentence("", self.place, first=True).text) or "(no title)"
        return place if not said or said == place else f"{place}: “{said}”"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer, for the reader."""

    kind: AnswerKind
    """What a short answer would have been."""
    names: tuple[str, ...]
    """Whom or what the question names."""
    words: tuple[str, ...]
    """What else it is about."""
    nearest: tuple[Near, ...]
    probability: float
    read: int = 0
    """How many passages were read."""

    @property
    def looked_for(self) -> str:
        """In words: `a date, about “Lisbon”, “signed”`."""
        about = ", ".join(f"“{word}”" for word in (*self.names, *self.words))
        return f"{_KINDS[self.kind]} about {about}" if about else _KINDS[self.kind]

    def text(self, first: str) -> str:
        """`first`, which is the refusal itself, then what helps."""
        parts = [first, f"Looked for: {self.looked_for}."]
        if self.read:
            count = "One passage was" if self.read == 1 else f"{self.read} passages were"
            parts.append(f"{count} read; nothing there says it clearly enough.")
        if self.nearest:
            parts.append("\n".join(["Nearest, but not an answer:", *(f"- {near.line()}" for near in self.nearest)]))
        else:
            parts.append("Nothing near it was found.")
        return "\n\n".join(parts)

    def as_json(self) -> dict[str, Json]:
        """For `Answer.metadata`."""
        return {
            "looked_for": {
                "text": self.looked_for,
                "type": self.kind,
                "names": list(self.names),
                "terms": list(self.words),
            },
            "nearest": [near.as_json() for near in self.nearest],
            "probability": self.probability,
            "read": self.read,
        }


def refusal_of(
    question: Question, hits: Sequence[SearchHit], probability: float, *, whole: bool = False, read: int = 0
) -> Refusal:
    """What to say where `hits` (best first) do not answer. `whole`: they are quoted whole, as rows are."""
    names, words = looked_for(question.text)
    return Refusal(question.kind, names, words, _nearest(question, hits, whole), probability, read)


def looked_for(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names in a question and its other words that mean something, as they are written.

    >>> looked_for("When was the Treaty of Lisbon signed by Ireland?")
    (('Treaty of Lisbon', 'Ireland'), ('signed',))
    >>> looked_for("Can I see how much we spend on R&D?")
    ((), ('see', 'spend', 'R&D'))
    """
    named = [one.surface for one in mentions(text) if not _asking(one.surface)]
    names = [one for one in dict.fromkeys(named) if not any(one != other and one in other for other in named)]
    taken = {word for name in names for word in _WORD.findall(name)}
    words = [
        word for word in dict.fromkeys(_WORD.findall(text)) if word not in taken and terms(word) and not _asking(word)
    ]
    return tuple(names[:MOST_TERMS]), tuple(words[: max(1, MOST_TERMS - len(names))])


def _asking(text: str) -> bool:
    """Whether a stretch of a question has only words that ask."""
    return frozenset(terms(text)) <= _ASKING


def _nearest(question: Question, hits: Sequence[SearchHit], whole: bool) -> tuple[Near, ...]:
    """The best hit of each of the first documents; a second one only if it has something of the question."""
    found: dict[str, Near] = {}
    for hit in hits:
        passage = hit.passage
        key = passage.id if whole else passage.document_id
        if gives_orders(passage.title) or key in found:
            continue
        start, end, share = _sentence(question, hit, whole)
        if found and not share and not whole:
            continue
        found[key] = Near(
            passage.title,
            passage.identity,
            heading(passage),
            passage.id,
            passage.text[start:end],
            passage.start + start,
            passage.start + end,
        )
        if len(found) == NEAREST:
            break
    return tuple(found.values())


def _sentence(question: Question, hit: SearchHit, whole: bool) -> tuple[int, int, float]:
    """Span of the sentence with most of the question, and how much that is. Orders to a reader are not shown."""
    text = hit.passage.text
    orders = ordering_spans(text, surely=True)
    if whole:
        return (0, 0, 0.0) if orders else (0, len(text), 1.0)
    passage = EvidencePassage(text, heading(hit.passage))
    for sentence in candidate_sentences(question, [passage], limit=_LOOKED_AT):
        if not inside(orders, sentence.start, sentence.end):
            return sentence.start, sentence.end, sentence.coverage
    return 0, 0, 0.0
