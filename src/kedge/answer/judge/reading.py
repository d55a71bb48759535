"""The judge of evidence that was read: how probable it is that it answers the question.

It looks at the statement that would be answered with: how sure the reader is of it and of its passage, whether it
smells a trick, whether the time fits and the names are there. A logistic model over these signs gives the probability;
its weights are data (`data/judge_read.json`), made by `python -m benchmarks.judge.read` from open sets.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files

from kedge.answer.compose.choose import Choice
from kedge.answer.compose.worth import worth
from kedge.answer.evidence import ReadEvidence
from kedge.text.analyze import terms
from kedge.text.evidence import TermMatcher
from kedge.text.form import ShapeKind
from kedge.text.question import Question

CERTAIN = 6.0
"""Log-odds beyond which the reader is no surer."""
SPREAD = 3.0
"""What of a statement's worth makes a difference."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What the judge goes by; every value lies in [0, 1]."""

    support: float
    """The reader's opinion of the best statement."""
    sure: float
    """Its opinion of the passage that the statement comes from, less where it smells a trick."""
    trick: float
    """That the passage speaks of all that is asked and does not say it."""
    worth: float
    """How the statement ranked, beside others: reader, place, time and words together."""
    fits: float
    """How well the time agrees that is asked for."""
    contradicts: float
    """How much it contradicts it."""
    names: float
    """Share of the question's names and numbers in the passage of the best statement and its heading; 1 without any."""
    first: float
    """1 where the best statement comes from the first passage, less further down."""
    row: float
    """1 where it is a row of a table."""


NO_SHARE = 0.5
"""Highest probability of an answer that tells an amount where a share is asked for."""
_ASKS_SHARE = re.compile(r"\b(?:percent(?:age)?|per\s?cent|share|proportion|fraction)\s+of\b", re.IGNORECASE)
_TELLS_SHARE = re.compile(
    r"%|\b(?:per\s?cent|percentage|shares?|rates?|ratio|proportion|fraction|half|thirds?|quarters?|fifths?|most|majority|all|"
    r"none|every|out\s+of|in\s+(?:ten|a\s+hundred))\b|\b[01]?\.\d",
    re.IGNORECASE,
)


def tells_share(question: str, choice: Choice) -> bool:
    """Whether the statement to answer with may tell a share; true where none is asked for."""
    if not _ASKS_SHARE.search(question):
        return True
    statement = choice.first.statement
    return _TELLS_SHARE.search(f"{statement.read} {statement.caption}") is not None


FORM_GROUPS: dict[ShapeKind, str] = {"fact": "fact", "number": "number"}
"""Forms for which a sign may weigh differently; all others are `other`."""


def signs_of(question: Question, choice: Choice, evidence: ReadEvidence, form: ShapeKind) -> Signs:
    """Measure what would be answered, and the passage that it comes from."""
    best = choice.first
    found = terms(f"{evidence.headings[best.passage]}\n{evidence.passages[best.passage].text}")
    here = TermMatcher.of(question, found).matched(found)
    trick = opinion(best.trick)
    return Signs(
        support=opinion(best.reading.support),
        sure=opinion(best.about) * (1 - trick),
        trick=trick,
        worth=1.0 / (1.0 + math.exp(-worth(best, form) / SPREAD)),
        fits=max(0.0, best.agreement),
        contradicts=max(0.0, -best.agreement),
        names=len(question.names & here) / len(question.names) if question.names else 1.0,
        first=1.0 / (1 + best.passage),
        row=float(best.statement.kind == "row"),
    )


@dataclass(frozen=True, slots=True)
class ReadJudge:
    """A logistic model over the signs."""

    weights: Mapping[str, float]
    """By a sign (`support`), a sign for a group of forms (`trick:fact`), a form (`form:how`); and `bias`."""

    def probability(self, signs: Signs, form: ShapeKind) -> float:
        """Calibrated probability in [0, 1] that the evidence answers the question."""
        logit = self.weights.get("bias", 0.0) + self.weights.get(f"form:{form}", 0.0)
        group = FORM_GROUPS.get(form, "other")
        for name, value in asdict(signs).items():
            logit += value * (self.weights.get(name, 0.0) + self.weights.get(f"{name}:{group}", 0.0))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


@cache
def read_judge() -> ReadJudge:
    """The judge with the shipped calibration."""
    data = json.loads(files("kedge.answer.judge").joinpath("data", "judge_read.json").read_text(encoding="utf-8"))
    return ReadJudge(data["weights"])


def opinion(log_odds: float) -> float:
    """Log-odds of the reader on the scale of the signs, from 0 to 1."""
    return 0.5 + max(-CERTAIN, min(CERTAIN, log_odds)) / (2 * CERTAIN)
