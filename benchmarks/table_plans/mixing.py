"""The last weighing: what the trees say beside what the reader says, learned on tables that neither has seen.

The reader was trained on the tables that the weights are learned from, so what it says of those is too good to learn
from. The tables kept out serve instead: the few trees that mix both are learned on four fifths of them and measured on
the last, five times; the file that ships has those of all five.
"""

from __future__ import annotations

import hashlib
import pickle
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.table_plans.second import Lines
from benchmarks.table_plans.trees import fit_trees
from kedge.answer.sheets.choice import Trees, beside_reader
from kedge.answer.sheets.lines import fitting
from kedge.answer.sheets.support import read_support
from kedge.models.carried.tokenizer import tokenizer_file
from kedge.models.read.reader import Reader

FOLDS = 5
COUNT, DEPTH = 200, 3
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mixable:
    """One question of a table kept out."""

    id: str
    path: str
    alone: Floats
    """The chances of its answers by the weights."""
    rows: Floats
    right: NDArray[np.bool_]


def read_all(lines: Sequence[Lines], trees: Trees, model: Path, kept: Path) -> list[Mixable]:
    """What both say of every question. What the reader said is kept in a file, by question and wording."""
    reader = Reader(model, Tokenizer.from_file(str(tokenizer_file())), 1)
    digest = digest_of(model)
    known: dict[object, Sequence[float]] = pickle.loads(kept.read_bytes()) if kept.exists() else {}
    out = []
    for one in lines:
        worded = one.question.lines()
        read = tuple(fitting([worded[int(best)] for best in one.best]))
        key = (digest, one.question.text, one.question.identity, read)
        if key not in known:
            known[key] = read_support(reader, one.question.text, one.question.identity, read)
        alone = trees(one.rows)
        out.append(Mixable(one.question.id, one.question.path, alone, beside_reader(alone, known[key]), one.right))
    kept.write_bytes(pickle.dumps(known))
    return out


def digest_of(model: Path) -> str:
    """By which a reader's weights are known."""
    return hashlib.sha256(model.read_bytes()).hexdigest()


def fit_mixed(questions: Sequence[Mixable]) -> Trees:
    """Few and flat: there are few lines to learn from."""
    rows = np.concatenate([one.rows for one in questions])
    return fit_trees(rows, np.concatenate([one.right for one in questions]), count=COUNT, depth=DEPTH, columns=1.0)


def mixed_out_of_fold(questions: Sequence[Mixable]) -> dict[str, Floats]:
    """The chances of each question's answers, by trees that have not seen its table."""
    paths = sorted({one.path for one in questions})
    random.Random(2).shuffle(paths)
    fold = {path: number % FOLDS for number, path in enumerate(paths)}
    out: dict[str, Floats] = {}
    for number in range(FOLDS):
        trees = fit_mixed([one for one in questions if fold[one.path] != number])
        out |= {one.id: (one.alone + trees(one.rows)) / 2 for one in questions if fold[one.path] == number}
    return out
