"""Errors in one shape, health, OpenAPI, streams that are left, and the life of the process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request

from kedge import __version__
from kedge.core.errors import ModelError
from kedge.core.settings import load_settings
from kedge.core.telemetry import Metrics
from kedge.core.values import StreamEvent
from kedge.surfaces.server import sse
from kedge.surfaces.server.app import create_app
from tests.support.forked import ran
from tests.support.surfaces import EMBEDDER, QUESTION, events_of

SHAPE = {"code", "message", "hint", "details"}


def test_unknown_address_and_method(client: httpx.Client) -> None:
    nowhere = client.get("/nowhere")
    assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, "not_found")
    wrong = client.put("/api/query")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "invalid_request")
    assert "POST" in wrong.headers["allow"]
    assert set(nowhere.json()["error"]) == set(wrong.json()["error"]) == SHAPE


def test_body_that_does_not_fit(client: httpx.Client) -> None:
    for body in (b"{", b"[]", b'{"query": 7}', b'{"query": "why", "top_k": "many"}', b"{}"):
        response = client.post("/api/query", content=body, headers={"content-type": "application/json"})
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "invalid_request"


def test_json_beyond_the_limit(client: httpx.Client) -> None:
    response = client.post("/api/query", json={"query": "x" * (2 << 20)})
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "too_large"


def test_pages_of_other_sites_are_refused(client: httpx.Client) -> None:
    response = client.post("/api/query", json={"query": "why"}, headers={"origin": "https://evil.example"})
    assert response.status_code == 400
    assert "evil.example" in response.json()["error"]["message"]
    own = str(client.base_url).rstrip("/")
    assert client.get("/health", headers={"origin": own}).status_code == 200


def test_health_ready_and_request_id(client: httpx.Client) -> None:
    health = client.get("/health")
    assert health.json() == {"status": "ok", "version": __version__}
    assert health.headers["x-request-id"] != client.get("/health").headers["x-request-id"]
    ready = client.get("/ready")
    assert ready.status_code == 200
    assert ready.json()["status"] == "ready"
    assert ready.json()["parts"]


def test_openapi_is_complete(client: httpx.Client) -> None:
    assert client.get("/docs").status_code == 200
    schema = client.get("/openapi.json").json()
    assert schema["openapi"].startswith("3.")
    operations = [
        (path, method, operation) for path, methods in schema["paths"].items() for method, operation in methods.items()
    ]
    assert {"/api/query", "/api/query/stream", "/api/ingest", "/health"} <= {path for path, _, _ in operations}
    for path, method, operation in operations:
        assert operation["summary"], (path, method)
        assert operation["description"], (path, method)
        assert operation["responses"]["4XX"]["content"]["application/json"]["schema"]["$ref"].endswith("ErrorBody")
        assert "422" not in operation["responses"]
    assert set(schema["paths"]["/api/ingest"]["post"]["requestBody"]["content"]) == {
        "application/json",
        "multipart/form-data",
    }


def test_every_reference_in_openapi_leads_somewhere(client: httpx.Client) -> None:
    schema = client.get("/openapi.json").json()
    for reference in _references(schema):
        target: Any = schema
        for part in reference.removeprefix("#/").split("/"):
            target = target[part]


def _references(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [found for value in node.values() for found in _references(value)]
    if isinstance(node, list):
        return [found for value in node for found in _references(value)]
    return []


def test_unexpected_errors_leak_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER))

    async def broken() -> None:
        raise RuntimeError("the secret is 42")

    app.get("/broken")(broken)

    async def call() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.get("/broken")

    response = asyncio.run(call())
    assert response.status_code == 500
    assert "secret" not in response.text
    assert response.json()["error"]["details"]["request_id"] == response.headers["x-request-id"]
    assert response.headers["x-request-id"] in caplog.text
    assert "the secret is 42" in caplog.text


def request_of(app: FastAPI) -> Request:
    return Request({"type": "http", "app": app, "state": {"request_id": "r1"}, "headers": []})


def plain_app() -> FastAPI:
    app = FastAPI()
    app.state.metrics = Metrics()
    return app


@pytest.mark.req("D-14")
def test_a_client_that_leaves_ends_the_work() -> None:
    closed = asyncio.Event()

    async def endless() -> AsyncIterator[StreamEvent]:
        try:
            yield StreamEvent("token", content="A")
            await asyncio.Event().wait()
        finally:
            closed.set()

    async def leave() -> list[Any]:
        sent: list[Any] = []
        first_sent = asyncio.Event()

        async def send(message: Any) -> None:
            sent.append(message)
            if message["type"] == "http.response.body":
                first_sent.set()

        async def receive() -> dict[str, str]:
            await first_sent.wait()
            return {"type": "http.disconnect"}

        response = await sse.respond(endless(), request_of(plain_app()))
        await response({"type": "http", "asgi": {"spec_version": "2.3"}}, receive, send)
        await asyncio.wait_for(closed.wait(), 60)
        return sent

    sent = asyncio.run(leave())
    assert sent[1]["body"].startswith(b"event: token\ndata: ")


@pytest.mark.req("D-14")
@pytest.mark.parametrize(
    ("fault", "code"), [(ModelError("The model is gone."), "model_failed"), (RuntimeError("secret"), "error")]
)
def test_what_fails_while_streaming_becomes_an_error_event(fault: Exception, code: str) -> None:
    async def failing() -> AsyncIterator[StreamEvent]:
        yield StreamEvent("token", content="A")
        raise fault

    async def collect() -> str:
        response = await sse.respond(failing(), request_of(plain_app()))
        return "".join([str(piece) async for piece in response.body_iterator])

    text = asyncio.run(collect())
    (_, token), (name, data) = events_of(text)
    assert json.loads(token) == {"type": "token", "content": "A"}
    assert name == "error"
    assert json.loads(data)["error"]["code"] == code
    assert "secret" not in text


@pytest.mark.slow
@pytest.mark.req("D-13")
def test_serve_end_to_end_and_sigterm(tmp_path: Path, corpus: Path) -> None:
    home = tmp_path / "home"
    environment = {**os.environ, "KEDGE_EMBEDDER": EMBEDDER, "KEDGE_HOME": str(home)}
    command = [sys.executable, "-m", "kedge.surfaces.cli.main"]
    assert ran(["ingest", str(corpus)], environment).returncode == 0
    process = subprocess.Popen(
        [*command, "serve", "--port", "0"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    try:
        line = process.stdout.readline()
        url = line.split(" at ")[1].split()[0]
        assert process.stdout.readline().split()[-1] == f"{url}/rag"
        assert httpx.get(f"{url}/rag", timeout=60).status_code == 200
        assert httpx.post(f"{url}/api/query", json={"query": QUESTION}, timeout=60).status_code == 200
        second = ran(["check", "--json"], environment)
        assert second.returncode == 1
        assert json.loads(second.stdout)["error"]["code"] == "home_busy"
        taken = url.rsplit(":", 1)[1]
        third = ran(["serve", "--port", taken, "--home", str(tmp_path / "other")], environment)
        assert third.returncode == 2
        assert "cannot listen" in third.stderr
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0, errors
        assert "Traceback" not in errors
    finally:
        process.kill()
        process.wait()
    again = ran(["check"], environment)
    assert again.returncode == 0, again.stderr
