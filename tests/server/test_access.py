"""Keys: who is let in, what a right allows, and that a key of one tenant never reaches another's data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from kedge.cli.main import run
from kedge.config import Settings, load_settings
from kedge.errors import UsageError
from kedge.keys import make_key
from kedge.server.app import create_app
from kedge.server.deps import writer
from kedge.server.run import run_server
from kedge.types import Right
from tests.serving import put_key, served
from tests.surfaces import EMBEDDER, QUESTION, follow, write_corpus

OPEN = {"/health", "/ready", "/rag"}
ASKED_BY_POST = {
    "/api/query",
    "/api/query/stream",
    "/api/feedback",
    "/api/courses/search",
    "/api/rag/query",
    "/api/sessions/{session_id}/query",
    "/api/sessions/{session_id}/query/stream",
    "/v1/chat/completions",
}
"""Posts that change no knowledge."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load_settings(environ={}, home=tmp_path_factory.mktemp("keys") / "home", embedder=EMBEDDER)


@pytest.fixture(scope="module")
def address(settings: Settings) -> Iterator[str]:
    put_key(settings, "anyone", Right.READ)
    with served(settings) as url:
        yield url


def client(address: str, token: str | None) -> httpx.Client:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=address, headers=headers, timeout=60)


def test_every_changing_address_wants_the_right_to_write(tmp_path: Path) -> None:
    app = create_app(load_settings(environ={}, home=tmp_path / "home"))
    for route in app.routes:
        if isinstance(route, APIRoute) and route.path not in OPEN | ASKED_BY_POST and route.methods != {"GET"}:
            needed = {item.call for item in _dependencies(route.dependant)}
            assert writer in needed, f"{route.methods} {route.path} changes something and does not ask for the right"


def _dependencies(dependant: Any) -> Iterator[Any]:
    for item in dependant.dependencies:
        yield item
        yield from _dependencies(item)


def test_every_address_wants_a_key(address: str) -> None:
    schema = httpx.get(f"{address}/openapi.json").json()
    with client(address, None) as nobody:
        for path, methods in schema["paths"].items():
            for method in methods:
                response = nobody.request(method, path.replace("{", "").replace("}", ""), json={})
                if path in OPEN:
                    assert response.status_code == 200, path
                else:
                    assert response.status_code == 401, (method, path, response.text)
                    assert response.json()["error"]["code"] == "unauthorized"
                    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("spoil", ["unknown", "other secret", "revoked", "expired", "malformed", "empty"])
def test_a_key_that_is_not_valid_opens_nothing(address: str, settings: Settings, spoil: str) -> None:
    now = datetime.now(UTC)
    changes: dict[str, Any] = {"revoked": {"revoked_at": now}, "expired": {"expires_at": now - timedelta(seconds=1)}}
    token = put_key(settings, "one", Right.ADMIN, **changes.get(spoil, {}))
    if spoil == "unknown":
        token = make_key("one", "x", Right.ADMIN)[0]
    elif spoil == "other secret":
        token = token[:21] + make_key("one", "x", Right.ADMIN)[0][21:]
    elif spoil in ("malformed", "empty"):
        token = "kdg_nonsense" if spoil == "malformed" else "-"
    response = httpx.get(f"{address}/api/collections", headers={"authorization": f"Bearer {token}"})
    assert (response.status_code, response.json()["error"]["code"]) == (401, "unauthorized")


def test_rights(address: str, settings: Settings, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    body = {"sources": [str(corpus)], "collection": "sea"}
    with client(address, put_key(settings, "rights", Right.READ)) as reads:
        assert reads.get("/api/collections").status_code == 200
        refused = reads.post("/api/ingest", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
        assert reads.delete("/api/collections/sea").status_code == 403
    with client(address, put_key(settings, "rights", Right.WRITE)) as writes:
        assert "files of its own machine" in writes.post("/api/ingest", json=body).json()["error"]["message"]
        upload = writes.post("/api/ingest", files={"file": ("a.md", b"# A\n\nSome words here.")})
        assert follow(writes, upload.json()["job_id"])["status"] == "complete"
    with client(address, put_key(settings, "rights", Right.ADMIN)) as administers:
        job = administers.post("/api/ingest", json=body).json()["job_id"]
        assert follow(administers, job)["status"] == "complete"


def test_a_key_opens_its_tenant_alone(address: str, settings: Settings) -> None:
    with client(address, put_key(settings, "left", Right.WRITE)) as left:
        sent = left.post("/api/ingest", files={"file": ("s.md", b"# Secret\n\nThe warp knot opens the left vault.")})
        job_id = sent.json()["job_id"]
        document_id = follow(left, job_id)["document_id"]
        query_id = left.post("/api/query", json={"query": QUESTION}).json()["query_id"]
        assert left.get(f"/api/documents/{document_id}").status_code == 200
    with client(address, put_key(settings, "right", Right.ADMIN)) as right:
        assert right.get("/api/collections").json() == {"collections": []}
        attempts = [
            right.get(f"/api/documents/{document_id}"),
            right.delete(f"/api/documents/{document_id}"),
            right.get(f"/api/ingest/{job_id}"),
            right.get("/api/collections/default"),
            right.delete("/api/collections/default"),
            right.post("/api/query", json={"query": QUESTION}),
            right.post("/api/query/stream", json={"query": QUESTION}),
            right.post("/api/feedback", json={"query_id": query_id, "rating": 5}),
            right.get("/api/documents", params={"collection": "default"}),
            right.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": QUESTION}]}),
        ]
        assert [response.status_code for response in attempts] == [404] * len(attempts)
        assert not any("vault" in response.text for response in attempts)
        for field in ("tenant", "tenant_id", "scope"):
            assert right.post("/api/query", json={"query": QUESTION, field: "left"}).status_code == 400
        told = right.get("/api/documents", params={"tenant": "left"}, headers={"x-tenant": "left", "tenant": "left"})
        assert told.status_code == 404
        assert "default" not in right.get("/metrics").text


def test_without_keys_a_server_stays_on_loopback(tmp_path: Path) -> None:
    alone = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, host="0.0.0.0", port=0)
    with pytest.raises(UsageError, match="not loopback"):
        run_server(alone, lambda _url, _access: None)


def test_keys_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(tmp_path / "home"), "--json"]

    def kedge(*arguments: str) -> Any:
        code = run([*home, *arguments])
        return code, json.loads(capsys.readouterr().out)

    code, made = kedge("key", "create", "robot", "--right", "write", "--tenant", "acme", "--days", "3")
    assert (code, made["right"], made["tenant"], made["state"]) == (0, "write", "acme", "valid")
    assert made["key"].startswith(f"kdg_{made['id']}_")
    _, listed = kedge("key", "list")
    assert [key["id"] for key in listed] == [made["id"]]
    assert made["key"].rpartition("_")[2] not in json.dumps(listed)
    assert made["key"][21:].encode() not in (tmp_path / "home" / "catalog.db").read_bytes()
    assert kedge("key", "revoke", made["id"])[1]["state"] == "revoked"
    code, missing = kedge("key", "revoke", "none")
    assert (code, missing["error"]["code"]) == (1, "not_found")
    code, wrong = kedge("key", "create", "x", "--tenant", "a b")
    assert (code, wrong["error"]["code"]) == (2, "invalid_request")
