"""Changes that take the answer away: another name, word or condition in the question."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from types import ModuleType
from typing import TypeAlias

from benchmarks.reader.language import MONTHS, NUMBER, STOP, WORD, YEAR, cased, ending, name_texts, names, put


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with the text that answers it."""

    question: str
    text: str
    answer: str
    """The words of the text that answer."""


Change: TypeAlias = Callable[[Random, AskedQuestion, str], str | None]
"""A new question, with names and words of another text; None where nothing can be changed."""

YEARS_IN_QUESTION = (-30, -20, -10, -5, -2, -1, 1, 2, 3, 5, 10, 20, 40, 100)
DENIALS = {
    "did": ("didn't", "did not"), "was": ("wasn't", "was not"), "were": ("weren't", "were not"),
    "is": ("isn't", "is not"), "are": ("aren't", "are not"), "has": ("has not", "hasn't"), "have": ("have not",),
    "had": ("had not", "hadn't"), "does": ("doesn't",), "do": ("don't",), "can": ("can't", "cannot"),
    "could": ("could not", "couldn't"), "would": ("would not",), "will": ("will not", "won't"),
}  # fmt: skip


def spoilt(random: Random, asked: AskedQuestion, other: str) -> str | None:
    """The question so that its text no longer answers it; None where nothing can be changed."""
    change = random.choices(list(CHANGES), list(CHANGES.values()))[0]
    question = change(random, asked, other)
    return None if question == asked.question else question


def swapped(random: Random, asked: AskedQuestion, other: str) -> str | None:
    """Another year, name or number."""
    swaps: tuple[Change, ...] = (_other_year, _other_name, _other_number)
    options = [question for swap in swaps if (question := swap(random, asked, other)) is not None]
    return random.choice(options) if options else None


def _other_year(random: Random, asked: AskedQuestion, _other: str) -> str | None:
    years = list(YEAR.finditer(asked.question))
    if not years:
        return None
    match = random.choice(years)
    pool = [year for year in YEAR.findall(asked.text) if year != match.group()]
    near = pool and random.random() < 0.6
    year = random.choice(pool) if near else str(int(match.group()) + random.choice(YEARS_IN_QUESTION))
    return put(asked.question, match.span(), year)


def _other_name(random: Random, asked: AskedQuestion, other: str) -> str | None:
    spans = names(asked.question)
    if not spans:
        return None
    span = random.choice(spans)
    old = asked.question[span[0] : span[1]]
    low, answer = old.lower(), asked.answer.lower()
    pool = name_texts(asked.text)
    if random.random() < 0.35 or not pool:
        pool += name_texts(other)
    pool = [
        name
        for name in pool
        if name.lower() not in low
        and low not in name.lower()
        and name.lower() not in answer
        and (name in MONTHS) == (old in MONTHS)
    ]
    return put(asked.question, span, random.choice(pool)) if pool else None


def _other_number(random: Random, asked: AskedQuestion, _other: str) -> str | None:
    numbers = [match for match in NUMBER.finditer(asked.question) if not YEAR.fullmatch(match.group())]
    if not numbers or random.random() >= 0.5:
        return None
    match = random.choice(numbers)
    pool = [new for new in NUMBER.findall(asked.text) if new != match.group() and new not in asked.answer]
    return put(asked.question, match.span(), random.choice(pool)) if pool else None


def opposed(random: Random, asked: AskedQuestion, _other: str) -> str | None:
    """A word gives way to one of Kedge's own pairs of opposites."""
    options = [
        put(asked.question, match.span(), cased(opposite, match.group()))
        for match in WORD.finditer(asked.question)
        for opposite in sorted(_opposites().get(match.group().lower(), ()))
    ]
    return random.choice(options) if options else None


@cache
def _opposites() -> Mapping[str, frozenset[str]]:
    """Kedge's own pairs of words that deny each other."""
    try:
        importlib.import_module("Stemmer")
    except ModuleNotFoundError:
        # Beside the pairs stands a function that stems, so their module asks for PyStemmer. Examples are made on
        # machines that have torch and little else, and the pairs need no stems: an empty module stands in there.
        sys.modules["Stemmer"] = ModuleType("Stemmer")
    return importlib.import_module("kedge.text.antonyms").OPPOSITES  # type: ignore[no-any-return]


def denied(random: Random, asked: AskedQuestion, _other: str) -> str | None:
    """The first auxiliary verb is denied."""
    for match in WORD.finditer(asked.question):
        denials = DENIALS.get(match.group().lower())
        if denials:
            return put(asked.question, match.span(), cased(random.choice(denials), match.group()))
    return None


def reworded(random: Random, asked: AskedQuestion, other: str) -> str | None:
    """A content word gives way to another of the passage, or of another one."""
    question, answer = asked.question, asked.answer.lower()
    words = [
        match
        for match in WORD.finditer(question)
        if match.start() > 0 and match.group().islower() and match.group() not in STOP and len(match.group()) > 3
    ]
    if not words:
        return None
    match = random.choice(words)
    old = match.group()
    pool = _content(asked.text if random.random() < 0.6 else other)
    pool = [word for word in pool if word[:4] != old[:4] and word not in question.lower() and word not in answer]
    alike = [word for word in pool if ending(word) == ending(old)]
    pool = alike or (pool if random.random() < 0.3 else [])
    return put(question, match.span(), random.choice(pool)) if pool else None


def conditioned(random: Random, asked: AskedQuestion, other: str) -> str | None:
    """A condition more, which the passage does not give."""
    foreign = [name for name in name_texts(other) if name.lower() not in asked.text.lower()]
    years = [year for year in YEAR.findall(other) if year not in asked.text]
    body = asked.question.rstrip("? .")
    options: list[str] = []
    if foreign:
        link = random.choice(["in", "of", "with", "from", "during", "according to"])
        options.append(f"{body} {link} {random.choice(foreign)}?")
    if years:
        options.append(f"{body} {random.choice(['in', 'after', 'before'])} {random.choice(years)}?")
    return random.choice(options) if options else None


CHANGES: dict[Change, float] = {swapped: 5, opposed: 2, denied: 0.7, reworded: 4, conditioned: 1}
"""How to change a question, and how often."""


def _content(text: str) -> list[str]:
    """Each plain word of a text once."""
    return [word for word in dict.fromkeys(WORD.findall(text)) if word.islower() and word not in STOP and len(word) > 3]
