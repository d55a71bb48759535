"""Alert rules and dashboard: valid, and about metrics that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from kedge.core.telemetry import METRICS, Metric
from tests.support.paths import ROOT

DEPLOY = ROOT / "deploy"
BY_NAME = {metric.name: metric for metric in METRICS}
WORD = re.compile(r"\bkedge_\w+")
PARTS = ("_bucket", "_sum", "_count")


def rules() -> list[dict[str, Any]]:
    found = yaml.safe_load((DEPLOY / "alerts.yml").read_text("utf-8"))
    return [rule for group in found["groups"] for rule in group["rules"]]


def board() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DEPLOY / "grafana.json").read_text("utf-8"))
    return found


def expressions() -> Iterator[tuple[str, str]]:
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in board()["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def metric_of(word: str) -> Metric:
    """The declared metric behind a series' name; histograms are asked by their parts, all others whole."""
    for part in PARTS:
        base = BY_NAME.get(word.removesuffix(part))
        if word.endswith(part) and base is not None and base.kind == "histogram":
            return base
    metric = BY_NAME[word]
    assert metric.kind != "histogram", f"{word} has no series of that name"
    return metric


@pytest.mark.req("G-13")
@pytest.mark.parametrize(("where", "expression"), list(expressions()), ids=lambda value: str(value)[:40])
def test_every_metric_and_label_exists(where: str, expression: str) -> None:
    words = WORD.findall(expression)
    assert words or "up{" in expression, where
    labels = {"instance", "job", "le", *(label for word in words for label in metric_of(word).labels)}
    used = set(re.findall(r"(\w+)\s*(?:=~|!=|!~|=)\s*\"", expression))
    for names in re.findall(r"\bby \(([^)]*)\)", expression):
        used |= {name.strip() for name in names.split(",")}
    assert used <= labels, (where, used - labels)
    assert expression.count("(") == expression.count(")")
    if "rate(" in expression:
        rated = re.findall(r"(?:rate|increase)\((kedge_\w+)", expression)
        assert all(metric_of(word).kind != "gauge" for word in rated), where


def test_every_rule_says_what_it_is() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(names) == len(set(names))
    for rule in rules():
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("page", "warn")
        assert set(rule["annotations"]) == {"summary", "description"}


@pytest.mark.req("G-13")
def test_what_the_requirements_name_is_watched() -> None:
    said = {rule["alert"]: rule["expr"] for rule in rules()}
    assert "kedge_embed_seconds_bucket" in said["KedgeEmbeddingSlow"]
    assert said["KedgeEmbeddingSlow"].endswith("> 1")
    assert said["KedgeQueriesFail"].endswith("> 0.05")
    assert "store_failed" in said["KedgeStoreDown"]


def test_the_dashboard_shows_every_metric_and_no_two_panels_overlap() -> None:
    shown = {metric_of(word).name for _, expression in expressions() for word in WORD.findall(expression)}
    assert shown == set(BY_NAME)
    taken: set[tuple[int, int]] = set()
    ids = [panel["id"] for panel in board()["panels"]]
    assert len(ids) == len(set(ids))
    for panel in board()["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken
        assert place["x"] + place["w"] <= 24
        taken |= cells
