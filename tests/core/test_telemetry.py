"""Metrics and their text form."""

from __future__ import annotations

import pytest

from kedge.core import telemetry
from kedge.core.telemetry import Metrics


def test_unused_metrics_are_declared_and_zero() -> None:
    text = Metrics().render()
    assert "# TYPE kedge_refusals_total counter\nkedge_refusals_total 0\n" in text
    assert "kedge_query_seconds_count 0" in text


def test_counters_gauges_and_histograms() -> None:
    metrics = Metrics()
    metrics.add(telemetry.ERRORS, 'odd"\n\\')
    metrics.observe(telemetry.QUERY_SECONDS, 0.02)
    metrics.observe(telemetry.QUERY_SECONDS, 99.0)
    metrics.replace(telemetry.PASSAGES, {("sea",): 3.0})
    text = metrics.render()
    assert 'kedge_errors_total{code="odd\\"\\n\\\\"} 1' in text
    assert 'kedge_query_seconds_bucket{le="0.01"} 0' in text
    assert 'kedge_query_seconds_bucket{le="0.025"} 1' in text
    assert 'kedge_query_seconds_bucket{le="30"} 1' in text
    assert 'kedge_query_seconds_bucket{le="+Inf"} 2' in text
    assert "kedge_query_seconds_sum 99.02" in text
    assert 'kedge_passages{collection="sea"} 3' in text
    metrics.replace(telemetry.PASSAGES, {})
    assert "sea" not in metrics.render()


def test_wrong_use_is_an_error() -> None:
    with pytest.raises(ValueError, match="is a counter"):
        Metrics().observe(telemetry.ERRORS, 1.0, "x")
    with pytest.raises(ValueError, match="labels"):
        Metrics().add(telemetry.ERRORS)
