"""Follow-up questions: what a question leaves out is taken from the one before it.

>>> before = EarlierTurn("Who designed the Eiffel Tower?", names=("Gustave Eiffel",))
>>> follow("When was it built?", before)
'When was the Eiffel Tower built?'
>>> follow("Where was he born?", before)
'Where was Gustave Eiffel born?'
>>> follow("And the Atomium?", before)
'Who designed the Atomium?'
>>> follow("What caused the drop?", EarlierTurn("What were tram fares in 2022?"))
'What caused the drop? (about: What were tram fares in 2022?)'
>>> follow("And resume it?", EarlierTurn("How do I pause a job in the queue?"))
'How do I resume a job in the queue?'
>>> follow("What is a kedge and how is it used?", before)
'What is a kedge and how is it used?'
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kedge.text.amounts import asks_amount
from kedge.text.leaning import fragment_of, is_bare, leans_on
from kedge.text.slots import in_its_place
from kedge.text.topics import NAME, main_topics, subject_of

__all__ = ["EarlierTurn", "follow", "main_topics", "needs_context"]

_ARTICLE = re.compile(r"\A(?:an?|the|my|our|your)\s", re.IGNORECASE)
_INDEFINITE = re.compile(r"\Aan?\s", re.IGNORECASE)
_MANY = re.compile(r"(?:[^\Wsui]s|ies|people|men|children)\Z|\band\b", re.IGNORECASE)
_WAY = re.compile(
    r"\W*(?P<how>how\s+(?:to|(?:do|does|did|can|could|should|would)\s+(?:i|we|you|one)))\s+[a-z]+(?:\s+up|\s+down|\s+off|\s+out)?"
    r"\s(?P<thing>(?:an?|the|my|our|your|this|that|all|[\w-]+s)\b[^?.!\n]{0,120}?)\W*\Z",
    re.IGNORECASE,
)
_VERB_IT = re.compile(
    r"\W*(?:and|or|but|then|and\s+then)\s+(?!(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|with|without|for|to|"
    r"about|if|when|what|why|who|where|how|in|on|of|from|by)\b)(?P<verb>[a-z]+(?:\s+up|\s+down|\s+off|\s+out)?)\s+"
    r"(?:it|them|that|one|this|those)(?P<rest>\s+(?:again|back|later|up|down|off|out))?\W*\Z",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"(?>(?P<asked>.*?)\s\(about: )(?P<earlier>.*)\)\Z", re.DOTALL)
_WHERE = re.compile(
    r"\b(?:in|at|to|from|near)\s+(?P<place>(?:the\s+)?[A-ZÀ-ÖØ-Þ][\w’'-]*(?:\s+[A-ZÀ-ÖØ-Þ][\w’'-]*){0,3})"
)
_MONTHS = re.compile(r"January|February|March|April|May|June|July|August|September|October|November|December|Q[1-4]")
LONGEST_ABOUT = 600
"""Characters of an earlier question that are kept beside a follow-up."""


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """What is left of an earlier question and its answer."""

    question: str
    """To be understood alone."""
    names: tuple[str, ...] = ()
    """What it was answered with, where that was a name."""
    topics: tuple[str, ...] = ()
    """What it was about, the likeliest first."""


def needs_context(question: str) -> bool:
    """Whether a question leaves out what it is about."""
    leaning = fragment_of(question) is not None or leans_on(question) is not None
    return leaning or is_bare(question) or _VERB_IT.match(question) is not None


def follow(question: str, before: EarlierTurn) -> str:
    """The question so that it can be understood alone; unchanged where nothing is missing.

    What fits nowhere without doubt is kept beside the question it leans on, so that no word of either is lost.
    """
    other = _VERB_IT.match(question)
    way = _WAY.match(_asked(before.question)) if other else None
    if other and way:
        return f"{way['how']} {other['verb']} {way['thing']}{other['rest'] or ''}?"
    if is_bare(question):
        return _beside(question, before)
    fragment = fragment_of(question)
    if fragment is not None:
        return in_its_place(fragment, _asked(before.question)) or _beside(question, before)
    match = leans_on(question)
    if match is None:
        return question
    topic = _meant(match, before)
    if not topic:
        return _beside(question, before)
    return question[: match.start()] + _placed(topic, question, match) + question[match.end() :]


def _beside(question: str, before: EarlierTurn) -> str:
    """The follow-up, and in brackets what it leans on; of a chain, the question that it began with as well."""
    earlier = before.question
    chained = _ABOUT.match(earlier)
    if chained:
        earlier = f"{chained['earlier']} {chained['asked']}"
    asked = question.strip()
    return f"{asked[:1].upper()}{asked[1:]} (about: {earlier.strip()[:LONGEST_ABOUT]})"


def _asked(earlier: str) -> str:
    """An earlier follow-up that was kept beside another is filled in where the other one is."""
    chained = _ABOUT.match(earlier)
    return chained["earlier"] if chained else earlier


def _meant(match: re.Match[str], before: EarlierTurn) -> str:
    """What a word stands for; empty where that is in doubt."""
    word = match.group().lower()
    if match["place"]:
        return _place(before)
    if match["person"] or word in ("his", "her"):
        return _person(before)
    if match["that"]:
        return _thing_called(word.split()[-1], before)
    return _thing(word, before) if match["thing"] or match["possessive"] else ""


def _thing(word: str, before: EarlierTurn) -> str:
    subject = subject_of(before.question) or next(iter(before.topics), "")
    if not subject or word == "theirs" or (subject in before.question and asks_amount(f"what was {subject}")):
        return ""  # where an amount was asked for: of what, is in the rest of the question
    several = bool(_MANY.search(subject)) and "_" not in subject
    fits = not several if word in ("it", "its") else several
    return subject if fits or NAME.fullmatch(_bare(subject)) else ""


def _place(before: EarlierTurn) -> str:
    found = [match["place"] for match in _WHERE.finditer(before.question) if not _MONTHS.match(match["place"])]
    place = found[-1] if found else next(iter(before.names), "")
    return f"in {place}" if place else ""


def _person(before: EarlierTurn) -> str:
    named = [name for name in before.names if NAME.fullmatch(name) and not _MONTHS.match(name)]
    if named:
        return named[0]
    subject = NAME.match(subject_of(before.question))
    return subject.group() if subject else ""


def _thing_called(noun: str, before: EarlierTurn) -> str:
    """`that function`, where the earlier question speaks of `the function load_rows`."""
    subject = subject_of(before.question)
    return subject if noun in subject.lower().split() and len(subject.split()) > 2 else ""


def _bare(topic: str) -> str:
    return _ARTICLE.sub("", topic)


def _placed(topic: str, question: str, match: re.Match[str]) -> str:
    """As it reads in the place of the pronoun: with an article, in the genitive, with a capital at the beginning."""
    shown = _INDEFINITE.sub("the ", topic)
    if match["possessive"]:
        shown += "’" if shown.endswith("s") else "’s"
    at_start = not question[: match.start()].strip()
    return shown[:1].upper() + shown[1:] if at_start else shown
