"""Keys: who is let in, what a right allows, and that a key of one tenant never reaches another's data."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from kedge.core.errors import UsageError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import ApiKey, Right
from kedge.engine.access.keys import make_key
from kedge.engine.engine import Engine
from kedge.stores import registry
from kedge.surfaces.cli.main import run
from kedge.surfaces.server.run import run_server
from tests.support.forked import piped, said_first
from tests.support.serving import put_key, served
from tests.support.surfaces import EMBEDDER, QUESTION, follow, http_client, write_corpus

OPEN = {"/health", "/ready", "/rag"}
ASKED_BY_POST = {
    "/api/query",
    "/api/query/suggestions",
    "/api/search",
    "/api/query/stream",
    "/api/feedback",
    "/api/courses/search",
    "/api/rag/query",
    "/api/sessions/{session_id}/query",
    "/api/sessions/{session_id}/query/stream",
    "/v1/chat/completions",
}
"""Posts that change no knowledge."""
OWN = "/api/conversations"
"""What belongs to the caller alone: who may read may keep and delete conversations."""


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
    return http_client(address, headers=headers)


def test_every_changing_address_wants_the_right_to_write(address: str, settings: Settings) -> None:
    schema = httpx.get(f"{address}/openapi.json", timeout=60).json()
    tried = 0
    with client(address, put_key(settings, "looker", Right.READ)) as reads:
        for path, methods in schema["paths"].items():
            for method in methods:
                response = reads.request(method, path.replace("{", "").replace("}", ""), json={})
                changes = method != "get" and path not in ASKED_BY_POST and not path.startswith(OWN)
                more = path == "/metrics" or path.startswith("/api/access/")
                assert (response.status_code == 403) == (changes or more), (method, path, response.text)
                tried += changes
    assert tried > 15


def test_conversations_and_files_are_their_owners(address: str, settings: Settings) -> None:
    """Those of another user of the same tenant are not there, and files of another tenant neither."""
    mine, theirs = put_key(settings, "same", Right.READ), put_key(settings, "same", Right.READ)
    writer, other = put_key(settings, "acme", Right.WRITE), put_key(settings, "zeta", Right.WRITE)
    with client(address, mine) as me, client(address, theirs) as they:
        made = me.post("/api/conversations", json={"name": "Secret"}).json()["conversation_id"]
        at = f"/api/conversations/{made}"
        assert me.get(at).json()["name"] == "Secret"
        assert they.get("/api/conversations").json()["conversations"] == []
        for response in (
            they.get(at),
            they.patch(at, json={"name": "Mine"}),
            they.delete(at),
            they.post(f"{at}/turns", json={"query": QUESTION}),
            they.delete(f"{at}/turns/none"),
        ):
            assert response.status_code == 404
        assert me.get(at).json()["name"] == "Secret"
    with client(address, writer) as acme, client(address, other) as zeta:
        sent = acme.post("/api/ingest", files={"file": ("plan.md", "# Plan\n\nThe plan is secret.\n")})
        assert follow(acme, sent.json()["job_id"])["status"] == "complete"
        document = acme.get("/api/documents").json()["documents"][0]["document_id"]
        assert "secret" in acme.get(f"/api/documents/{document}/original").text
        for path in ("original", "pages/1", "pages/1/image"):
            assert zeta.get(f"/api/documents/{document}/{path}").status_code == 404
        assert zeta.post(f"/api/documents/{document}/ingest").status_code == 404


def test_every_address_wants_a_key(address: str) -> None:
    schema = httpx.get(f"{address}/openapi.json", timeout=60).json()
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
    response = httpx.get(f"{address}/api/collections", headers={"authorization": f"Bearer {token}"}, timeout=60)
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
        assert "default" not in right.get("/metrics").text  # an administrator's: gauges are of the own tenant


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "0"])
def test_without_keys_a_server_stays_on_loopback(tmp_path: Path, host: str) -> None:
    alone = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, host=host, port=0)
    with pytest.raises(UsageError, match="not loopback") as refused:
        run_server(alone, lambda _url, _access: None, Engine.open(alone))
    assert "kedge key create" in refused.value.hint


def starts(home: Path, *options: str) -> tuple[str, str]:
    """What `kedge serve` says on stdout and stderr until it is told to end."""
    environ = {**os.environ, "KEDGE_EMBEDDER": EMBEDDER}
    with piped(["--home", str(home), "serve", "--port", "0", *options], environ) as server:
        said = said_first(server)
        server.send_signal(signal.SIGTERM)
        return said, server.read_all()[1]


def test_a_server_says_at_its_start_who_is_let_in(tmp_path: Path) -> None:
    home = tmp_path / "home"
    said, notes = starts(home)
    assert "http://127.0.0.1:" in said
    assert "only this machine can use it" in notes
    assert json.loads(starts(home, "--host", "::1", "--json")[0])["access"] == "local"
    put_key(load_settings(environ={}, home=home), "one", Right.READ)
    assert json.loads(starts(home, "--host", "::", "--json")[0])["access"] == "keys"
    assert "needs a key" in starts(home)[1]


def test_without_keys_a_name_of_another_machine_leads_nowhere(tmp_path: Path) -> None:
    """A page that has its own name lead to loopback (DNS rebinding) is no local user."""
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER)
    with served(settings) as url, http_client(url) as caller:
        assert caller.get("/api/collections").status_code == 200
        for host in (
            "evil.example",
            "evil.example:8000",
            "127.0.0.1.evil.example",
            "",
            "[::",
            "localhost.evil.example",
        ):
            foreign = caller.get("/api/collections", headers={"host": host})
            assert foreign.status_code in (400, 401), host
        assert caller.get("/api/collections", headers={"host": "localhost:1"}).status_code == 200
    with served(settings.model_copy(update={"open_access": True})) as url:
        assert httpx.get(f"{url}/api/collections", headers={"host": "kedge.example"}, timeout=60).status_code == 200


def test_a_revoked_key_opens_nothing_from_then_on(address: str, settings: Settings) -> None:
    token, key = make_key("one", "soon gone", Right.WRITE)

    def put(one: ApiKey) -> None:
        async def work() -> None:
            catalog = registry.open_catalog(settings)
            await catalog.keys.put(one)
            await catalog.close()

        asyncio.run(work())

    put(key)
    with client(address, token) as caller:
        assert caller.get("/api/collections").status_code == 200
        assert run(["--home", str(settings.home), "key", "revoke", key.id]) == 0
        assert caller.get("/api/collections").status_code == 401
        assert caller.post("/api/query/stream", json={"query": QUESTION}).status_code == 401
        assert caller.post("/v1/chat/completions", json={"messages": []}).status_code == 401


def test_figures_of_the_whole_server_are_for_who_runs_it(address: str, settings: Settings) -> None:
    for right, status in ((Right.READ, 403), (Right.WRITE, 403), (Right.ADMIN, 200)):
        with client(address, put_key(settings, "figures", right)) as caller:
            assert caller.get("/metrics").status_code == status


def test_a_request_that_a_proxy_passed_on_names_no_files(address: str, settings: Settings, tmp_path: Path) -> None:
    body = {"sources": [str(write_corpus(tmp_path / "corpus"))]}
    with client(address, put_key(settings, "proxied", Right.ADMIN)) as caller:
        for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):
            refused = caller.post("/api/ingest", json=body, headers={name: "203.0.113.9"})
            assert "files of its own machine" in refused.json()["error"]["message"]


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
    assert made["key"][21:] not in json.dumps(listed)  # a secret may hold underscores itself
    assert made["key"][21:].encode() not in (tmp_path / "home" / "catalog.db").read_bytes()
    assert kedge("key", "revoke", made["id"])[1]["state"] == "revoked"
    code, missing = kedge("key", "revoke", "none")
    assert (code, missing["error"]["code"]) == (1, "not_found")
    code, wrong = kedge("key", "create", "x", "--tenant", "a b")
    assert (code, wrong["error"]["code"]) == (2, "invalid_request")
