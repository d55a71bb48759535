"""Alert rules and dashboard: valid, and about metrics that exist."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kedge.core.settings import load_settings
from kedge.core.telemetry import METRICS, QUERY_ROUTES, Metric
from kedge.surfaces.server.app import create_app
from tests.services import need
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
    assert "kedge_store_errors_total" in said["KedgeStoreDown"]


@pytest.mark.req("G-31")
def test_failing_queries_are_counted_on_the_routes_of_queries() -> None:
    expression = next(rule["expr"] for rule in rules() if rule["alert"] == "KedgeQueriesFail")
    (pattern,) = re.findall(r'route=~"([^"]+)"', expression)
    assert all(re.fullmatch(pattern, route) for route in QUERY_ROUTES)
    assert not any(re.fullmatch(pattern, route) for route in ("/api/ingest/{job_id}", "/api/documents", "/metrics"))
    assert set(QUERY_ROUTES) <= create_app(load_settings(environ={}, embedder="hash")).openapi()["paths"].keys()


HOUR = "x60"
"""Steps of a minute that a made-up series goes on for."""
ON = 'instance="a"'
FIRING: dict[str, list[tuple[str, str]]] = {
    "KedgeDown": [('up{job="kedge",instance="a"}', f"0+0{HOUR}")],
    "KedgePartDown": [(f'kedge_part_up{{{ON},part="vectors"}}', f"0+0{HOUR}")],
    "KedgeStoreDown": [(f'kedge_store_errors_total{{{ON},store="vectors"}}', f"0+1{HOUR}")],
    "KedgeQueriesFail": [
        (f'kedge_query_errors_total{{{ON},code="store_failed"}}', f"0+1{HOUR}"),
        (f'kedge_http_requests_total{{{ON},route="/api/query",method="POST",status="200"}}', f"0+10{HOUR}"),
        (f'kedge_http_requests_total{{{ON},route="/api/ingest/{{job_id}}",method="GET",status="200"}}', f"0+900{HOUR}"),
    ],
    "KedgeEmbeddingSlow": [
        (f'kedge_embed_seconds_bucket{{{ON},le="1"}}', f"0+0{HOUR}"),
        (f'kedge_embed_seconds_bucket{{{ON},le="2.5"}}', f"0+60{HOUR}"),
        (f'kedge_embed_seconds_bucket{{{ON},le="+Inf"}}', f"0+60{HOUR}"),
    ],
    "KedgeEmbeddingFails": [
        (f"kedge_embed_errors_total{{{ON}}}", f"0+6{HOUR}"),
        (f"kedge_embed_seconds_count{{{ON}}}", f"0+60{HOUR}"),
    ],
    "KedgeAnswersSlow": [
        (f'kedge_query_seconds_bucket{{{ON},le="5"}}', f"0+0{HOUR}"),
        (f'kedge_query_seconds_bucket{{{ON},le="10"}}', f"0+9{HOUR}"),
        (f'kedge_query_seconds_bucket{{{ON},le="+Inf"}}', f"0+9{HOUR}"),
    ],
    "KedgeFirstWordsLate": [
        (f'kedge_first_event_seconds_bucket{{{ON},le="5"}}', f"0+0{HOUR}"),
        (f'kedge_first_event_seconds_bucket{{{ON},le="10"}}', f"0+9{HOUR}"),
        (f'kedge_first_event_seconds_bucket{{{ON},le="+Inf"}}', f"0+9{HOUR}"),
    ],
    "KedgeRejects": [(f'kedge_rejected_total{{{ON},limit="rate"}}', f"0+60{HOUR}")],
    "KedgeTimeouts": [(f'kedge_timeouts_total{{{ON},late="request"}}', f"0+60{HOUR}")],
    "KedgeQueueStuck": [
        (f"kedge_oldest_job_seconds{{{ON}}}", f"4000+60{HOUR}"),
        (f"kedge_ingest_queue{{{ON}}}", f"1+0{HOUR}"),
    ],
    "KedgeNoWorker": [(f"kedge_ingest_queue{{{ON}}}", f"1+0{HOUR}"), (f"kedge_workers{{{ON}}}", f"0+0{HOUR}")],
    "KedgeLanguageModelFails": [
        (f'kedge_llm_calls_total{{{ON},model="m",result="failed"}}', f"0+6{HOUR}"),
        (f'kedge_llm_calls_total{{{ON},model="m",result="ok"}}', f"0+60{HOUR}"),
    ],
    "KedgeMemoryGrows": [(f"kedge_process_resident_bytes{{{ON}}}", "1000000+100000x500")],
    "KedgeLoopBlocked": [(f"kedge_loop_lag_seconds{{{ON}}}", f"2+0{HOUR}")],
    "KedgeRepairsFail": [(f'kedge_checks_total{{{ON},result="failed"}}', f"0+1{HOUR}")],
}
"""Series over which each alert has to fire, as `promtool test rules` takes them."""
QUIET = {"KedgeQueriesFail": [*FIRING["KedgeQueriesFail"][1:], (FIRING["KedgeQueriesFail"][0][0], f"0+0.1{HOUR}")]}
"""One in a hundred questions fails, and polling of jobs is not counted with them."""


def checks(series: list[tuple[str, str]], alert: str, *, fires: bool, at: str) -> dict[str, Any]:
    rule = next(rule for rule in rules() if rule["alert"] == alert)
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)',
                "eval_time": at,
                "exp_samples": [{"labels": "{}", "value": 1 if fires else 0}],
            }
        ],
        "name": f"{alert} {rule['labels']['severity']}",
    }


@pytest.mark.req("G-13", "G-31", "G-29")
@pytest.mark.store("alerts", "promtool")
def test_every_alert_fires_on_made_up_series_and_not_on_none(tmp_path: Path) -> None:
    promtool = need("promtool")
    assert FIRING.keys() == {rule["alert"] for rule in rules()}
    late = {"KedgeMemoryGrows": "480m"}
    tests = [checks(series, alert, fires=True, at=late.get(alert, "50m")) for alert, series in FIRING.items()]
    tests += [checks([], alert, fires=False, at="50m") for alert in FIRING]
    tests += [checks(series, alert, fires=False, at="50m") for alert, series in QUIET.items()]
    file = tmp_path / "tests.yml"
    file.write_text(yaml.safe_dump({"rule_files": [str(DEPLOY / "alerts.yml")], "tests": tests}), "utf-8")
    done = subprocess.run([promtool, "test", "rules", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


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
