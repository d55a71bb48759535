"""What the reader is trained on: squad2's questions and passages, texts to make questions of, pairs of SNLI."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.reader.example import Example, Span, Text

ASKED = "squad2"
TEXTS = ("2wikimultihop", "hotpotqa_train100")
"""Sets whose texts are read, never their questions."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of squad2."""

    id: str
    title: str
    text: str
    article: str


@dataclass(frozen=True, slots=True)
class Questions:
    """squad2: its questions, each on its own passage, and all passages."""

    ids: tuple[str, ...]
    examples: tuple[Example, ...]
    """In the order of `ids`; `place` is the index."""
    passages: tuple[Passage, ...]
    gold: tuple[int, ...]
    """Index of each question's own passage."""

    @property
    def articles(self) -> list[str]:
        return sorted({example.article for example in self.examples})


def read_questions(data: Path) -> Questions:
    """Read squad2 below `data`."""
    folder = data / ASKED
    passages = tuple(
        Passage(row["_id"], _plain(row["title"]), row["text"], row["title"]) for row in _rows(folder / "corpus.jsonl")
    )
    place = {passage.id: index for index, passage in enumerate(passages)}
    gold_of: dict[str, int] = {}
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        question, passage, *_ = line.split("\t")
        gold_of[question] = place[passage]
    rows = [row for row in _rows(folder / "queries.jsonl") if row["_id"] in gold_of]
    gold = tuple(gold_of[row["_id"]] for row in rows)
    examples = tuple(
        _example(row, passages[own], index) for index, (row, own) in enumerate(zip(rows, gold, strict=True))
    )
    return Questions(tuple(row["_id"] for row in rows), examples, passages, gold)


def _example(row: dict[str, Any], own: Passage, place: int) -> Example:
    answers: list[str] = row["answers"] or row["plausible_answers"]
    span: Span | None = None
    for answer in answers:
        at = own.text.find(answer)
        if at >= 0:
            span = (at, at + len(answer))
            break
    return Example(row["text"], own.title, own.text, not row["unanswerable"], span, own.article, place)


def read_texts(data: Path) -> list[Text]:
    """Titles and texts to make questions of."""
    return [Text(_plain(row["title"]), row["text"]) for name in TEXTS for row in _rows(data / name / "corpus.jsonl")]


def read_snli(path: Path) -> list[Example]:
    """Pairs of SNLI: a sentence stands for the question, what it follows from for the passage."""
    return [
        Example(row["sentence2"], "", row["sentence1"], row["gold_label"] == "entailment")
        for row in _rows(path)
        if row["gold_label"] in ("entailment", "neutral", "contradiction")
    ]


def _plain(title: str) -> str:
    return title.replace("_", " ")


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
