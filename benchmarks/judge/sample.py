"""The measured rows as arrays, with the weight of each in the fit, and what a model reaches on rows it has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.judge.fit import SIGNS, Array, auroc, calibration_error, fit
from benchmarks.judge.rows import SETS, Row
from kedge.answer.judge.calibrated import THRESHOLD

SET_WEIGHTS = {"asked": 120.0, "removed": 80.0}
"""What all questions of one set weigh together, beside squad2's 2,917.

More for "asked" answers more on the other sets, at the price of squad2's calibration."""
OFF_TOPIC_WEIGHT = 200.0
TRICKS = {"granite": 0.35}
USUAL_TRICKS = 0.5
"""Share of the trick questions that counts where other languages are judged, by embedder: so that about as many
questions of xquad are answered with each."""


class Sample:
    """Rows, their features and labels."""

    def __init__(self, rows: Sequence[Row], groups: Sequence[str], tricks: float = USUAL_TRICKS) -> None:
        self.tricks = tricks
        self.rows = rows
        self.names = list(SIGNS)
        self.group = np.array(groups)
        """What is left out together in cross-validation: an article of squad2, or another set as a whole."""
        self.values = np.array([[float(row.features.get(name) or 0.0) for name in self.names] for row in rows])
        self.source = np.array([row.source for row in rows])
        self.kind = np.array([row.kind for row in rows])
        self.answerable = np.array([row.answerable for row in rows])
        self.complete = np.array([row.complete for row in rows])
        self.right = np.array([row.right for row in rows])
        self.has_answer = np.array([bool(row.answers) for row in rows])
        self.labels = (self.answerable & self.complete).astype(float)
        self.squad = (self.source == "squad2") & (self.kind == "asked")
        self.weight = self._weights()

    def _weights(self) -> Array:
        weight = np.ones(len(self.rows))
        for name in SETS:
            for kind in ("asked", "removed"):
                part = (self.source == name) & (self.kind == kind)
                if name != "squad2" and part.any():
                    weight[part] = SET_WEIGHTS[kind] / part.sum()
        off = self.kind == "off-topic"
        weight[off] = OFF_TOPIC_WEIGHT / max(1, int(off.sum()))
        return weight

    def columns(self, names: Sequence[str]) -> Array:
        """Their values."""
        chosen: Array = self.values[:, [self.names.index(name) for name in names]]
        return chosen

    def weight_for(self, variant: str) -> Array:
        """What each row weighs in a variant. For other languages: no text in them, and few trick questions."""
        if not variant.endswith("_foreign"):
            return self.weight
        weight = self.weight.copy()
        weight[self.squad & ~self.answerable] *= self.tricks
        weight[np.char.startswith(self.source, "xquad")] = 0.0
        return weight

    def held_out(self, names: Sequence[str], variant: str) -> Array:
        """Probability of every row by a model that saw neither its article nor, but for squad2, its set."""
        values, weight = self.columns(names), self.weight_for(variant)
        result = np.zeros(len(self.rows))
        for group in sorted(set(self.group)):
            test = self.group == group
            train = ~test if group not in SETS else ~(self.source == group)
            if test.any():
                model = fit(values[train], self.labels[train], weight[train], names)
                result[test] = model(values[test])
        return result


def figures(sample: Sample, scores: Array) -> dict[str, Any]:
    """What the judge reaches at the threshold, per set."""
    said = scores >= THRESHOLD
    squad = sample.squad
    report: dict[str, Any] = {
        "squad2": {
            "auroc": auroc(sample.answerable[squad], scores[squad]),
            "ece": calibration_error(sample.answerable[squad], scores[squad]),
            "answered": said[squad & sample.answerable].mean(),
            "false_answers": said[squad & ~sample.answerable].mean(),
        }
    }
    for name in SETS:
        asked = (sample.source == name) & (sample.kind == "asked") & sample.answerable
        if not asked.any():
            continue
        entry = report.setdefault(name, {"answered": said[asked].mean()})
        entry["answered_when_evidence_complete"] = said[asked & sample.complete].mean()
        with_answer = asked & sample.has_answer
        if with_answer.any():
            entry["extract_right"] = sample.right[with_answer].mean()
            answered = with_answer & said
            entry["right_among_answered"] = sample.right[answered].mean() if answered.any() else 0
        for kind in ("removed", "off-topic"):
            part = (sample.source == name) & (sample.kind == kind)
            if part.any():
                entry[f"{kind.replace('-', '_')}_refused"] = 1 - said[part].mean()
    off = sample.kind == "off-topic"
    report["off_topic_refused"] = 1 - said[off].mean()
    return rounded(report)


def rounded(report: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers to four places."""
    return {k: rounded(v) if isinstance(v, dict) else round(float(v), 4) for k, v in report.items()}
