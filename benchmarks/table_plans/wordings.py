"""What the reader learns to tell right readings of tables by: `python -m benchmarks.table_plans.wordings DIR`.

Writes `plans.jsonl.xz` (tables that training may see) and `plans_held.jsonl.xz` (those that `python -m
benchmarks.table_plans` keeps out) into DIR, one question a line: `id`, `question`, `identity` (what is told of the
table), `statements` (the best readings of the twelve likeliest answers, worded as in use, in no order) and `support`
(which of them give the right answer; none where no reading does). The likeliest answers are those by weights that have
not seen the table: each half of the tables is ranked by weights of the other, the tables kept out by both together.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.table_plans.enumerated import add_options, enumerated
from benchmarks.table_plans.fit import by_table, fit_without, learn_vocabulary
from benchmarks.table_plans.prepare import Prepared, with_grams
from kedge.answer.sheets.lines import MOST_READ, fitting
from kedge.answer.sheets.weigher import candidate_scores, feature_scores, shares

FOLDS, EPOCHS = 2, 2
"""Fewer than for the weights that ship: only the twelve likeliest are wanted, in no order."""
Weights = NDArray[np.float32]


def ranked_lines(one: Prepared, weights: Weights) -> tuple[list[str], list[bool]]:
    """The lines of the likeliest different answers, best first, and which are right."""
    if one.arrays is None:
        return [], []
    scores = candidate_scores(one.arrays, feature_scores(one.arrays, weights))
    answer_of = one.arrays.answer_of
    mass = np.bincount(answer_of, weights=shares(scores), minlength=one.arrays.answers)
    order = np.argsort(-scores, kind="stable")
    best = np.full(one.arrays.answers, -1)
    best[answer_of[order[::-1]]] = order[::-1]
    top = np.argsort(-mass, kind="stable")[:MOST_READ]
    lines = one.lines()
    read = fitting([lines[int(best[answer])] for answer in top])
    return list(read), [bool(one.right[answer]) for answer in top[: len(read)]]


def example(one: Prepared, weights: Weights) -> dict[str, object]:
    """One line of the file."""
    lines, right = ranked_lines(one, weights)
    order = list(range(len(lines)))
    random.Random(one.id).shuffle(order)
    return {
        "id": one.id,
        "question": one.text,
        "identity": one.identity,
        "statements": [lines[place] for place in order],
        "support": [new for new, place in enumerate(order) if right[place]],
    }


def examples(seen: Sequence[Prepared], held: Sequence[Prepared]) -> tuple[list[dict[str, object]], ...]:
    """Those of the tables that training may see, and those of the others."""
    vocabulary = learn_vocabulary(seen)
    known = with_grams(seen, vocabulary)
    folds = by_table(known, FOLDS)
    learned = fit_without(known, folds, vocabulary, epochs=EPOCHS)
    out = [example(one, learned[folds[one.path]]) for one in known]
    together = np.mean(learned, axis=0).astype(np.float32)
    return out, [example(one, together) for one in with_grams(held, vocabulary)]


def write(path: Path, lines: Iterable[dict[str, object]]) -> None:
    """One JSON a line, packed; whole or not at all."""
    partial = path.with_name(path.name + ".part")
    with lzma.open(partial, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    partial.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("into", type=Path)
    add_options(parser)
    options = parser.parse_args()
    made = enumerated(options)
    seen = [one for one in made.questions if one.path not in made.held_out]
    held = [one for one in made.questions if one.path in made.held_out]
    for name, lines in zip(("plans", "plans_held"), examples(seen, held), strict=True):
        write(options.into / f"{name}.jsonl.xz", lines)
        share = sum(bool(line["support"]) for line in lines) / len(lines)
        print(f"{name}: {len(lines)} questions, {share:.1%} with a right reading among those read", file=sys.stderr)


if __name__ == "__main__":
    main()
