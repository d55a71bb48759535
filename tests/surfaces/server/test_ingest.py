"""`POST /api/ingest` by address and by upload, documents and collections."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from kedge.core.settings import load_settings
from kedge.core.urls import is_loopback
from kedge.core.values import Right
from kedge.surfaces.server.deps import Caller, local_paths_allowed
from tests.support.surfaces import follow

Files = list[tuple[str, tuple[str, bytes, str]]]
TEXT = b"# Reef knot\n\nThe reef knot ties up a sail. It never joins two ropes that carry a load.\n"


def files(*named: tuple[str, bytes]) -> Files:
    return [("file", (name, content, "text/markdown")) for name, content in named]


@pytest.mark.req("D-01", "D-10")
def test_one_document_by_path(client: httpx.Client, corpus: Path) -> None:
    body = {"documentUrl": str(corpus / "tides.md"), "title": "Tides", "collection": "by-path"}
    accepted = client.post("/api/ingest", json=body)
    assert accepted.status_code == 202
    assert set(accepted.json()) == {"job_id", "document_id", "status", "estimated_chunks"}
    assert accepted.json()["status"] == "queued"
    job = follow(client, accepted.json()["job_id"])
    assert (job["status"], job["progress"], job["files_processed"]) == ("complete", 100, 1)
    listed = client.get("/api/documents", params={"collection": "by-path"}).json()["documents"]
    assert [one["title"] for one in listed] == ["Tides"]


@pytest.mark.req("D-01")
def test_uploads_of_several_files(client: httpx.Client) -> None:
    sent = files(("reef.md", TEXT), ("../../evil.md", b"# Evil\n\nA name with folders in it."))
    fields = {"collection": "uploads", "topic": "knots", "metadata": json.dumps({"shelf": "harbour"})}
    accepted = client.post("/api/ingest", files=sent, data=fields)
    assert accepted.status_code == 202, accepted.text
    assert follow(client, accepted.json()["job_id"])["files_processed"] == 2
    listed = client.get("/api/documents", params={"collection": "uploads"}).json()["documents"]
    assert {one["title"] for one in listed} == {"Reef knot", "Evil"}
    assert {one["topic_tag"] for one in listed} == {"knots"}
    assert all(one["metadata"]["shelf"] == "harbour" for one in listed)
    assert not any(".." in one["url"] for one in listed)


def test_empty_upload(client: httpx.Client) -> None:
    response = client.post("/api/ingest", files=files(("empty.md", b"")))
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "empty_source"


def test_an_empty_file_among_others_keeps_none_of_them_out(client: httpx.Client) -> None:
    sent = files(("hollow.md", b""), ("reef.md", TEXT))
    accepted = client.post("/api/ingest", files=sent, data={"collection": "some-empty"})
    assert accepted.status_code == 202, accepted.text
    job = follow(client, accepted.json()["job_id"])
    assert (job["status"], job["files_processed"], job["files_failed"]) == ("complete", 1, 1)
    ((code, message),) = [(error["code"], error["message"]) for error in job["errors"]]
    assert (code, message) == ("empty_source", "hollow.md is empty.")


def test_form_without_a_file(client: httpx.Client) -> None:
    response = client.post("/api/ingest", data={"collection": "x"}, files={"topic": (None, "knots")})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_request"


def test_upload_beyond_the_limit(client: httpx.Client) -> None:
    response = client.post("/api/ingest", files=files(("big.md", b"a knot " * 40_000)))
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "too_large"


def test_upload_beyond_the_limit_without_announcing_its_size(client: httpx.Client) -> None:
    request = client.build_request("POST", "/api/ingest", files=files(("big.md", b"a knot " * 40_000)))
    body = request.read()
    headers = {"content-type": request.headers["content-type"]}
    response = client.post("/api/ingest", content=iter([body]), headers=headers)
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "too_large"


def test_garbage_upload_fails_its_job_and_says_why(client: httpx.Client) -> None:
    sent = files(("garbage.md", b"\x00\x01\x02\xff" * 200))
    accepted = client.post("/api/ingest", files=sent, data={"collection": "garbage"})
    job = follow(client, accepted.json()["job_id"])
    assert job["files_failed"] == 1
    assert job["errors"][0]["code"] == "not_text"
    assert job["errors"][0]["hint"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"document_url": " "},
        {"document_url": "x.md", "mode": "sideways"},
        {"document_url": "x.md", "format": "wordstar"},
        {"document_url": "x.md", "metadata": "text"},
        {"document_url": "x.md", "uploads": [["a", "/etc/passwd"]]},
    ],
)
def test_bad_requests(client: httpx.Client, body: dict[str, object]) -> None:
    response = client.post("/api/ingest", json=body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_request"


def test_broken_json(client: httpx.Client) -> None:
    response = client.post("/api/ingest", content=b"{", headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_request"


def test_unknown_job(client: httpx.Client) -> None:
    response = client.get("/api/ingest/00000000-0000-0000-0000-000000000000")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("bound", "host", "client", "allowed"),
    [
        ("127.0.0.1", "localhost:8000", "127.0.0.1", True),
        ("::1", "[::1]:8000", "::1", True),
        ("0.0.0.0", "localhost:8000", "127.0.0.1", False),
        ("127.0.0.1", "kedge.example.org", "127.0.0.1", False),
        ("127.0.0.1", "localhost:8000", "10.0.0.7", False),
    ],
)
def test_paths_are_for_the_local_user_alone(bound: str, host: str, client: str, allowed: bool) -> None:
    from fastapi import Request

    scope = {"type": "http", "headers": [(b"host", host.encode())], "client": (client, 1), "method": "POST"}
    settings = load_settings(environ={}, host=bound)
    assert local_paths_allowed(Request(scope), settings, Caller("default", Right.ADMIN)) is allowed
    assert not local_paths_allowed(Request(scope), settings, Caller("default", Right.WRITE))


def test_loopback() -> None:
    assert [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "example.org", "")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.req("D-10", "D-18")
def test_document_is_shown_and_deleted(client: httpx.Client) -> None:
    accepted = client.post("/api/ingest", files=files(("reef.md", TEXT)), data={"collection": "doomed"})
    follow(client, accepted.json()["job_id"])
    (listed,) = client.get("/api/documents", params={"collection": "doomed"}).json()["documents"]
    address = f"/api/documents/{listed['document_id']}"
    shown = client.get(address).json()
    assert shown["status"] == "active"
    assert len(shown["passages"]) == shown["chunk_count"] == 1
    assert client.delete(address).json()["status"] == "archived"
    assert client.get("/api/documents", params={"collection": "doomed"}).json()["documents"] == []
    archived = client.get("/api/documents", params={"collection": "doomed", "status": "archived"}).json()
    assert [one["document_id"] for one in archived["documents"]] == [listed["document_id"]]


def test_unknown_document(client: httpx.Client) -> None:
    for method in ("GET", "DELETE"):
        response = client.request(method, "/api/documents/00000000-0000-0000-0000-000000000000")
        assert response.status_code == 404


def test_collections(client: httpx.Client) -> None:
    accepted = client.post("/api/ingest", files=files(("reef.md", TEXT)), data={"collection": "brief"})
    follow(client, accepted.json()["job_id"])
    assert "brief" in {one["name"] for one in client.get("/api/collections").json()["collections"]}
    assert client.get("/api/collections/brief").json()["documents"] == 1
    assert client.delete("/api/collections/brief").status_code == 204
    assert client.get("/api/collections/brief").status_code == 404
    assert client.delete("/api/collections/brief").status_code == 404
