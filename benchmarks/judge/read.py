"""Calibrate the judge of evidence that was read, on open data: `python -m benchmarks.judge.read`.

Reads what Kedge finds for the questions of several sets under KEDGE_BENCH_DATA, fits the weights of
`kedge.answer.judge.reading`, writes `src/kedge/answer/judge/data/judge_read.json` and `docs/images/reliability.svg`,
and prints what is reached on collections, articles and sets that the fitted weights have not seen. What was read is
kept in `--cache`; delete it after a change of what is found, cut or read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import numpy as np

from benchmarks.judge.asked import SETS, JudgedRow, gathered, rows_of
from benchmarks.judge.fit import Array, auroc, calibration_error, fit
from benchmarks.judge.reliability import write_reliability
from kedge.answer.judge.calibrated import THRESHOLD
from kedge.answer.judge.reading import FORM_GROUPS
from kedge.text.form import ShapeKind

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "src/kedge/answer/judge/data/judge_read.json"
PLOT = ROOT / "docs/images/reliability.svg"
SIGNS = {
    "support": 1, "support:other": 1, "sure": 1, "trick:fact": -1, "trick:number": -1,
    "trick:other": -1, "worth": 1, "fits": 1, "contradicts": -1, "names": 1, "first": 1, "row": 0,
}  # fmt: skip
"""Which way each may move the probability; 0: both. Behind a colon the group of forms that it counts for."""
FORMS: tuple[ShapeKind, ...] = get_args(ShapeKind)
NAMES = [*SIGNS, *(f"form:{form}" for form in FORMS)]
WEIGHTS = {
    ("real_questions", True): 650.0, ("real_questions", False): 250.0, ("real_questions", "removed"): 90.0,
    ("squad2", True): 400.0, ("squad2", False): 450.0, ("clapnq", True): 200.0, ("clapnq", False): 230.0,
    ("hotpotqa_train100", True): 80.0, ("hotpotqa_train100", "removed"): 40.0, ("real_questions", "other time"): 40.0,
    ("written", True): 900.0, ("written", False): 250.0,
}  # fmt: skip
"""What all answerable (True), unanswerable (False) and spoilt questions of one set weigh together; others nothing."""
PRIOR = 5.0
RIGHT = 0.25
"""What it counts that what would be answered is right, beside that what was read holds an answer at all."""


def part_of(row: JudgedRow) -> tuple[str, bool | str]:
    """What the row counts among."""
    return row.source, row.made or row.answerable


def columns(rows: Sequence[JudgedRow]) -> Array:
    """The signs of each row, by `NAMES`."""
    return np.array([[_value(row, name) for name in NAMES] for row in rows])


def _value(row: JudgedRow, name: str) -> float:
    sign, _, group = name.partition(":")
    if sign == "form":
        return float(row.form == group)
    value = float(asdict(row.signs)[sign])
    return value if group in ("", FORM_GROUPS.get(row.form, "other")) else 0.0


def held_out(rows: Sequence[JudgedRow], values: Array, labels: Array, weight: Array) -> Array:
    """The probability of each row by weights that have not seen its group."""
    groups = np.array([row.group for row in rows])
    scores = np.zeros(len(rows))
    for group in sorted(set(groups)):
        test = groups == group
        model = fit(values[~test], labels[~test], weight[~test], NAMES, l2=PRIOR, signs=SIGNS)
        scores[test] = model(values[test])
    return scores


def figures(rows: Sequence[JudgedRow], scores: Array) -> dict[str, Any]:
    """What is reached at the threshold, by set."""
    found: dict[str, Any] = {}
    for name in SETS:
        own = [at for at, row in enumerate(rows) if row.source == name and not row.made]
        said = scores[own] >= THRESHOLD
        answerable = np.array([rows[at].answerable for at in own])
        right = np.array([rows[at].right for at in own])
        entry = {
            "answered": said[answerable].mean(),
            "right": (said & right)[answerable].mean(),
            "wrong": (said & ~right)[answerable].mean(),
            "ece": calibration_error(np.array([rows[at].held for at in own]), scores[own]),
        }
        if not answerable.all():
            entry |= {"false_answers": said[~answerable].mean(), "auroc": auroc(answerable, scores[own])}
        found[name] = {key: round(float(value), 4) for key, value in entry.items()}
    return found


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge.read", description=__doc__)
    default = Path(os.environ.get("KEDGE_BENCH_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--cache", type=Path, default=ROOT / ".bench-cache/judge", help="folder for what was read")
    parser.add_argument("--sources", type=Path, help="documents of the written questions (benchmarks.asked.sources)")
    parser.add_argument("--home", type=Path, help="a home that holds the collections of the real questions")
    parser.add_argument("--dry-run", action="store_true", help="print, but write nothing")
    given = parser.parse_args()
    rows: list[JudgedRow] = []
    for name in SETS:
        rows += rows_of(name, await gathered(name, given.data, given.cache, given.home, given.sources), given.data)
    values = columns(rows)
    labels = np.array([(1 - RIGHT) * row.held + RIGHT * row.right for row in rows])
    parts = [part_of(row) for row in rows]
    weight = np.array([WEIGHTS.get(part, 0.0) / parts.count(part) for part in parts])
    weights = fit(values, labels, weight, NAMES, l2=PRIOR, signs=SIGNS).as_json()
    scores = held_out(rows, values, labels, weight)
    measured = figures(rows, scores)
    print(json.dumps({"weights": weights, "held_out": measured}, indent=1))
    asked = [at for at, row in enumerate(rows) if not row.made]
    curves = {form: [(float(scores[at]), rows[at].held) for at in asked if rows[at].form == form] for form in FORMS}
    for form, points in curves.items():
        error = calibration_error(np.array([held for _, held in points]), np.array([score for score, _ in points]))
        print(f"{form}: {len(points)} questions, calibration error {error:.3f}")
    if not given.dry_run:
        content = {"made_by": "python -m benchmarks.judge.read", "threshold": THRESHOLD, "weights": weights}
        TARGET.write_text(json.dumps({**content, "figures": measured}, indent=1) + "\n", encoding="utf-8")
        write_reliability(PLOT, curves)


if __name__ == "__main__":
    asyncio.run(main())
