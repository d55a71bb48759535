"""All questions with their readings: made once, then kept in a file."""

from __future__ import annotations

import argparse
import os
import pickle
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table_plans.prepare import Prepared, common_words, prepare
from benchmarks.table_plans.questions import held_out, read_questions

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class EnumeratedQuestions:
    """Every question of the open data."""

    common: frozenset[str]
    """Words that many questions have."""
    questions: list[Prepared]
    held_out: set[str]
    """Paths of the tables that training never sees."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where the data lie, where what was made of them is kept, and how many processes make it."""
    default = Path(os.environ.get("KEDGE_BENCH_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--cache", type=Path, default=ROOT / ".bench-cache/table_plans.pickle")
    parser.add_argument("--processes", type=int, default=2)


def enumerated(options: argparse.Namespace) -> EnumeratedQuestions:
    """From the cache where there is one; it is not checked against the code that made it."""
    tables = read_questions(options.data / "train/wikitablequestions.tar.xz")
    out = held_out(tables)
    if options.cache.exists():
        with options.cache.open("rb") as file:
            common, questions = pickle.load(file)
    else:
        common = common_words([table for table in tables if table.path not in out])
        questions = prepare(tables, common, options.processes)
        options.cache.parent.mkdir(parents=True, exist_ok=True)
        with options.cache.open("wb") as file:
            pickle.dump((common, questions), file, protocol=5)
    print(f"{len(questions)} questions over {len(tables)} tables, {len(out)} of them kept out", file=sys.stderr)
    return EnumeratedQuestions(common, questions, out)
