"""Changes that take the answer away: another name, word or condition in the question, another fact in the passage."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from benchmarks.reader.example import Example, Span
from benchmarks.reader.language import (
    MONTHS,
    NUMBER,
    STOP,
    WORD,
    YEAR,
    cased,
    ending,
    name_texts,
    names,
    put,
    sentences,
)
from benchmarks.reader.lexicon import Lexicon
from kedge.text.antonyms import OPPOSITES

Change: TypeAlias = Callable[[Random, Example, str], str | None]
"""A new question for an example, with names and words of another text; None where nothing can be changed."""

YEARS_IN_QUESTION = (-30, -20, -10, -5, -2, -1, 1, 2, 3, 5, 10, 20, 40, 100)
YEARS_IN_PASSAGE = (-20, -10, -3, -1, 1, 2, 7, 30)
DENIALS = {
    "did": ("didn't", "did not"), "was": ("wasn't", "was not"), "were": ("weren't", "were not"),
    "is": ("isn't", "is not"), "are": ("aren't", "are not"), "has": ("has not", "hasn't"), "have": ("have not",),
    "had": ("had not", "hadn't"), "does": ("doesn't",), "do": ("don't",), "can": ("can't", "cannot"),
    "could": ("could not", "couldn't"), "would": ("would not",), "will": ("will not", "won't"),
}  # fmt: skip


def spoilt(random: Random, lexicon: Lexicon, example: Example, other: str) -> Example | None:
    """An unanswerable example near an answerable one, or None; `other` is a text to take names and words from."""
    if random.random() < 0.4:
        question = other_word(random, lexicon, example)
        if question and question != example.question:
            return example.unanswered(question=question)
    if random.random() < 0.3:
        text = spoilt_passage(random, example, other)
        return None if text is None else example.unanswered(text=text)
    change = random.choices(list(CHANGES), list(CHANGES.values()))[0]
    question = change(random, example, other)
    return None if question is None or question == example.question else example.unanswered(question=question)


def other_word(random: Random, lexicon: Lexicon, example: Example) -> str | None:
    """A word of the question gives way to its opposite or a sibling: no longer what the passage says."""
    options: list[tuple[Span, str]] = []
    text, answer = example.text.lower(), example.answer.lower()
    for match in WORD.finditer(example.question):
        word = match.group()
        if not word.islower() or word in STOP or len(word) < 4:
            continue
        for opposite in lexicon.variants(word, "opposites"):
            options += [(match.span(), opposite)] * 3
        siblings = lexicon.variants(word, "siblings")
        inside = [sibling for sibling in siblings if sibling in text and sibling not in answer]
        chosen = inside * 2 or random.sample(siblings, min(3, len(siblings)))
        options += [(match.span(), sibling) for sibling in chosen]
    if not options:
        return None
    span, new = random.choice(options)
    return put(example.question, span, new)


def swapped(random: Random, example: Example, other: str) -> str | None:
    """Another year, name or number."""
    swaps: tuple[Change, ...] = (_other_year, _other_name, _other_number)
    options = [question for swap in swaps if (question := swap(random, example, other)) is not None]
    return random.choice(options) if options else None


def _other_year(random: Random, example: Example, _other: str) -> str | None:
    years = list(YEAR.finditer(example.question))
    if not years:
        return None
    match = random.choice(years)
    pool = [year for year in YEAR.findall(example.text) if year != match.group()]
    near = pool and random.random() < 0.6
    year = random.choice(pool) if near else str(int(match.group()) + random.choice(YEARS_IN_QUESTION))
    return put(example.question, match.span(), year)


def _other_name(random: Random, example: Example, other: str) -> str | None:
    spans = names(example.question)
    if not spans:
        return None
    span = random.choice(spans)
    old = example.question[span[0] : span[1]]
    low, answer = old.lower(), example.answer.lower()
    pool = name_texts(example.text)
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
    return put(example.question, span, random.choice(pool)) if pool else None


def _other_number(random: Random, example: Example, _other: str) -> str | None:
    numbers = [match for match in NUMBER.finditer(example.question) if not YEAR.fullmatch(match.group())]
    if not numbers or random.random() >= 0.5:
        return None
    match = random.choice(numbers)
    pool = [new for new in NUMBER.findall(example.text) if new != match.group() and new not in example.answer]
    return put(example.question, match.span(), random.choice(pool)) if pool else None


def opposed(random: Random, example: Example, _other: str) -> str | None:
    """A word gives way to one of Kedge's own pairs of opposites."""
    options = [
        put(example.question, match.span(), cased(opposite, match.group()))
        for match in WORD.finditer(example.question)
        for opposite in sorted(OPPOSITES.get(match.group().lower(), ()))
    ]
    return random.choice(options) if options else None


def denied(random: Random, example: Example, _other: str) -> str | None:
    """The first auxiliary verb is denied."""
    for match in WORD.finditer(example.question):
        denials = DENIALS.get(match.group().lower())
        if denials:
            return put(example.question, match.span(), cased(random.choice(denials), match.group()))
    return None


def reworded(random: Random, example: Example, other: str) -> str | None:
    """A content word gives way to another of the passage, or of another one."""
    question, answer = example.question, example.answer.lower()
    words = [
        match
        for match in WORD.finditer(question)
        if match.start() > 0 and match.group().islower() and match.group() not in STOP and len(match.group()) > 3
    ]
    if not words:
        return None
    match = random.choice(words)
    old = match.group()
    pool = _content(example.text if random.random() < 0.6 else other)
    pool = [word for word in pool if word[:4] != old[:4] and word not in question.lower() and word not in answer]
    alike = [word for word in pool if ending(word) == ending(old)]
    pool = alike or (pool if random.random() < 0.3 else [])
    return put(question, match.span(), random.choice(pool)) if pool else None


def conditioned(random: Random, example: Example, other: str) -> str | None:
    """A condition more, which the passage does not give."""
    foreign = [name for name in name_texts(other) if name.lower() not in example.text.lower()]
    years = [year for year in YEAR.findall(other) if year not in example.text]
    body = example.question.rstrip("? .")
    options: list[str] = []
    if foreign:
        link = random.choice(["in", "of", "with", "from", "during", "according to"])
        options.append(f"{body} {link} {random.choice(foreign)}?")
    if years:
        options.append(f"{body} {random.choice(['in', 'after', 'before'])} {random.choice(years)}?")
    return random.choice(options) if options else None


CHANGES: dict[Change, float] = {swapped: 5, opposed: 2, denied: 0.7, reworded: 4, conditioned: 1}
"""How to change a question, and how often."""


def spoilt_passage(random: Random, example: Example, other: str) -> str | None:
    """The passage without the answer's sentence, or with something else where that sentence says what is asked."""
    text, span = example.text, example.span
    if span is None:
        raise ValueError("Only the passage of an example with an answer can be spoilt.")
    home = next(((start, end) for start, end in sentences(text) if start <= span[0] < end), None)
    if home is None:
        return None
    sentence = text[home[0] : home[1]]
    if random.random() < 0.25:
        left = (text[: home[0]] + text[home[1] :]).strip()
        return left if example.answer.lower() not in left.lower() and len(left) > 60 else None
    keys = _shared(example, sentence)
    if not keys:
        return None
    key = random.choice(keys)
    new = _instead(random, sentence[key[0] : key[1]], other)
    if new is None:
        return None
    if sentence[key[0]].isupper():
        name = next(((start, end) for start, end in names(sentence) if start <= key[0] < end), key)
        if home[0] + name[0] >= span[1] or home[0] + name[1] <= span[0]:  # the answer stays
            key = name
    return text[: home[0]] + put(sentence, key, new) + text[home[1] :]


def _instead(random: Random, old: str, other: str) -> str | None:
    """Another year, name or word for one that the question asks by."""
    if YEAR.fullmatch(old):
        return str(int(old) + random.choice(YEARS_IN_PASSAGE))
    if old[0].isupper():
        pool = [name for name in name_texts(other) if old not in name]
    else:
        opposites = sorted(OPPOSITES.get(old.lower(), ()))
        if opposites and random.random() < 0.5:
            return random.choice(opposites)
        pool = [word for word in _content(other) if ending(word) == ending(old) and word[:4] != old[:4]]
    return random.choice(pool) if pool else None


def _shared(example: Example, sentence: str) -> list[Span]:
    """What the sentence has in common with the question, outside the answer; years count three times."""
    stems = {word.lower()[:5] for word in WORD.findall(example.question)}
    years = [
        match.span()
        for match in YEAR.finditer(sentence)
        if match.group() in example.question and match.group() not in example.answer
    ]
    words = [
        match.span()
        for match in WORD.finditer(sentence)
        if match.group().lower() not in STOP
        and len(match.group()) > 3
        and match.group().lower()[:5] in stems
        and match.group() not in example.answer
    ]
    return years * 3 + words


def _content(text: str) -> list[str]:
    """Each plain word of a text once."""
    return [word for word in dict.fromkeys(WORD.findall(text)) if word.islower() and word not in STOP and len(word) > 3]
