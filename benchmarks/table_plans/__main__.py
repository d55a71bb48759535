"""Learn to choose among readings of questions over small tables: `python -m benchmarks.table_plans`.

Reads `train/wikitablequestions.tar.xz` under KEDGE_BENCH_DATA (default ../shared/data), keeps every fifth table out,
learns the weights of the first two weighings from the others and of the last, which hears the reader too, on those kept
out, prints what they reach there, and writes `src/kedge/answer/sheets/data/readings.npz` and
`docs/images/table-calibration.svg`. `--all` learns the first two from every table instead, for the file that ships,
with the last weighing and the thresholds of the last measured run. What was enumerated is kept in `--cache`, so that a
second run saves most of the time.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.table_plans.enumerated import ROOT, add_options, enumerated
from benchmarks.table_plans.figures import Outcome, figures, reliability
from benchmarks.table_plans.fit import fit_weights, learn_vocabulary
from benchmarks.table_plans.mixing import Floats, Mixable, digest_of, fit_mixed, mixed_out_of_fold, read_all
from benchmarks.table_plans.plot import write_plot
from benchmarks.table_plans.prepare import Prepared
from benchmarks.table_plans.second import Lines, lines_of, out_of_fold, telling_words
from benchmarks.table_plans.trees import fit_trees
from kedge.answer.sheets.choice import Trees
from kedge.answer.sheets.model import FILE, ReadingModel, read_model, save_model
from kedge.models.carried.files import carried
from kedge.models.read.reader import FILE as READER

TARGET = ROOT / "src/kedge/answer/sheets/data" / FILE
PLOT = ROOT / "docs/images/table-calibration.svg"
PRECISION = 0.85
"""Of the sure ones, on tables that neither weighing has seen."""
SMALLEST = 0.02
"""Smaller weights do not ship."""
CHECKED = 0.25
"""Share of the lines that choose the threshold."""


def learn(questions: Sequence[Prepared], common: frozenset[str], before: ReadingModel | None) -> ReadingModel:
    """Two weighings; the threshold too where no model of before has one."""
    vocabulary = learn_vocabulary(questions)
    words = telling_words(questions, vocabulary)
    lines = out_of_fold(questions, words)
    if before is not None:
        sure = before.sure
    else:
        kept = sorted({one.question.path for one in lines})
        checked = set(kept[:: round(1 / CHECKED)])
        trees = _trees([one for one in lines if one.question.path not in checked])
        sure = threshold([_best(trees(one.rows), one) for one in lines if one.question.path in checked])
    weights = fit_weights(questions, vocabulary)
    model = ReadingModel(weights, vocabulary, common, words, _trees(lines), sure)
    return replace(model, mixed=before.mixed, sure_read=before.sure_read, reader=before.reader) if before else model


def _trees(lines: Sequence[Lines]) -> Trees:
    return fit_trees(np.concatenate([one.rows for one in lines]), np.concatenate([one.right for one in lines]))


def _best(chances: Floats, one: Lines | Mixable) -> tuple[float, bool]:
    """The chance of the likeliest answer, and whether it is right."""
    return float(chances.max()), bool(one.right[chances.argmax()])


def threshold(best: Sequence[tuple[float, bool]]) -> float:
    """The lowest chance from which on the precision is reached."""
    ordered = sorted(best, reverse=True)
    share = np.cumsum([right for _, right in ordered]) / np.arange(1, len(ordered) + 1)
    reached = np.flatnonzero(share >= PRECISION)
    return ordered[int(reached[-1])][0] if len(reached) else 1.0


def outcomes(questions: Sequence[Prepared], told: dict[str, tuple[float, bool]]) -> list[Outcome]:
    """What came of every question: the chance of the likeliest answer and whether it is right."""
    return [Outcome(one.id, one.text, *told.get(one.id, (0.0, False)), one.reachable, one.ms) for one in questions]


def report(name: str, measured: Sequence[Outcome], sure: float) -> None:
    """The figures of one way to choose."""
    print(name)
    print(json.dumps(figures(measured, sure), indent=1))
    print("chance told, share right, questions")
    for chance, right, count in reliability(measured):
        print(f"{chance:.3f} {right:.3f} {count}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--reader", type=Path, help="weights of the reader; default: those that Kedge carries")
    parser.add_argument("--all", action="store_true", help="learn from every table, and measure nothing")
    parser.add_argument(
        "--again", action="store_true", help="take the first two weighings as the last run learned them"
    )
    parser.add_argument("--dry-run", action="store_true", help="print, but write nothing")
    options = parser.parse_args()
    made = enumerated(options)
    if options.all:
        size = save_model(TARGET, learn(made.questions, made.common, read_model(TARGET)), SMALLEST)
        print(f"{TARGET.name}: {size:,} bytes", file=sys.stderr)
        return
    learned = options.cache.with_suffix(".npz")
    if not (options.again and learned.exists()):
        seen = [one for one in made.questions if one.path not in made.held_out]
        save_model(learned, learn(seen, made.common, None), SMALLEST)
    model = read_model(learned)  # measured as it ships: pruned and in steps
    held = [one for one in made.questions if one.path in made.held_out]
    lines = lines_of(held, model.weights, model.vocabulary, model.words)
    alone = {one.question.id: _best(model.trees(one.rows), one) for one in lines}
    report("without the reader", outcomes(held, alone), model.sure)
    reader = options.reader or carried(READER)
    read = read_all(lines, model.trees, reader, options.cache.with_suffix(".read"))
    chances = mixed_out_of_fold(read)
    told = {one.id: _best(chances[one.id], one) for one in read}
    model = replace(model, mixed=fit_mixed(read), sure_read=threshold(list(told.values())), reader=digest_of(reader))
    measured = outcomes(held, told)
    report("with the reader", measured, model.sure_read)
    if not options.dry_run:
        print(f"{TARGET.name}: {save_model(TARGET, model, SMALLEST):,} bytes", file=sys.stderr)
        write_plot(PLOT, reliability(measured))


if __name__ == "__main__":
    main()
