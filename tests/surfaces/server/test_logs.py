"""Logs: the request's id everywhere, JSON when asked for, and never a question or a secret."""

from __future__ import annotations

import json
import logging
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kedge.core import logs
from kedge.core.settings import load_settings
from kedge.core.stages import watched
from kedge.surfaces.cli.main import run
from tests.support.surfaces import QUESTION, http_client
from tests.surfaces.server.serving import fill, process, serving


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:], root.level = handlers, level


def test_json_lines_of_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    assert run(["key", "create", "one", "--right", "admin", "--tenant", "acme", "--home", str(home)]) == 0
    key = capsys.readouterr().out.strip()
    environment = {"KEDGE_LOG_FORMAT": "json", "KEDGE_LOG_LEVEL": "info"}
    with process(home, **environment) as (running, url):
        with http_client(url, headers={"authorization": f"Bearer {key}"}) as client:
            fill(client, tmp_path / "docs")
            given = client.post(
                "/api/query?q=words", json={"query": QUESTION}, headers={"x-request-id": "order-66-abc"}
            )
            answer = given.json()
            client.get("/api/documents/a-secret-document")
            client.post("/api/query/stream", json={"query": QUESTION})
        running.send_signal(signal.SIGTERM)
        _, errors = running.read_all()
    lines = [json.loads(line) for line in errors.splitlines()]
    access = [line for line in lines if line["logger"] == "kedge.access"]
    asked = next(line for line in access if line["route"] == "/api/query")
    assert given.headers["x-request-id"] == "order-66-abc"
    assert asked["request_id"] == "order-66-abc"
    assert (asked["method"], asked["status"], asked["level"]) == ("POST", 200, "info")
    assert asked["query_id"] == answer["query_id"]
    assert asked["duration_ms"] > 0
    assert re.fullmatch(r"[0-9a-f]{16}", asked["tenant"])
    assert next(line for line in access if line["status"] == 404)["route"] == "/api/documents/{document_id}"
    assert next(line for line in access if line["route"].endswith("/stream"))["first_event_ms"] > 0
    for secret in (QUESTION, key, "acme", "a-secret-document", "words"):
        assert secret not in errors


@pytest.mark.parametrize("given", ["short", "with space in it", 'quote"inside-it', "ä" * 10, "x" * 200, "new\tline-x"])
def test_ids_that_cannot_be_are_replaced(base_url: str, given: str) -> None:
    response = httpx.get(f"{base_url}/health", headers={"x-request-id": given.encode()}, timeout=60)
    assert re.fullmatch(r"[0-9a-f]{32}", response.headers["x-request-id"])


def test_plain_lines_name_the_request_and_json_holds_tracebacks(capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("kedge.test")
    for style in ("plain", "json"):
        logs.configure(load_settings(environ={}, log_format=style))
        with watched(None, {"request_id": "r-1", "tenant": "t"}):
            try:
                raise ValueError("odd")
            except ValueError:
                log.exception("it failed")
        shown = capsys.readouterr().err
        if style == "plain":
            assert shown.startswith("ERROR it failed request_id=r-1\nTraceback")
            continue
        entry: dict[str, Any] = json.loads(shown)
        assert (entry["message"], entry["request_id"], entry["tenant"]) == ("it failed", "r-1", "t")
        assert "ValueError: odd" in entry["exception"]


def test_an_error_in_the_server_is_logged_with_its_request(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with serving(tmp_path / "home") as served, served.client() as client:

        async def broken() -> None:
            raise RuntimeError("the cause")

        served.app.get("/broken")(broken)
        response = client.get("/broken", headers={"x-request-id": "order-66-abc"})
        assert response.json()["error"]["details"]["request_id"] == "order-66-abc"
    assert "request order-66-abc (GET /broken) failed" in caplog.text
