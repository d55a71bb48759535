"""Learn to choose among readings of questions over small tables: `python -m benchmarks.table_plans`.

Reads `train/wikitablequestions.tar.xz` under KEDGE_BENCH_DATA (default ../shared/data), keeps every fifth table out,
learns the weights of both weighings from the others, prints what they reach on the tables kept out, and writes
`src/kedge/kinds/tables/readings/data/readings.npz` and `docs/images/table-calibration.svg`.
`--all` learns from every table instead, for the file that ships, with the threshold of the last measured run.
What was enumerated is kept in `--cache`, so that a second run saves most of the time.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.table_plans.figures import Outcome, figures, reliability
from benchmarks.table_plans.fit import fit_weights, learn_vocabulary
from benchmarks.table_plans.plot import write_plot
from benchmarks.table_plans.prepare import Prepared, common_words, prepare
from benchmarks.table_plans.questions import held_out, read_questions
from benchmarks.table_plans.second import Lines, lines_of, out_of_fold, telling_words
from benchmarks.table_plans.trees import fit_trees
from kedge.kinds.tables.readings.choice import Trees
from kedge.kinds.tables.readings.model import FILE, ReadingModel, read_model, save_model

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "src/kedge/kinds/tables/readings/data" / FILE
PLOT = ROOT / "docs/images/table-calibration.svg"
PRECISION = 0.86
"""Of the sure ones, on tables that neither weighing has seen: a little above what is asked for."""
SMALLEST = 0.02
"""Smaller weights do not ship."""
CHECKED = 0.25
"""Share of the lines that choose the threshold."""


def learn(questions: Sequence[Prepared], common: frozenset[str], sure: float | None) -> ReadingModel:
    """Both weighings; the threshold too where none is given."""
    vocabulary = learn_vocabulary(questions)
    words = telling_words(questions, vocabulary)
    lines = out_of_fold(questions, words)
    if sure is None:
        kept = sorted({one.question.path for one in lines})
        checked = set(kept[:: round(1 / CHECKED)])
        trees = _trees([one for one in lines if one.question.path not in checked])
        sure = threshold(trees, [one for one in lines if one.question.path in checked])
    return ReadingModel(fit_weights(questions, vocabulary), vocabulary, common, words, _trees(lines), sure)


def _trees(lines: Sequence[Lines]) -> Trees:
    return fit_trees(np.concatenate([one.rows for one in lines]), np.concatenate([one.right for one in lines]))


def threshold(trees: Trees, lines: Sequence[Lines]) -> float:
    """The lowest chance from which on the precision is reached."""
    best = [(float(chances.max()), bool(one.right[chances.argmax()])) for one in lines for chances in [trees(one.rows)]]
    best.sort(reverse=True)
    share = np.cumsum([right for _, right in best]) / np.arange(1, len(best) + 1)
    reached = np.flatnonzero(share >= PRECISION)
    return best[int(reached[-1])][0] if len(reached) else 1.0


def outcomes(model: ReadingModel, questions: Sequence[Prepared]) -> list[Outcome]:
    """What the model makes of every question."""
    found = {one.question.id: one for one in lines_of(questions, model.weights, model.vocabulary, model.words)}
    out = []
    for one in questions:
        lines = found.get(one.id)
        chances = model.trees(lines.rows) if lines else np.zeros(1)
        right = bool(lines.right[chances.argmax()]) if lines else False
        out.append(Outcome(one.id, one.text, float(chances.max()), right, one.reachable, one.ms))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("KEDGE_BENCH_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--cache", type=Path, default=ROOT / ".bench-cache/table_plans.pickle")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="learn from every table, and measure nothing")
    parser.add_argument("--dry-run", action="store_true", help="print, but write nothing")
    options = parser.parse_args()
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
    if options.all:
        model = learn(questions, common, read_model(TARGET).sure)
    else:
        model = learn([one for one in questions if one.path not in out], common, None)
    if not options.dry_run:
        size = save_model(TARGET, model, SMALLEST)
        print(f"{TARGET.name}: {size:,} bytes", file=sys.stderr)
        model = read_model(TARGET)  # measured as it ships: pruned and in steps
    if not options.all:
        measured = outcomes(model, [one for one in questions if one.path in out])
        print(json.dumps(figures(measured, model.sure), indent=1))
        print("chance told, share right, questions")
        for chance, right, count in reliability(measured):
            print(f"{chance:.3f} {right:.3f} {count}")
        if not options.dry_run:
            write_plot(PLOT, reliability(measured))


if __name__ == "__main__":
    main()
