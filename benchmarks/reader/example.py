"""What the reader is taught with: a question, what the document calls itself, statements, and what is known of them."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from kedge.text.sentences import sentences

UNKNOWN = -1
"""A label that an example does not have."""
_ASKS = re.compile(r"(what|who|where|when|which|how|why)\b", re.IGNORECASE)
_WHAT_IS = re.compile(r"what\s+(?:is|are|was|were)\s+(the\s+.*?)\??", re.IGNORECASE)
_LEAD_INS = (
    *("Tell me ", "Can you tell me ", "I would like to know ", "Do you know "),
    *("I need to know ", "Please say ", "Could you explain ", "We want to know "),
)
_ORDERS = ("Give me ", "Name ", "State ", "Show me ", "I need ")


@dataclass(slots=True)
class Example:
    """One question over one window of statements."""

    question: str
    identity: str
    statements: list[str]
    about: int = UNKNOWN
    """1: the statements answer; 0: they are about something else."""
    trick: int = UNKNOWN
    """1: they speak of all that is asked and do not say it; 0: they do."""
    yes: int = UNKNOWN
    """1: the answer is yes; 0: no."""
    span: tuple[int, int, int] | None = None
    """Statement, first and last character of the short answer."""
    support: set[int] = field(default_factory=set)
    """Statements that carry the answer."""
    support_known: bool = False
    source: str = ""


def load(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a packed JSONL file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def cut(text: str) -> list[tuple[int, int]]:
    """Sentences, each up to the beginning of the next."""
    starts = [start for start, _ in sentences(text)]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def restyled(question: str, random: Random, share: float) -> str:
    """A share of the questions as people type them: in small letters, without a question mark, as a request."""
    text = question.strip()
    if random.random() > share or not text:
        return question
    way = random.random()
    if way < 0.5:
        bare = text.rstrip("?").strip() if random.random() < 0.7 else text
        return bare.lower() if way < 0.35 else bare
    if not _ASKS.match(text):
        return text
    thing = _WHAT_IS.fullmatch(text)
    if thing and random.random() < 0.5:
        return random.choice(_ORDERS) + thing[1] + random.choice((".", ""))
    return random.choice(_LEAD_INS) + text[0].lower() + text[1:].rstrip("?") + random.choice(("?", ".", ""))
