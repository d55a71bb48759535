"""Questions made of one sentence whose answer is taken out: plainer than `statements`, and possible more often."""

from __future__ import annotations

import re
from random import Random
from typing import Literal, TypeAlias

from benchmarks.reader.example import Example, Span
from benchmarks.reader.language import NUMBER, STOP, WORD, YEAR, names, put, sentences

Kind: TypeAlias = Literal["year", "name", "number", "word"]
COMMA = re.compile(r"(?<=,)\s+")


def cloze(random: Random, title: str, text: str) -> Example | None:
    """A year, name, number or word of one sentence is asked for; None where there is nothing to ask."""
    spans = [(start, end) for start, end in sentences(text) if 40 < end - start < 260]
    if not spans:
        return None
    at, end = random.choice(spans)
    sentence = text[at:end].rstrip(".!? ")
    gaps = _gaps(random, sentence, text)
    if not gaps:
        return None
    gap, kind = random.choice(gaps)
    asked = _asked(random, kind)
    question = _question(random, sentence, gap, asked)
    if not 20 <= len(question) <= 220:
        return None
    if random.random() < 0.6:
        question = _shortened(random, question, asked)
    return Example(question, title, text, True, (at + gap[0], at + gap[1]), "made")


def _gaps(random: Random, sentence: str, text: str) -> list[tuple[Span, Kind]]:
    gaps: list[tuple[Span, Kind]] = [(match.span(), "year") for match in YEAR.finditer(sentence)]
    for start, end in names(sentence):
        name = sentence[start:end]
        # a first word is a name if it has several words or stands with its capital elsewhere, too
        if start or " " in name or re.search(r"[a-z,] " + re.escape(name), text):
            gaps.append(((start, end), "name"))
    gaps += [(match.span(), "number") for match in NUMBER.finditer(sentence) if not YEAR.fullmatch(match.group())]
    if random.random() < 0.25:
        words = [
            match.span()
            for match in WORD.finditer(sentence)
            if match.group().islower() and len(match.group()) > 5 and match.group() not in STOP
        ]
        if words:
            gaps.append((random.choice(words), "word"))
    return gaps


def _asked(random: Random, kind: Kind) -> str:
    match kind:
        case "year":
            return "what year"
        case "number":
            return "how many"
        case "name":
            return random.choice(["who", "what", "which", "what name"])
        case "word":
            return "what"


def _question(random: Random, sentence: str, gap: Span, asked: str) -> str:
    """The asked words in the gap, or in front of the clauses around it."""
    start, end = gap
    if start == 0:
        return f"{asked.capitalize()}{sentence[end:]}?"
    before, behind = COMMA.split(sentence[:start]), COMMA.split(sentence[end:])
    before = before[max(0, len(before) - 1 - random.randint(0, 2)) :]
    behind = behind[: 1 + random.randint(0, 2)]
    left, right = " ".join(before).lstrip(" ,"), " ".join(behind).rstrip(" ,")
    front = random.random() < 0.5
    body = f"{asked} {(left + right).strip()}" if front else left + asked + right
    return body[0].upper() + body[1:] + "?"


def _shortened(random: Random, question: str, asked: str) -> str:
    """Up to three words fewer, never the asked ones."""
    words = [
        match
        for match in WORD.finditer(question)
        if match.start() > 0 and match.group().islower() and match.group() not in asked.split()
    ]
    dropped = random.sample(words, min(len(words), random.randint(0, 3)))
    for match in sorted(dropped, key=lambda match: -match.start()):
        question = put(question, match.span(), "")
    return re.sub(r"\s+", " ", question)
