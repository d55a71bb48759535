"""What strangers send to the server: other sites' pages, other hosts' names, bodies, questions, filters, names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from fastapi.testclient import TestClient

from kedge.core.errors import ConfigError
from kedge.core.settings import Settings, load_settings
from kedge.surfaces.server.app import create_app
from kedge.surfaces.server.docs import SCRIPT
from tests.support.surfaces import EMBEDDER, QUESTION, follow

SECURITY = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
INJECTIONS = (
    "'; DROP TABLE documents; --",
    '" OR "1"="1',
    "x') UNION SELECT token FROM api_keys --",
    "}) DETACH DELETE n //",
    "`) MATCH (n) DETACH DELETE n //",
    "%' OR 1=1 --",
    "\\'; --",
    "$1",
    ":name",
    "{{7*7}}",
)
BROKEN = ("a\0b", "\ud800", "\udfffx")


def send(client: httpx.Client, path: str, body: object, method: str = "POST") -> httpx.Response:
    """JSON as an attacker writes it: half characters and NaN are spelled."""
    return client.request(method, path, content=json.dumps(body).encode(), headers={"content-type": "application/json"})


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


# ------------------------------------------------------------ browsers


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/rag"), ("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/health"), ("GET", "/api/collections"),
     ("GET", "/nowhere"), ("POST", "/api/query"), ("PUT", "/api/query"), ("GET", "/rag/main.js"), ("GET", "/metrics")],
)  # fmt: skip
def test_every_response_has_security_headers(client: httpx.Client, method: str, path: str) -> None:
    headers = client.request(method, path).headers
    assert {name: headers.get(name) for name in SECURITY} == SECURITY
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "geolocation=()" in headers["permissions-policy"]
    assert "strict-transport-security" not in headers
    assert "server" not in headers


def test_the_docs_run_nothing_but_what_they_name(client: httpx.Client) -> None:
    page = client.get("/docs")
    policy = page.headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert "//" not in policy, "nothing comes from elsewhere"
    assert page.text.count("<script") == 2
    assert SCRIPT in page.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[::1", "a@b", "192.168.0.9"]
)
def test_a_name_that_leads_here_by_rebinding_is_refused(client: httpx.Client, host: str) -> None:
    """The browser believes that the page of evil.example talks to its own server."""
    response = client.post("/api/query", json={"query": QUESTION}, headers={"host": host, "origin": f"http://{host}"})
    assert response.status_code == 400
    assert "allowed_hosts" in response.json()["error"]["hint"] or "origin" in response.text


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example", "file://"])
def test_pages_of_other_sites_can_change_nothing(client: httpx.Client, origin: str) -> None:
    for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
        headers = {"origin": origin, "content-type": kind}
        response = client.post("/api/ingest", content=b'{"sources": ["https://example.org/"]}', headers=headers)
        assert response.status_code == 400
        assert "not accepted" in response.json()["error"]["message"]
    assert "access-control-allow-origin" not in client.get("/health", headers={"origin": origin}).headers


@pytest.fixture(scope="module")
def open_to_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    settings = load_settings(
        environ={
            "KEDGE_CORS_ORIGINS": "https://app.example, https://two.example",
            "KEDGE_ALLOWED_HOSTS": "kedge.example",
        },
        home=tmp_path_factory.mktemp("cors") / "home",
        embedder=EMBEDDER,
        hsts_seconds=3600,
        open_access=True,
    )
    with TestClient(create_app(settings), base_url="https://kedge.example") as client:
        yield client


def test_cors_is_for_the_named_sites_alone(open_to_app: httpx.Client) -> None:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization, content-type"}
    fine = open_to_app.options("/api/query", headers={"origin": "https://app.example", **asked})
    assert fine.status_code == 200
    assert fine.headers["access-control-allow-origin"] == "https://app.example"
    assert "access-control-allow-credentials" not in fine.headers
    answered = open_to_app.get("/api/collections", headers={"origin": "https://two.example"})
    assert answered.status_code == 200
    assert answered.headers["access-control-allow-origin"] == "https://two.example"
    other = open_to_app.options("/api/query", headers={"origin": "https://evil.example", **asked})
    assert "access-control-allow-origin" not in other.headers
    assert open_to_app.get("/api/collections", headers={"origin": "https://evil.example"}).status_code == 400


def test_hsts_is_sent_where_the_settings_say_so(open_to_app: httpx.Client) -> None:
    assert open_to_app.get("/health").headers["strict-transport-security"] == "max-age=3600"


@pytest.mark.parametrize("origin", ["*", "app.example", "https://app.example/", "ftp://app.example", "null"])
def test_an_origin_that_is_none_is_told_at_the_start(origin: str) -> None:
    with pytest.raises(ConfigError, match="no origin"):
        load_settings(environ={"KEDGE_CORS_ORIGINS": origin})


# ------------------------------------------------------------ bodies, questions, filters, names


@pytest.mark.parametrize("text", [*BROKEN, "a\x07b", "\x1b[31mred", "x\x7f", "\x9b31m"])
def test_questions_with_control_characters(client: httpx.Client, filled: str, text: str) -> None:
    for path in ("/api/query", "/api/query/stream"):
        response = send(client, path, {"query": f"Which knot {text}?", "collection": filled})
        assert response.status_code == 400
        assert response.json()["error"]["code"] in ("invalid_query", "invalid_request")


@pytest.mark.parametrize("text", ["\u202eevil", "a\u2066b\u2069", "e" + "\u0301" * 400, "😀" * 900, "line\nline\ttab"])
def test_odd_but_honest_questions_are_answered(client: httpx.Client, filled: str, text: str) -> None:
    assert send(client, "/api/query", {"query": f"{text} knot", "collection": filled}).status_code == 200


@pytest.mark.parametrize(
    "condition",
    [
        {"a": {"b": {"c": 1}}},
        {"a": {"gte": "x"}},
        {"a": {"gte": float("nan")}},
        {"a": 10**30},
        {"a": {"lte": 10**400}},
        {"a": [[1]]},
        {"a": []},
        {"a": list(range(2000))},
        {"a" * 500: 1},
        {"": 1},
        {"a\0": 1},
        {"a": "\ud800"},
        {"a": "x" * 9000},
        {f"f{number}": number for number in range(1500)},
        {"$where": {"$gt": ""}},
    ],
    ids=lambda condition: str(condition)[:30],
)
def test_filters_that_cannot_be(client: httpx.Client, filled: str, condition: dict[str, object]) -> None:
    response = send(client, "/api/query", {"query": QUESTION, "collection": filled, "filter": condition})
    assert response.status_code == 400
    assert response.json()["error"]["code"] in ("invalid_filter", "invalid_request")


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b'{"query": ' + b"[" * 900 + b"]" * 900 + b"}"])
@pytest.mark.parametrize("path", ["/api/query", "/api/ingest", "/api/sessions/x/feed-data", "/v1/chat/completions"])
def test_json_that_is_too_deep(client: httpx.Client, path: str, body: bytes) -> None:
    response = client.post(path, content=body, headers={"content-type": "application/json"})
    assert code(response) == (400, "invalid_request")


def test_addresses_with_a_nul(client: httpx.Client) -> None:
    for path in ("/api/documents/a%00b", "/api/collections/%00", "/api/documents?collection=%00", "/rag/%00"):
        assert code(client.get(path)) == (400, "invalid_request")


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "\u202egnp", "new\nline", " ", "x" * 300, "\x1b[2J", "\u2028"])
def test_names_that_cannot_be(client: httpx.Client, name: str) -> None:
    for path, body in (
        ("/api/ingest", {"sources": ["https://example.org/"], "collection": name}),
        ("/api/sessions", {"session_id": name}),
        ("/api/graph/index", {"collection": name}),
    ):
        response = send(client, path, body)
        assert response.status_code in (400, 404), (path, response.text)
    assert name not in [one["name"] for one in client.get("/api/collections").json()["collections"]]


@pytest.mark.parametrize("text", INJECTIONS)
def test_text_stays_data_on_every_surface(client: httpx.Client, filled: str, text: str) -> None:
    """SQL, Cypher and templates in questions, filters, names, ids, plans and rows: found nowhere, changing nothing."""
    before = client.get("/api/documents", params={"collection": filled}).json()
    asked = {"query": text, "collection": filled, "topic_filter": text, "session_id": text, "filter": {"title": text}}
    assert send(client, "/api/query", asked).status_code == 200
    assert code(send(client, "/api/query", {**asked, "filter": {text: text}})) == (400, "invalid_filter")
    assert client.get("/api/documents", params={"collection": text}).status_code == 404
    assert client.get(f"/api/ingest/{quote(text, safe='')}").status_code in (404, 307)
    node = {"id": text, "type": text, "title": text, "properties": {text: text}}
    scope = {"collection": "injected-graph"}
    made = client.post("/api/graph/nodes", params=scope, json=node)
    assert made.status_code in (201, 409), made.text
    listed = client.get("/api/graph/nodes", params={**scope, "type": text}).json()["nodes"]
    assert [one["id"] for one in listed] == [text]
    assert client.post("/api/feedback", json={"query_id": text, "rating": 3}).status_code == 404
    assert client.post("/api/sessions", json={"session_id": text}).status_code == 400
    session = f"injected-{INJECTIONS.index(text)}"
    assert client.post("/api/sessions", json={"session_id": session}).status_code == 201
    fed = client.post(
        f"/api/sessions/{session}/feed-data", json={"rows": [{text: f"cell {text}", "n": 1}], "name": text}
    )
    assert follow(client, fed.json()["job_id"])["status"] == "complete"
    plan = {"filters": [{"column": text, "op": "=", "values": [f"cell {text}"]}], "measures": [{"func": "count"}]}
    ran = client.post(f"/api/sessions/{session}/query", json={"plan": plan})
    assert ran.status_code == 200, ran.text
    assert ran.json()["metadata"]["rows"] == [[1]]
    refused = client.post(f"/api/sessions/{session}/query", json={"plan": {"groups": [text + "x"]}})
    assert code(refused) == (400, "invalid_plan")
    assert client.get("/api/documents", params={"collection": filled}).json() == before


# ------------------------------------------------------------ uploads


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd.md", "upload:passwd.md"),
        ("..\\..\\boot.md", "upload:boot.md"),
        ("\u202egnp.md", "upload:gnp.md"),
        ("con.md", "upload:con.md"),
        ("x" * 400 + ".md", f"upload:{'x' * 197}.md"),
        ("..", "upload:upload"),
    ],
)
def test_names_of_uploads(client: httpx.Client, name: str, kept: str) -> None:
    content = b"# Reef knot\n\nThe reef knot ties up a sail."
    collection = f"names-{abs(hash(name))}"
    accepted = client.post("/api/ingest", files={"file": (name, content)}, data={"collection": collection})
    assert accepted.status_code == 202, accepted.text
    assert follow(client, accepted.json()["job_id"])["files_processed"] == 1
    listed = client.get("/api/documents", params={"collection": collection}).json()["documents"]
    assert [one["url"] for one in listed] == [kept]


def test_an_upload_over_the_limit_is_refused_while_it_comes(client: httpx.Client, settings: Settings) -> None:
    """Without a length that is announced: the server must count, and keeps nothing."""

    def long() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n'
        for _ in range(50):
            yield b"x" * 100_000

    response = client.post("/api/ingest", content=long(), headers={"content-type": "multipart/form-data; boundary=b"})
    assert code(response) == (422, "too_large")
    assert not list(settings.home.glob("uploads/*"))


def test_a_form_of_many_fields_is_refused(client: httpx.Client) -> None:
    fields = {f"field{number}": "x" for number in range(100)}
    response = client.post("/api/ingest", data=fields, files={"file": ("a.md", b"# A\n\ntext")})
    assert code(response) == (400, "invalid_request")


def test_a_bomb_fails_alone_and_the_job_says_why(client: httpx.Client) -> None:
    files = [
        ("file", ("archive.md", b"PK\x03\x04" + bytes(100))),
        ("file", ("fine.md", b"# Fine\n\nThis file is fine.")),
    ]
    accepted = client.post("/api/ingest", files=files, data={"collection": "beside-bombs"})
    job = follow(client, accepted.json()["job_id"])
    assert (job["status"], job["files_processed"], job["files_failed"]) == ("complete", 1, 1)
    assert [one["code"] for one in job["errors"]] == ["unsupported_format"]
    assert "ZIP" in job["errors"][0]["message"]


def test_what_a_request_leaves_on_disk(client: httpx.Client, tmp_path: Path) -> None:
    """No member of an archive, no name of an upload becomes a path."""
    assert not Path("/tmp/kedge-was-here").exists()
    assert not Path("/etc/kedge-was-here").exists()
