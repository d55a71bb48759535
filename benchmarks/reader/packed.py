"""Examples that are packed before training: written questions, readings of questions to tables, what sentences state.

asked.jsonl.xz     python -m benchmarks.asked --sources FOLDER --out asked.jsonl.xz
plans.jsonl.xz     python -m benchmarks.table_plans.worded --out plans.jsonl.xz
relations.jsonl.xz python -m benchmarks.relations.asked --out relations.jsonl.xz
relations-held.jsonl.xz  the same with --held-out
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.reader.example import UNKNOWN, Example, load, restyled

RESTYLED = 0.25


def asked(path: Path, random: Random, times: int) -> Iterator[Example]:
    """Windows that answer, and those that seem to, several times, now and then asked in another style."""
    for row in load(path):
        if not row.get("found"):
            for turn in range(times):
                yield _window(row, restyled(row["question"], random, RESTYLED if turn else 0.0))


def found(path: Path) -> Iterator[Example]:
    """Windows that were found beside them. Some may answer too."""
    for row in load(path):
        if row.get("found"):
            yield _window(row, row["question"])


def _window(row: dict[str, Any], question: str) -> Example:
    return Example(
        question,
        row["identity"],
        row["statements"],
        about=row["about"],
        trick=row["trick"],
        yes=row["yes"],
        span=(row["span"][0], row["span"][1], row["span"][2]) if row["span"] else None,
        support=set(row["support"]),
        support_known=True,
        source="asked",
    )


def plans(path: Path, random: Random) -> Iterator[Example]:
    """The likeliest readings of a question to a table, each with its value, in any order: which are right."""
    yield from (_in_any_order(row, random, "plans") for row in load(path))


def relations(path: Path, random: Random) -> Iterator[Example]:
    """What a sentence may state, each asked for by itself, or all at once in any order."""
    for row in load(path):
        if row["type"] == "relation":
            yield replace(_window(row, row["question"]), source="relations")
        else:
            yield _in_any_order(row, random, "relations")


def _in_any_order(row: dict[str, Any], random: Random, source: str) -> Example:
    order = list(range(len(row["statements"])))
    random.shuffle(order)
    return Example(
        row["question"],
        row["identity"],
        [row["statements"][at] for at in order],
        about=int(bool(row["support"])),
        trick=UNKNOWN,
        support={place for place, at in enumerate(order) if at in row["support"]},
        support_known=True,
        source=source,
    )
