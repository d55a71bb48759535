"""Measures, checked against values computed by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.evals import metrics

RANKED = ["a", "b", "c", "d"]


def test_ndcg_by_hand() -> None:
    found = 1 / math.log2(2) + 1 / math.log2(4)
    ideal = 1 / math.log2(2) + 1 / math.log2(3)
    assert metrics.ndcg(RANKED, {"a": 1, "c": 1}, 10) == pytest.approx(found / ideal)
    assert metrics.ndcg(RANKED, {"a": 2, "x": 1}, 10) == pytest.approx(2 / (2 + 1 / math.log2(3)))


def test_recall_all_gold_and_reciprocal_rank() -> None:
    gains = {"b": 1.0, "d": 1.0}
    assert metrics.recall(RANKED, gains, 2) == 0.5
    assert metrics.all_gold(RANKED, gains, 3) == 0.0
    assert metrics.all_gold(RANKED, gains, 4) == 1.0
    assert metrics.reciprocal_rank(RANKED, gains, 10) == 0.5
    assert metrics.reciprocal_rank(RANKED, {"z": 1.0}, 10) == 0.0


def test_auroc_counts_ties_half() -> None:
    assert metrics.auroc([0.9, 0.1], [True, False]) == 1.0
    assert metrics.auroc([0.1, 0.9], [True, False]) == 0.0
    assert metrics.auroc([0.5, 0.5], [True, False]) == 0.5
    assert metrics.auroc([0.5], [True]) is None


def test_risk_coverage_prefers_sure_right_answers() -> None:
    good = metrics.aurc([0.9, 0.8, 0.1], [True, True, False])
    bad = metrics.aurc([0.9, 0.8, 0.1], [False, True, True])
    assert good is not None
    assert bad is not None
    assert good == pytest.approx((0 + 0 + 1 / 3) / 3)
    assert good < bad


def test_calibration_error_by_hand() -> None:
    assert metrics.calibration_error([0.95, 0.95], [True, False]) == pytest.approx(0.45)
    assert metrics.calibration_error([1.0, 0.0], [True, False]) == 0.0


@given(
    st.lists(st.text("abcdef", min_size=1, max_size=1), unique=True), st.sets(st.text("abcdef", min_size=1, max_size=1))
)
def test_measures_stay_within_bounds(ranked: list[str], relevant: set[str]) -> None:
    gains = dict.fromkeys(relevant, 1.0)
    for measure in (metrics.ndcg, metrics.recall, metrics.all_gold, metrics.reciprocal_rank):
        assert 0.0 <= measure(ranked, gains, 5) <= 1.0 + 1e-9
