"""Metrics and their text form."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from kedge import telemetry
from kedge.telemetry import Metrics


def test_unused_metrics_are_declared_and_zero() -> None:
    text = Metrics().render()
    assert "# TYPE kedge_refusals_total counter\nkedge_refusals_total 0\n" in text
    assert "kedge_query_seconds_count 0" in text


@pytest.mark.req("G-13")
def test_alerts_in_the_docs_watch_metrics_that_are_there() -> None:
    """On slow embedding (over 1 s), on failures (over 5 %), and on a store that is down."""
    text = (Path(__file__).parents[1] / "docs" / "reference" / "metrics.md").read_text("utf-8")
    (rules,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    found = {rule["alert"]: rule["expr"] for group in yaml.safe_load(rules)["groups"] for rule in group["rules"]}
    assert {name for name, expr in found.items() if "kedge_embed_seconds" in expr and "> 1" in expr}
    assert {name for name, expr in found.items() if "> 0.05" in expr}
    assert {name for name, expr in found.items() if "store_failed" in expr}
    rendered = Metrics().render()
    for name in re.findall(r"kedge_\w+", " ".join(found.values())):
        assert f"# TYPE {name.removesuffix('_bucket')} " in rendered


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
