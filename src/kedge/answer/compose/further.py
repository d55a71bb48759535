"""Whether a further statement earns its place in an answer: how probable it is that it answers too.

A logistic model over what is known of it and of the best one; its weights are data (`data/further.json`), made by
`python -m benchmarks.judge.further` from questions of which every statement that answers is known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from kedge.answer.compose.worth import is_torn, worth
from kedge.answer.evidence import Stated
from kedge.text.form import ShapeKind

EARNED = 0.12
"""Least probability of a further statement."""
LOWEST = -6.0
"""Log-odds below which the reader is no surer that it does not answer."""
SURE = 4.0
FAR = 9
"""Statements between two of one passage from which on it makes no difference how many there are."""
_POINTS_BACK = ("This ", "That ", "These ", "Those ", "It ", "They ")
_CODE = ("code", "formula")


def signs(one: Stated, best: Stated, form: ShapeKind, between: int) -> dict[str, float]:
    """What is known of a statement beside the best one; `between` them lie so many, `FAR` in another passage."""
    kind, read = one.statement.kind, one.statement.read
    return {
        "support": max(LOWEST, one.reading.support),
        "best_support": max(LOWEST, best.reading.support),
        "gap": worth(best, form) - worth(one, form),
        "about": min(one.about, SURE),
        "same_passage": float(one.passage == best.passage),
        "near": 1.0 / (1 + between),
        "same_lead": float(bool(one.statement.lead) and one.statement.lead == best.statement.lead),
        "shared": one.shared,
        "best_shared": best.shared,
        "headed": one.headed,
        "torn": float(is_torn(one)),
        "announces": float(read.rstrip().endswith((":", "："))),
        "item": float(kind == "item"),
        "row": float(kind == "row"),
        "code": float(kind in _CODE),
        "points_back": float(read.startswith(_POINTS_BACK)),
        f"form:{form}": 1.0,
    }


def earns(known: Mapping[str, float]) -> float:
    """The probability that a statement with these signs answers too."""
    weights = _weights()
    logit = weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in known.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


@cache
def _weights() -> Mapping[str, float]:
    data = json.loads(files("kedge.answer.compose").joinpath("data", "further.json").read_text(encoding="utf-8"))
    return {str(name): float(value) for name, value in data["weights"].items()}
