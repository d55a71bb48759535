"""Fit what a further statement of an answer must be like: `python -m benchmarks.judge.further`.

Of the written questions that no reader was taught with, every statement that answers is known. Of what was read for
them (kept by `python -m benchmarks.judge.read` in `--cache`), each of the statements that rank next to the best one is
an example. Writes `src/kedge/answer/compose/data/further.json`, and prints how well statements are told apart that lie
in collections not fitted on.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from benchmarks.asked.windows import letters
from benchmarks.judge.asked import Gathered
from benchmarks.judge.fit import Array, auroc, calibration_error, fit
from benchmarks.judge.written import OPENING
from kedge.answer.compose.choose import between, repeats
from kedge.answer.compose.further import EARNED, signs
from kedge.answer.compose.worth import worth
from kedge.answer.evidence import ReadEvidence, Stated, read_evidence
from kedge.text.form import ShapeKind

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "src/kedge/answer/compose/data/further.json"
NEXT = 12
"""So many statements behind the best one are examples."""
PRIOR = 5.0
FORMS: tuple[ShapeKind, ...] = get_args(ShapeKind)


@dataclass(frozen=True, slots=True)
class Example:
    """A statement beside the best one."""

    group: str
    known: dict[str, float]
    answers: bool


def examples(found: Sequence[Gathered]) -> Iterator[Example]:
    """Of each question that is answered by what was read, the statements that rank next to the best one."""
    for one in found:
        evidence = read_evidence(one.question, one.hits, one.read)
        wanted = [letters(text)[:OPENING] for own in (one.known.evidence, *one.known.also) for text in own.statements]
        if not one.answerable or not any(_is_one_of(stated, evidence, wanted) for stated in evidence.stated):
            continue
        form = one.form.kind
        ranked = sorted(evidence.stated, key=lambda stated: -worth(stated, form))
        for other in ranked[1 : NEXT + 1]:
            if not repeats(other, ranked[0]):
                known = signs(other, ranked[0], form, between(other, ranked[0], evidence))
                yield Example(one.group, known, _is_one_of(other, evidence, wanted))


def _is_one_of(stated: Stated, evidence: ReadEvidence, wanted: Sequence[str]) -> bool:
    own = letters(evidence.passages[stated.passage].text[stated.statement.start : stated.statement.end])
    return any(text in own for text in wanted)


def held_out(groups: Sequence[str], values: Array, labels: Array, names: Sequence[str]) -> Array:
    """The probability of each example by weights that have not seen its collection."""
    own, scores = np.array(groups), np.zeros(len(labels))
    for group in sorted(set(groups)):
        test = own == group
        model = fit(values[~test], labels[~test], np.ones(int((~test).sum())), names, l2=PRIOR, signs={})
        scores[test] = model(values[test])
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge.further", description=__doc__)
    parser.add_argument("--cache", type=Path, default=ROOT / ".bench-cache/judge", help="folder for what was read")
    given = parser.parse_args()
    found = list(examples(pickle.loads((given.cache / "read_written.pickle").read_bytes())))
    names = [*(name for name in found[0].known if ":" not in name), *(f"form:{form}" for form in FORMS)]
    values = np.array([[one.known.get(name, 0.0) for name in names] for one in found])
    labels = np.array([float(one.answers) for one in found])
    scores = held_out([one.group for one in found], values, labels, names)
    kept = scores >= EARNED
    figures = {
        "examples": len(found),
        "answer": round(float(labels.mean()), 4),
        "auroc": round(auroc(labels > 0, scores), 4),
        "ece": round(calibration_error(labels > 0, scores), 4),
        "kept": round(float(kept.mean()), 4),
        "kept_answer": round(float(labels[kept].mean()), 4),
    }
    weights = fit(values, labels, np.ones(len(labels)), names, l2=PRIOR, signs={}).as_json()
    content = {"made_by": "python -m benchmarks.judge.further", "weights": weights, "figures": figures}
    TARGET.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(content, indent=1))


if __name__ == "__main__":
    main()
