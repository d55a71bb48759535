"""The judge of evidence that was read: how probable it is that what would be answered is right.

It looks at the answer that the statements make, not at the passages alone: how sure the reader is of the passage and of
the statement, whether it smells a trick, how clearly a short answer stands out, whether the time fits, and what of the
question occurs nowhere. A logistic model over these signs gives the probability; its weights are data
(`data/judge_read.json`), made by `python -m benchmarks.judge` from open sets.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files

from kedge.answer.compose.choose import Choice
from kedge.answer.evidence import ReadEvidence
from kedge.text.analyze import terms
from kedge.text.evidence import TermMatcher
from kedge.text.form import ShapeKind
from kedge.text.question import Question

CERTAIN = 6.0
"""Log-odds beyond which the reader is no surer."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What the judge goes by; every value lies in [0, 1]."""

    about: float
    """The reader's best opinion of a passage."""
    home: float
    """Its opinion of the passage that the best statement comes from."""
    support: float
    """Its opinion of that statement."""
    second: float
    """Its opinion of the best statement of another document: high where several speak of it."""
    trick: float
    """That the passage speaks of all that is asked and does not say it."""
    span: float
    """Probability of the likeliest few words, given that they stand there."""
    fits: float
    """How well the time agrees that is asked for."""
    contradicts: float
    """How much it contradicts it."""
    coverage: float
    """Share of the question, by rarity, in the best statement, its heading and its passage."""
    gap: float
    """Rarity of the rarest word of the question that no passage has."""
    names: float
    """Share of the question's names and numbers in the passage of the best statement and its heading; 1 without any."""
    cosine: float
    """Similarity of the nearest passage."""
    first: float
    """1 where the best statement comes from the first passage, less further down."""
    row: float
    """1 where it is a row of a table."""


def signs_of(question: Question, choice: Choice, evidence: ReadEvidence) -> Signs:
    """Measure what would be answered, and the evidence around it."""
    best, hits = choice.first, evidence.hits
    split = {one.place: terms(f"{evidence.headings[one.place]}\n{one.passage.text}") for one in evidence.read}
    matcher = TermMatcher.of(question, {term for every in split.values() for term in every})
    here = matcher.matched(split[best.passage])
    everywhere = frozenset().union(*(matcher.matched(every) for every in split.values()))
    document = hits[best.passage].passage.document_id
    others = [one.reading.support for one in evidence.stated if hits[one.passage].passage.document_id != document]
    missing = [question.weight_of[term] for term in question.terms if term not in everywhere]
    return Signs(
        about=opinion(max(one.reading.about for one in evidence.read)),
        home=opinion(best.about),
        support=opinion(best.reading.support),
        second=opinion(max(others, default=-CERTAIN)),
        trick=opinion(best.trick),
        span=math.exp(min(0.0, best.reading.span.score)) if best.reading.span else 0.0,
        fits=max(0.0, best.agreement),
        contradicts=max(0.0, -best.agreement),
        coverage=question.coverage(here),
        gap=max(missing, default=0.0) / question.ceiling,
        names=len(question.names & here) / len(question.names) if question.names else 1.0,
        cosine=max((hit.vector_score for hit in hits if hit.vector_score is not None), default=0.0),
        first=1.0 / (1 + best.passage),
        row=float(best.statement.kind == "row"),
    )


@dataclass(frozen=True, slots=True)
class ReadJudge:
    """A logistic model over the signs, with a bias of its own for each form of question."""

    weights: Mapping[str, float]
    """By the name of a sign, `bias`, and `form:<form>`."""

    def probability(self, signs: Signs, form: ShapeKind) -> float:
        """Calibrated probability in [0, 1] that the answer is right."""
        logit = self.weights.get("bias", 0.0) + self.weights.get(f"form:{form}", 0.0)
        logit += sum(self.weights.get(name, 0.0) * value for name, value in asdict(signs).items())
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


@cache
def read_judge() -> ReadJudge:
    """The judge with the shipped calibration."""
    data = json.loads(files("kedge.answer.judge").joinpath("data", "judge_read.json").read_text(encoding="utf-8"))
    return ReadJudge(data["weights"])


def opinion(log_odds: float) -> float:
    """Log-odds of the reader on the scale of the signs, from 0 to 1."""
    return 0.5 + max(-CERTAIN, min(CERTAIN, log_odds)) / (2 * CERTAIN)
