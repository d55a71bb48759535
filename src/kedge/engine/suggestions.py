"""Other ways to ask: questions made of what stands nearest to a refused one, each judged to have an answer.

The audit log keeps who asked and which documents the questions are about; nothing else is recorded. No language model
is asked: the judge alone says which of the questions stand.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kedge.core.values import Query, SearchHit, Suggestion
from kedge.text.analyze import terms

if TYPE_CHECKING:
    from kedge.answer.pipeline import Answerer
    from kedge.answer.record import Recorder
    from kedge.engine.collections import CollectionKeeper

MOST = 3
TRIED = 8
"""Questions that are judged at most."""
SECONDS = 6.0
"""After which no further one is tried."""
MOST_WORDS = 9
"""Of a heading that becomes a question."""
_PASSAGES = 8
_NUMBERED = re.compile(
    r"^(?:[\d.]+|[A-Z][.)]|(?:Item|Section|Part|Chapter|Note|Table|Figure)\s+[\w.]+)[\s:.)–—-]*", re.I
)
_ASKS = re.compile(r"^(?:what|who|when|where|why|how|which|can|does|do|is|are|should)\b.*\?$", re.I)
_DOING = re.compile(
    r"^(?!(?:during|string|spring|king|ring|wing|morning|evening|\w*thing)\b)[a-z]+ing\b\s+(?!and\b|or\b|of\b)\w", re.I
)
_NO_NOUN = re.compile(
    r"^(?:(?:of|for|in|into|to|with|from|by|at|on|as|and|or|but|if|per|via|upon|under|over|about|before|after|when|while)\b"
    r"|please\b|let\b|make sure\b|(?:be|do|don.t|never|always)\b)|\b(?:of|for|in|to|with|from|by|and|or|the|an?)$",
    re.I,
)
"""A heading that begins or ends in the middle of something, or tells what to do."""
_TOLD = re.compile(r"^([A-Z]?[a-z]+) (?:all |some of |each of |any of )?(?:your|you)\b")
_ASIDE = re.compile(r"(?<!\s)\s*+\([^()]*+\)\s*+$")
_OPENS = re.compile(r"^(?:an?\s+)?(?:introduction|guide|intro|overview)\s+(?:to|of)\s+", re.I)
_HEAD = re.compile(r"^(.*?)(?<!\s)\s++(?:of|on|in|for|to|with|from|by|at|under|over|without|between)\b", re.I)
_NO_ARTICLE = re.compile(
    r"(?:ing|tion|sion|ness|ity|ics|ment|age|ance|ence|ism|ogy|ware|ship|data|work|equipment)$", re.I
)
_DULL = frozenset(
    "introduction overview summary contents index references notes note example examples abstract appendix conclusion "
    "general other see also related practice problems further reading source sources license about background".split()
)


class Suggester:
    """Finds questions near another that have answers."""

    def __init__(self, answerer: Answerer, keeper: CollectionKeeper, recorder: Recorder, threshold: float) -> None:
        self._answerer = answerer
        self._recorder = recorder
        self._keeper = keeper
        self._threshold = threshold

    async def near(self, query: Query) -> list[Suggestion]:
        """At most three, the nearest first. QueryError, NotFoundError."""
        collection = await self._keeper.get(query.scope)
        _, _, hits = await self._answerer.evidence(replace(query, top_k=_PASSAGES), collection)
        until = time.monotonic() + SECONDS
        found: list[Suggestion] = []
        about: list[str] = []
        for text, hit in list(_questions(query.text, hits))[:TRIED]:
            asked = replace(query, text=text, session_id=None)
            meant, _, evidence = await self._answerer.evidence(asked, collection)
            verdict = await self._answerer.judging.verdict(meant, collection, evidence)
            if verdict.probability >= self._threshold and verdict.extracted is not None:
                found.append(Suggestion(text, hit.passage.identity, verdict.probability))
                about.append(hit.passage.document_id)
            if len(found) == MOST or time.monotonic() > until:
                break
        await self._recorder.note("search", query, about)
        return found


def _questions(asked: str, hits: Sequence[SearchHit]) -> Iterator[tuple[str, SearchHit]]:
    """Questions that headings and titles of the hits suggest, nearest first; each topic once."""
    seen = {" ".join(terms(asked))}
    for hit in hits:
        title = hit.passage.title
        path = [part for part in hit.passage.section_path if part.strip() and part != title]
        for text in (*(question_about(part, title) for part in reversed(path[-1:])), question_about(title)):
            key = " ".join(terms(text))
            if text and key not in seen:
                seen.add(key)
                yield text, hit


def question_about(heading: str, title: str = "") -> str:
    """A question about a heading, and whose heading it is where that is not said; empty for one that names nothing.

    >>> question_about("3.2 Anchor scope"), question_about("How do I reef?"), question_about("Overview")
    ('What is an anchor scope?', 'How do I reef?', '')
    >>> question_about("Installing Kedge"), question_about("Uses on board", "Bowline")
    ('How does installing Kedge work?', 'What are the uses on board (Bowline)?')
    """
    topic = _OPENS.sub("", _NUMBERED.sub("", " ".join(heading.split())).strip(" .:–—-"))
    if _ASKS.match(topic):
        return topic
    topic = _written_small(_ASIDE.sub("", topic))
    words = topic.split()
    if not words or len(words) > MOST_WORDS or _NO_NOUN.search(topic):
        return ""
    if (told := _TOLD.match(topic)) and not told[1].lower().endswith("ing"):
        rest = re.sub(r"\byour\b", "my", re.sub(r"\byou\b", "I", topic), flags=re.I)
        return f"How do I {rest[0].lower()}{rest[1:]}?"
    sentence = heading.rstrip().endswith(".") and len(words) > 3
    dull = not set(terms(topic)) or {word.lower() for word in words} <= _DULL
    return "" if sentence or dull else _about_thing(topic, words, title)


def _about_thing(topic: str, words: Sequence[str], title: str) -> str:
    """A question about what a heading names, or about what it says is done."""
    short = len(title.split()) <= 6 and not set(terms(title)) <= set(terms(topic))
    within = f" ({title})" if title and short else ""
    if _DOING.match(topic):
        return f"How does {topic[0].lower() + topic[1:]} work{within}?"
    named = _is_name(words)
    said = topic if named else topic[0].lower() + topic[1:]
    before = _HEAD.match(topic)
    head = (before.group(1) if before else topic).split()[-1]
    several = head.endswith("s") and not head.endswith(("ss", "is", "us", "ics"))
    if several and (not named or before or len(words) > 2):
        return f"What are {_article(said, named=False, definite=True) if within or before else ''}{said}{within}?"
    return f"What is {_article(said, named=named, definite=bool(within or before))}{said}{within}?"


def _article(said: str, *, named: bool, definite: bool) -> str:
    if said.lower().startswith(("the ", "a ", "an ")) or (named and not definite):
        return ""
    if definite:
        return "the "
    return "" if _NO_ARTICLE.search(said) else "an " if said[0].lower() in "aeiou" else "a "


def _written_small(topic: str) -> str:
    """A heading in capitals as it would stand in a text: several words alone, since one may be an abbreviation."""
    words = topic.split()
    capitals = len(words) > 2 and topic.upper() == topic and sum(len(word) > 4 for word in words) > 1
    return topic.lower() if capitals else topic


def _is_name(words: Sequence[str]) -> bool:
    """Whether the first word is written as it is for its own sake: a name or an abbreviation."""
    first = words[0]
    return first.isupper() or any(sign.isupper() for sign in first[1:]) or (len(words) > 1 and words[1][:1].isupper())
