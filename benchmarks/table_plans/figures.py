"""What is reported of held-out questions: right, sure, right among the sure, by type, and how well chances are kept."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

TENTHS = 10
_TYPES = (
    ("yes or no", r"^(is|was|were|did|do|does|has|have|had|are|can)\b"),
    (
        "sum or average",
        r"\b(average|mean)\b|\b(total|combined|sum|altogether|collectively)\b"
        r"(?! (number|amount) of \w+ (that|who|listed|on|in))",
    ),
    (
        "difference",
        r"difference|how (many|much) (\w+ )?(more|less|fewer|longer|older|higher)"
        r"|how (many|long) (years|days|months)?.*(between|after|before|passed)|how long",
    ),
    ("compare two", r"\b(who|which|what|where)\b.*\bor\b|\bor\b.*\b(who|which|what|where)\b"),
    ("count", r"how many|number of|times"),
    (
        "order",
        r"\b(before|after|next|previous|following|prior|preced\w+|above|below|right|first|last|top|bottom|final)\b",
    ),
    ("most or least", r"\b(most|least|more|less|fewest|best|worst|\w{2,}est)\b"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One held-out question."""

    id: str
    text: str
    chance: float
    right: bool
    reachable: bool
    """Whether some candidate was right."""
    ms: float


def type_of(text: str) -> str:
    """What kind of question it is, told from its words."""
    lower = text.lower().strip()
    return next((name for name, pattern in _TYPES if re.search(pattern, lower)), "look-up")


def figures(outcomes: Sequence[Outcome], sure: float) -> dict[str, object]:
    """All figures at one threshold."""
    right = np.array([one.right for one in outcomes])
    chance = np.array([one.chance for one in outcomes])
    certain = chance >= sure
    spent = [one.ms for one in outcomes]
    by_type: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_type[type_of(one.text)].append(one)
    return {
        "questions": len(outcomes),
        "some_reading_right": _share(np.array([one.reachable for one in outcomes])),
        "best_reading_right": _share(right),
        "threshold": round(sure, 3),
        "sure": _share(certain),
        "sure_and_right": _share(certain & right),
        "right_of_sure": _share(right[certain]),
        "by_type": {
            name: {
                "questions": len(many),
                "right": _share(np.array([one.right for one in many])),
                "reachable": _share(np.array([one.reachable for one in many])),
                "sure": _share(np.array([one.chance >= sure for one in many])),
            }
            for name, many in sorted(by_type.items())
        },
        "calibration_error": round(sum(abs(p - r) * n for p, r, n in reliability(outcomes)) / len(outcomes), 4),
        "enumeration_ms_p50": round(float(np.percentile(spent, 50)), 1),
        "enumeration_ms_p95": round(float(np.percentile(spent, 95)), 1),
    }


def reliability(outcomes: Sequence[Outcome]) -> list[tuple[float, float, int]]:
    """For each tenth of the chance: mean chance, share right, how many."""
    out = []
    for tenth in range(TENTHS):
        inside = [one for one in outcomes if tenth <= TENTHS * one.chance < tenth + 1 + (tenth == TENTHS - 1)]
        if inside:
            chance = sum(one.chance for one in inside) / len(inside)
            out.append((chance, sum(one.right for one in inside) / len(inside), len(inside)))
    return out


def _share(flags: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    return round(float(flags.mean()), 4) if len(flags) else 0.0
