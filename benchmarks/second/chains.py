"""Questions of two to four steps, made from chains of one-step questions that people wrote.

Where the answer of one SQuAD question is a name in another question about another passage, the name is replaced there
by the first question in the form of a noun phrase (`benchmarks.composed.noun_phrase`). The second question may be put
into a third in the same way, and a question with two names may have both replaced. Gold are the passages of all parts.
The articles of SQuAD 1.1's training part are split by a digest of their title: three quarters to train on, one to
judge with, so that no passage and no question is in both.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from benchmarks.composed import noun_phrase

PER_BRIDGE = 12
"""At most so many questions over one bridge, so that no name decides the figure."""
LONGEST = 70
"""Words that a made question has at most."""
BOTH = 0.4
"""How often both names of a question with two are replaced, where three or more steps are wanted."""
_NUMBER = re.compile(r"(?:January|February|March|April|May|June|July|August|September|October|November|December)\b|\d")
_AFTER = re.compile(
    r"\s*(?:$|[?,.;:)]|(?:in|of|to|is|was|are|were|did|do|does|and|or|from|by|on|at|for|with|have|has|had|that|which|who|"
    r"during|when|as|after|before|between|into|be|been|a|an|the|than|about|against|his|her|its|their|not|until)\b)"
)
_ASKS = re.compile(r"(?:what|which|who|whose|whom|where|(?:in|at|to|from|on|by|for) (?:what|which))\b", re.IGNORECASE)
_WORDINGS = {
    "the one who ": ("the one who ", "the person who ", "the man or woman who ", "whoever "),
    "the place where ": ("the place where ", "the location where ", "where "),
    "the time when ": ("the time when ", "the year when "),
}
_NAME = re.compile(r"[A-Z][\w'’.&-]*(?:\s+(?:(?:of|the|de|and|for|in|von|van|du|la)\s+){0,2}[A-Z0-9][\w'’.&-]*)*")


@dataclass(frozen=True, slots=True)
class Part:
    """A question of one step, or one made of several."""

    text: str
    answer: str
    gold: tuple[str, ...]
    """Passages of its steps, the last step's last."""
    bridges: tuple[str, ...] = ()
    phrase: str = ""
    """It as something that can stand in a sentence, where that is known."""
    names: tuple[str, ...] = ()
    """What it is about, where that is known."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A passage of the source."""

    key: str
    title: str
    text: str


def held_back(title: str) -> bool:
    """Whether an article is kept for judging."""
    return hashlib.sha256(title.encode()).digest()[0] % 4 == 0


def read(path: Path, held: bool) -> tuple[list[Paragraph], list[Part]]:
    """The passages and one-step questions of one side of the split."""
    passages: list[Paragraph] = []
    parts: list[Part] = []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            row = json.loads(line)
            if held_back(row["title"]) is not held:
                continue
            passages.append(Paragraph(f"q{number}", unquote(row["title"]).replace("_", " "), row["text"]))
            parts += [
                Part(one["text"].strip(), answer, (f"q{number}",))
                for one in row["questions"]
                if not one["unanswerable"]
                for answer in [Counter(text.strip() for _, text in one["answers"]).most_common(1)[0][0]]
            ]
    return passages, parts


def names(question: str) -> Iterator[str]:
    """Capitalised stretches of a question, but its first word, that stand as a noun: not "French" of a painter."""
    for match in _NAME.finditer(question, 1):
        name = match.group().removesuffix("'s").removesuffix("’s").rstrip(".")
        if name != match.group() or _AFTER.match(question, match.end()):
            yield name


class ChainMaker:
    """Puts one-step questions into each other."""

    def __init__(self, parts: Sequence[Part], seed: int) -> None:
        self._shuffled = random.Random(seed)
        self._used: Counter[str] = Counter()
        self._answered: dict[str, list[Part]] = defaultdict(list)
        for part in parts:
            named = len(part.answer) >= 4 and part.answer[0].isupper() and not _NUMBER.match(part.answer)
            if named and (part.phrase or _ASKS.match(part.text)):
                answer = part.answer.removeprefix("The ").removeprefix("the ")
                for name in dict.fromkeys((answer, answer.partition(",")[0])):
                    self._answered[name].append(part)
        self._linked: dict[str, list[tuple[Part, str]]] = defaultdict(list)
        for part in parts:
            for name in part.names or dict.fromkeys(names(part.text)):
                if name in self._answered:
                    self._linked[part.text].append((part, name))

    def made(self, steps: int, most: int) -> list[Part]:
        """At most so many questions, no last step and few bridges twice."""
        order = sorted(self._linked)
        self._shuffled.shuffle(order)
        found: list[Part] = []
        for text in order:
            if len(found) >= most:
                break
            one = self._grown(*self._shuffled.choice(self._linked[text]), steps - 1)
            if one is not None and len(one.text.split()) <= LONGEST:
                self._used.update(one.bridges)
                found.append(one)
        return found

    def _grown(self, part: Part, name: str, more: int) -> Part | None:
        """The question with the name replaced by one that asks for it, which itself takes `more` - 1 further steps."""
        if self._used[name] >= PER_BRIDGE or len(part.text.replace(name, "").split()) < 2:
            return None
        asking = [one for one in self._answered[name] if one.gold[0] not in part.gold]
        firsts = [one for one in asking if name.lower() not in one.text.lower()]
        self._shuffled.shuffle(firsts)
        for first in firsts[:8]:
            found = self._with(part, name, first, (*first.gold, *part.gold), (name,))
            if more > 1:
                other = [one for _, one in self._linked[part.text] if one not in name and name not in one]
                beside = other and self._shuffled.random() < BOTH
                further = (
                    self._beside(part, name, first, other, more) if beside else self._deeper(part, name, first, more)
                )
                if further is None:
                    continue
                found = further
            return found
        return None

    def _beside(self, part: Part, name: str, first: Part, other: Sequence[str], more: int) -> Part | None:
        """Both names of the question replaced."""
        grown = self._grown(part, self._shuffled.choice(other), more - 1)
        if grown is None or name not in grown.text or first.gold[0] in grown.gold:
            return None
        return self._with(grown, name, first, (*first.gold, *grown.gold), (*grown.bridges, name))

    def _deeper(self, part: Part, name: str, first: Part, more: int) -> Part | None:
        """A name replaced in the question that replaces the name."""
        deeper = self._linked.get(first.text, [])
        grown = self._grown(*self._shuffled.choice(deeper), more - 1) if deeper else None
        if grown is None or set(grown.gold) & set(part.gold):
            return None
        return self._with(part, name, grown, (*grown.gold, *part.gold), (*grown.bridges, name))

    def _with(self, part: Part, name: str, first: Part, gold: tuple[str, ...], bridges: tuple[str, ...]) -> Part:
        """The question with the name replaced by the other in the form of a noun phrase."""
        phrase = first.phrase or self._worded(noun_phrase(first.text))
        named = part.phrase.replace(name, phrase, 1) if name in part.phrase else ""
        return Part(part.text.replace(name, phrase, 1), part.answer, tuple(dict.fromkeys(gold)), bridges, named)

    def _worded(self, phrase: str) -> str:
        """The phrase, or another wording of it."""
        for start, others in _WORDINGS.items():
            if phrase.startswith(start):
                return self._shuffled.choice(others) + phrase.removeprefix(start)
        return phrase


def compose(parts: Sequence[Part], steps: int, most: int, seed: int = 7) -> list[Part]:
    """At most `most` questions of so many steps; the same for the same input."""
    return ChainMaker(parts, seed).made(steps, most)
