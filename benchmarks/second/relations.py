"""One-step questions about what the first sentences of encyclopedia articles say: who directed, where born.

Each comes with its answer and in the form of a noun phrase ("the director of Ed Wood"), so that `chains` can put it
into another question. The wordings are many on purpose: what learns from them shall not learn one grammar.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.second.chains import Paragraph, Part


@dataclass(frozen=True, slots=True)
class Relation:
    """How a relation is stated, asked for and named; `{}` stands for what it is about."""

    stated: re.Pattern[str]
    asked: tuple[str, ...]
    named: tuple[str, ...]


def _read() -> tuple[Relation, ...]:
    held = tomllib.loads((Path(__file__).parent / "relations.toml").read_text("utf-8"))
    found = []
    for row in held["relations"]:
        pattern = row["stated"]
        for name, part in held["patterns"].items():
            pattern = pattern.replace(f"<{name}>", part)
        found.append(Relation(re.compile(pattern), tuple(row["asked"]), tuple(row["named"])))
    return tuple(found)


RELATIONS = _read()
_QUALIFIED = re.compile(r" \([^)]*\)$")
_COMPARED = {
    "(born": (
        "Who was born first, {} or {}?",
        "Who is older, {} or {}?",
        "Who was born later, {} or {}?",
        "Which person is younger, {} or {}?",
    ),
    "released": (
        "Which came out first, {} or {}?",
        "Which was released earlier, {} or {}?",
        "Which is more recent, {} or {}?",
    ),
    "founded": ("Which was founded first, {} or {}?", "Which is older, {} or {}?", "Was {} or {} established earlier?"),
}


def label_of(title: str) -> str:
    """A title as it is named in a sentence."""
    return _QUALIFIED.sub("", title)


def stated_in(passages: Sequence[Paragraph], shuffled: random.Random) -> Iterator[tuple[int, Part]]:
    """The number of the relation and its question, for each that an article states in its first 600 characters."""
    for one in passages:
        label = label_of(one.title)
        if len(label) < 3 or len(label.split()) > 8 or not label[0].isalnum() or label.startswith("List of "):
            continue
        opening = one.text[:600]
        for number, relation in enumerate(RELATIONS):
            match = relation.stated.search(opening)
            if match is None:
                continue
            answer = match.group(1).strip(" .,'’").removesuffix("'s")
            if len(answer) < 3 or answer.lower() in label.lower() or label.lower() in answer.lower():
                continue
            asked = shuffled.choice(relation.asked).format(label)
            named = shuffled.choice(relation.named).format(label) if relation.named else ""
            yield number, Part(asked, answer, (one.key,), (), named, (label,))


def compared(parts: Sequence[tuple[int, Part]], most: int, shuffled: random.Random) -> list[Part]:
    """Questions which of two is earlier, of the two or of what stands in a relation to them: two or four passages."""
    dated: dict[str, dict[str, Part]] = defaultdict(dict)
    led: dict[int, list[Part]] = defaultdict(list)
    for number, part in parts:
        asked = RELATIONS[number].asked[0]
        kind = {
            "When was {} born?": "(born",
            "When was {} released?": "released",
            "When was {} founded?": "founded",
        }.get(asked)
        if kind:
            dated[kind][part.names[0]] = part
        elif part.phrase:
            led[number].append(part)
    found: list[Part] = []
    for kind, wordings in _COMPARED.items():
        here = sorted(dated[kind])
        for _ in range(most // 6 if len(here) > 1 else 0):
            one, other = shuffled.sample(here, 2)
            both = (*dated[kind][one].gold, *dated[kind][other].gold)
            found.append(Part(shuffled.choice(wordings).format(one, other), one, both))
        if not here:
            continue
        for number in sorted(led):
            ending = [
                part
                for part in led[number]
                if part.answer in dated[kind] and dated[kind][part.answer].gold != part.gold
            ]
            for _ in range(min(most // 12, len(ending) // 2)):
                first, second = shuffled.sample(ending, 2)
                if first.answer == second.answer:
                    continue
                gold = dict.fromkeys(
                    (*first.gold, *dated[kind][first.answer].gold, *second.gold, *dated[kind][second.answer].gold)
                )
                text = shuffled.choice(wordings).format(first.phrase, second.phrase)
                found.append(Part(text, first.answer, tuple(gold), (first.answer, second.answer)))
    shuffled.shuffle(found)
    return found[:most]
