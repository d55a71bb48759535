"""Whether an answer is right, by expressions: the rule of the real questions, over the set that lies here."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILES = HERE / "files"
FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL
VERDICTS = ("right", "wrong", "refused")
_MARKS = re.compile(r"[*`]+")


def questions() -> list[dict[str, Any]]:
    """All questions: 60 that the notes answer, 12 that they do not."""
    return [json.loads(line) for line in (HERE / "questions.jsonl").read_text("utf-8").splitlines()]


def is_right(question: Mapping[str, Any], text: str) -> bool:
    """Any of `gold` and all of `must` are found in the text, Markdown's marks left out."""
    text = _MARKS.sub("", text)
    gold = any(re.search(one, text, FLAGS) for one in question["gold"])
    return gold and all(re.search(one, text, FLAGS) for one in question.get("must", ()))


def verdict(question: Mapping[str, Any], answer: Mapping[str, Any], *, short: bool = False) -> str:
    """`right`, `wrong` or `refused`; where the notes say nothing, a refusal is right."""
    if question["unanswerable"]:
        return "right" if answer["refused"] else "wrong"
    if answer["refused"]:
        return "refused"
    parts = [answer["short_answer"] or "", "" if short else answer["answer"]]
    return "right" if is_right(question, "\n".join(parts)) else "wrong"


def report(judged: Iterable[tuple[Mapping[str, Any], str]]) -> str:
    """A row for each type, one for all that can be answered, and one for the rest."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for question, said in judged:
        counts[question["type"]][said] += 1
    unanswerable = counts.pop("unanswerable", Counter())
    rows = [(name, counts[name]) for name in sorted(counts)]
    rows += [("all answerable", sum(counts.values(), Counter())), ("unanswerable", unanswerable)]
    head = f"{'':<16}{'n':>5}" + "".join(f"{name:>9}" for name in VERDICTS)
    return "\n".join([head, *(_row(name, counted) for name, counted in rows)])


def _row(name: str, counted: Counter[str]) -> str:
    return f"{name:<16}{counted.total():>5}" + "".join(f"{counted[one]:>9}" for one in VERDICTS)
