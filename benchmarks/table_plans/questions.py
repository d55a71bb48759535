"""WikiTableQuestions as it lies in the open data: questions with answers, and their tables."""

from __future__ import annotations

import csv
import io
import random
import tarfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

HELD_OUT = 0.2
"""Share of the tables that training never sees."""
SEED = 7


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """A question that a person wrote, and the answer."""

    id: str
    text: str
    answer: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionedTable:
    """A table with all questions over it."""

    path: str
    names: list[str]
    rows: list[list[str]]
    questions: tuple[TableQuestion, ...]


def read_questions(archive: Path) -> list[QuestionedTable]:
    """Every table of the archive with its questions, in order of their paths."""
    asked: dict[str, list[TableQuestion]] = defaultdict(list)
    with tarfile.open(archive) as opened:
        texts = {member.name: opened.extractfile(member) for member in opened.getmembers() if member.isfile()}
        found = {name.removeprefix("./"): file.read().decode("utf-8") for name, file in texts.items() if file}
    for line in found["training.tsv"].split("\n")[1:]:
        if line.strip():
            id_, text, path, answer = line.split("\t")
            asked[path].append(TableQuestion(id_, _plain(text), tuple(_plain(part) for part in answer.split("|"))))
    return [_table(path, found[path], asked[path]) for path in sorted(asked)]


def _plain(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\p", "|").replace("\\\\", "\\")


def _table(path: str, text: str, questions: list[TableQuestion]) -> QuestionedTable:
    rows = list(csv.reader(io.StringIO(text, newline=""), doublequote=False, escapechar="\\"))
    return QuestionedTable(path, rows[0], [row for row in rows[1:] if any(row)], tuple(questions))


def held_out(tables: list[QuestionedTable]) -> set[str]:
    """Paths of the tables that are kept out of training."""
    paths = sorted(table.path for table in tables)
    random.Random(SEED).shuffle(paths)
    return set(paths[: int(len(paths) * HELD_OUT)])
