"""Traces: one span per stage in the caller's trace, sent to a real collector, without a word of anybody."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kedge.core.stages import STAGES
from kedge.surfaces.cli.main import run
from tests.models.llm_server import serving as llm_server
from tests.support.surfaces import DOCUMENTS, QUESTION
from tests.surfaces.server.collector import collecting
from tests.surfaces.server.serving import fill, serving

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"


@pytest.mark.req("D-16", "D-17")
def test_a_question_and_an_ingestion_as_spans(tmp_path: Path) -> None:
    with collecting() as collector, llm_server() as model:
        model.say = lambda _system, _user: "The warp is tied to the ring of the kedge anchor with an anchor bend. [1]"
        settings = {
            "otlp_url": collector.url,
            "otlp_headers": "x-token=secret-token",
            "llm": "openai:test",
            "llm_url": f"{model.url}/v1",
            "llm_key": "k",
            "threshold": 0.0,
        }
        with serving(tmp_path / "home", **settings) as served, served.client() as client:
            fill(client, tmp_path / "docs")
            headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "x-request-id": "my-request-1"}
            body = {"query": QUESTION, "session_id": "a-secret-session"}
            assert client.post("/api/query", json=body, headers=headers).status_code == 200
            assert client.post("/api/query/stream", json=body).status_code == 200
            assert client.post("/api/query", json={"query": ""}).status_code == 400
            shown = client.get("/metrics").text
        spans = collector.spans()  # all: closing the server sends the rest
        assert collector.headers[0]["x-token"] == "secret-token"
        raw = b"".join(collector.bodies)

    mine = {span.name: span for span in spans if span.trace_id.hex() == TRACE}
    root = mine.pop("POST /api/query")
    assert root.parent_span_id.hex() == PARENT
    facts = collector.attributes(root)
    assert facts["http.response.status_code"] == 200
    assert facts["kedge.request_id"] == "my-request-1"
    assert len(facts["kedge.tenant"]) == 16
    assert facts["kedge.query_id"]
    assert set(mine) == {
        *("embed", "vectors", "keywords", "graph", "fuse", "rerank", "live", "judge", "read", "answer", "llm")
    }
    for span in mine.values():
        parent = mine["judge"] if span.name == "read" else root
        assert span.parent_span_id == parent.span_id, span.name
        assert root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
    streamed = next(span for span in spans if span.name == "POST /api/query/stream")
    assert {span.name for span in spans if span.trace_id == streamed.trace_id} >= set(mine)

    job = next(span for span in spans if span.name == "ingest")
    parts = {span.name for span in spans if span.parent_span_id == job.span_id}
    assert parts == {name for name in STAGES if name.startswith("ingest.")}

    secrets = [QUESTION, "a-secret-session", "secret-token", *(text[:40] for text in DOCUMENTS.values()), "default"]
    for secret in secrets:
        assert secret.encode() not in raw, secret
    for name in ("embed", "judge", "llm", "ingest.store"):
        assert f'kedge_stage_seconds_count{{stage="{name}"}}' in shown


def test_the_trace_goes_on_to_model_servers(tmp_path: Path) -> None:
    with collecting() as collector, llm_server() as model:
        seen: list[str | None] = []
        settings = {"otlp_url": collector.url, "llm": "openai:test", "llm_url": f"{model.url}/v1", "threshold": 0.0}
        with serving(tmp_path / "home", **settings, llm_key="k") as served, served.client() as client:
            fill(client, tmp_path / "docs")
            client.post("/api/query", json={"query": QUESTION}, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
        seen = [headers.get("traceparent") for headers in model.headers]
    assert len(seen) == 1
    assert str(seen[0]).startswith(f"00-{TRACE}-")
    assert PARENT not in str(seen[0])


def test_nothing_of_a_request_that_is_not_sampled_is_sent(tmp_path: Path) -> None:
    with collecting() as collector:
        with serving(tmp_path / "home", otlp_url=collector.url, trace_share=0) as served, served.client() as client:
            client.get("/api/collections")
        assert collector.spans() == []


def test_without_the_extra_the_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    monkeypatch.setenv("KEDGE_OTLP_URL", "http://127.0.0.1:4318")
    assert run(["check", "--home", str(tmp_path / "home")]) == 1
    assert "kedge[otel]" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "value"), [("OTLP_URL", "localhost:4318"), ("OTLP_HEADERS", "token")])
def test_settings_that_cannot_be_are_told_at_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    monkeypatch.setenv("KEDGE_OTLP_URL", "http://127.0.0.1:4318")
    monkeypatch.setenv(f"KEDGE_{name}", value)
    assert run(["check", "--home", str(tmp_path / "home")]) == 2
    assert name.lower() in capsys.readouterr().err
