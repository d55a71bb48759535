"""Follow-up questions: what a question leaves out is taken from the one before it.

>>> before = Before("Who designed the Eiffel Tower?", names=("Gustave Eiffel",), topics=("Eiffel Tower",))
>>> follow("When was it built?", before)
'When was the Eiffel Tower built?'
>>> follow("Where was he born?", before)
'Where was Gustave Eiffel born?'
>>> follow("What is a kedge and how is it used?", before)
'What is a kedge and how is it used?'
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kedge.text.analyze import terms

_NAME = re.compile(
    r"(?:[A-ZÀ-ÖØ-Þ][\w’'-]*|\d{4})(?:\s+(?:(?:of|the|and|de|la|von|van|der|du|al)\s+){0,2}[A-ZÀ-ÖØ-Þ][\w’'-]*)*"
)
_PRONOUN = re.compile(
    r"\b(?P<possessive>its|their|his|hers?(?=\s+[a-z]))\b"
    r"|\b(?P<person>he|she|him|her)\b"
    r"|\b(?P<thing>it|they|them|these|those)\b"
    r"|\b(?P<pointer>this|that)\b(?=\s*(?:$|[?.!,]|(?:is|are|was|were|do|does|did|has|have|had|can|could|should|will|would|"
    r"mean|means|work|works|happen|happens|come|comes)\b))"
    r"|\b(?P<place>there)\b(?!\s+(?:is|are|was|were|be|any|a|an|no)\b)(?<!is there)(?<!are there)",
    re.IGNORECASE,
)
_EMPTY_IT = re.compile(
    r"\bit\s+(?:takes?|is|was|be|true|possible|necessary|that|to)\b|\b(?:is|was|does)\s+it\s+(?:true|possible|take|that)\b",
    re.I,
)
_FRAGMENT = re.compile(
    r"^\W*(?:and|but|or|also|then|so|ok(?:ay)?,?)?\s*(?:what|how)\s+about\s+(?P<about>.+?)\W*$"
    r"|^\W*(?:and|or|but)\s+(?!(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|"
    r"should|would|will|has|have|had|if)\b)(?P<and>(?:[^\s?]+\s*){1,6})\W*$",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"^\W*(?:and\s+|but\s+)?(?:why|how|when|where|who|how\s+(?:so|many|much|long|often)|why\s+not|since\s+when)\W*$",
    re.I,
)
_JOINT = re.compile(r"[,;]|\b(?:and|or|but)\b", re.IGNORECASE)
_PREPOSITION = re.compile(r"\s*(for|in|of|with|on|at|to|during|under|after|before|by|from)\s+", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ARTICLE = frozenset("a an the this that these those".split())
_SMALL = frozenset(
    "a an the of in on at to for with by from and or is are was were be been do does did has have had can could should "
    "would will what which who whom whose when where why how it they he she not".split()
)
_THINGS = frozenset("tower treaty river war battle university act bridge empire church system theorem".split())


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
    if _BARE.match(question) or _FRAGMENT.match(question):
        return True
    return any(_refers_back(question, match) for match in _PRONOUN.finditer(question))


def follow(question: str, before: EarlierTurn) -> str:
    """The question so that it can be understood alone; unchanged where nothing is missing or nothing fits."""
    if _BARE.match(question):
        return _continued(question, before)
    fragment = _FRAGMENT.match(question)
    if fragment:
        return _replaced(before.question, (fragment["about"] or fragment["and"]).strip(" ?.!"))
    for match in _PRONOUN.finditer(question):
        if _refers_back(question, match):
            topic = _meant(match, before)
            if not topic:
                return question
            shown = _placed(topic, question, match)
            return question[: match.start()] + shown + question[match.end() :]
    return question


def main_topics(question: str) -> tuple[str, ...]:
    """What a question is about: its names, the last first, else its last run of words that mean something."""
    words = list(_WORD.finditer(question))
    first = words[0].end() if words else 0
    names = [match.group() for match in _NAME.finditer(question) if match.start() >= first and terms(match.group())]
    if names:
        return tuple(reversed(names))
    run: list[str] = []
    for match in reversed(words):
        small = match.group().lower() in _SMALL
        if run and small:
            break
        if not small:
            run.append(match.group())
    return (" ".join(reversed(run[:4])),) if run else ()


def _refers_back(question: str, match: re.Match[str]) -> bool:
    """Whether nothing before the word in the question itself can be meant."""
    if match["thing"] and match.group().lower() == "it" and _EMPTY_IT.search(question):
        return False
    ahead = question[: match.start()]
    if any(terms(part) for part in _JOINT.split(ahead)[:-1]):
        return False
    named = [name for name in _NAME.findall(ahead.partition(" ")[2]) if name != "I"]
    return len([word for word in terms(ahead) if word not in _SMALL]) < 3 and not named


def _meant(match: re.Match[str], before: EarlierTurn) -> str:
    word = match.group().lower()
    people = bool(match["person"]) or word in ("his", "her", "hers")
    if (people or match["place"]) and before.names:
        return before.names[0]
    own = main_topics(before.question)
    capitalised = [name for name in own if name[:1].isupper()]
    candidates = (*capitalised, *before.topics, *own) if not people else (*capitalised, *before.names, *own)
    return next((one for one in candidates if one), "")


def _placed(topic: str, question: str, match: re.Match[str]) -> str:
    """As it reads in the place of the pronoun: with an article, in the genitive, with a capital at the beginning."""
    plain = topic[:1].islower() or (" " in topic and not match["person"] and _is_thing(topic))
    shown = f"the {topic}" if plain and topic.partition(" ")[0].lower() not in _ARTICLE else topic
    if match["possessive"]:
        shown += "’" if shown.endswith("s") else "’s"
    at_start = not question[: match.start()].strip()
    return shown[:1].upper() + shown[1:] if at_start else shown


def _is_thing(topic: str) -> bool:
    """`Treaty of Lisbon`, `Eiffel Tower` rather than a person: a guess by a common last or first word."""
    words = topic.lower().split()
    return bool(_THINGS.intersection((words[0], words[-1]))) or "of" in words


def _continued(question: str, before: EarlierTurn) -> str:
    """A bare question word asks about what was just said."""
    word = question.strip(" ?.!")
    return f"{word[:1].upper()}{word[1:]}: {before.question}"


def _replaced(earlier: str, fragment: str) -> str:
    """The earlier question with the fragment in the place of what it corresponds to."""
    where = _PREPOSITION.match(fragment)
    if where:
        same = re.search(rf"\b{where.group(1)}\s+(?:[^\s?]+\s*){{1,3}}(?=\?|$)", earlier, re.IGNORECASE)
        kept = earlier[: same.start()] if same else earlier.rstrip(" ?.!") + " "
        return f"{kept}{fragment}?"
    new = [match.group() for match in _WORD.finditer(fragment)]
    if not new:
        return earlier
    words = list(_WORD.finditer(earlier))
    head = new[-1].lower()
    for place in range(len(words) - 1, -1, -1):
        if words[place].group().lower() == head:
            begin = place
            while begin > 0 and _belongs(earlier, words[begin - 1], words[begin]):
                begin -= 1
            return earlier[: words[begin].start()] + fragment + earlier[words[place].end() :]
    first = words[0].end() if words else 0
    names = [match for match in _NAME.finditer(earlier) if match.start() >= first]
    if names and fragment[:1].isupper():
        return earlier[: names[-1].start()] + fragment + earlier[names[-1].end() :]
    topics = main_topics(earlier)
    if topics and topics[0] in earlier:
        place = earlier.rindex(topics[0])
        start = place
        article = re.search(r"\b(?:a|an|the)\s+\Z", earlier[:place], re.IGNORECASE)
        if article and new[0].lower() in _ARTICLE:
            start = article.start()
        return earlier[:start] + fragment + earlier[place + len(topics[0]) :]
    return f"{earlier} {fragment}?"


def _belongs(text: str, word: re.Match[str], following: re.Match[str]) -> bool:
    """Whether a word goes with the one behind it: an adjective, or the article before both."""
    if text[word.end() : following.start()].strip():
        return False
    small = word.group().lower()
    if following.group().lower() in _ARTICLE:
        return False
    return small in _ARTICLE or small not in _SMALL
