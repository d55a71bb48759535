"""What HTTP expects: HEAD, tags, packed bodies, long-lived fonts, and a description that tells how keys are sent."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import httpx
import pytest

from kedge.core.settings import Settings
from kedge.surfaces.server.app import create_app
from tests.support.surfaces import QUESTION
from tests.surfaces.server.conftest import base_url, client, corpus, filled, settings
from tests.surfaces.server.serving import serving

__all__ = ["base_url", "client", "corpus", "filled", "settings"]


def test_head_is_get_without_the_body(client: httpx.Client) -> None:
    for address in ("/health", "/rag", "/openapi.json", "/docs"):
        got, head = client.get(address), client.head(address)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-type"] == got.headers["content-type"]
    assert client.head("/nowhere").status_code == 404
    assert client.head("/api/query").status_code == 405


def test_who_has_it_already_is_not_sent_it_again(client: httpx.Client) -> None:
    first = client.get("/openapi.json")
    again = client.get("/openapi.json", headers={"if-none-match": f'"other", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert client.get("/openapi.json", headers={"if-none-match": '"other"'}).status_code == 200
    assert "etag" not in client.get("/nowhere").headers


def test_bodies_are_packed_and_streams_are_not(client: httpx.Client, filled: str) -> None:
    with client.stream("GET", "/openapi.json", headers={"accept-encoding": "gzip"}) as packed:
        assert packed.headers["content-encoding"] == "gzip"
        assert b"openapi" in gzip.decompress(b"".join(packed.iter_raw()))
    assert "content-encoding" not in client.get("/openapi.json", headers={"accept-encoding": "identity"}).headers
    body = {"query": QUESTION, "collection": filled}
    streamed = client.post("/api/query/stream", json=body, headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in streamed.headers
    assert streamed.headers["x-accel-buffering"] == "no"


def test_fonts_are_kept_and_scripts_are_asked_for_again(client: httpx.Client) -> None:
    assert "immutable" in client.get("/rag/inter.woff2").headers["cache-control"]
    script = client.get("/rag/main.js")
    assert script.headers["cache-control"] == "no-cache"
    again = client.get("/rag/main.js", headers={"if-none-match": script.headers["etag"]})
    assert again.status_code == 304


def test_the_description_page_needs_no_network(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert "http" not in page.headers["content-security-policy"]
    named = re.findall(r'(?:src|href)="(docs/[^"]+)"', page.text)
    assert len(named) == 2
    for name in named:
        packed, plain = (client.get(f"/{name}", headers={"accept-encoding": how}) for how in ("gzip", "identity"))
        assert packed.status_code == plain.status_code == 200
        assert packed.content == plain.content
    assert client.get("/docs/other.js").status_code == 404


def test_every_operation_says_how_a_key_is_sent_and_what_it_answers(settings: Settings) -> None:
    schema = create_app(settings).openapi()
    schemes = schema["components"]["securitySchemes"]
    assert (schemes["key"]["scheme"], schemes["header"]["name"]) == ("bearer", "X-API-Key")
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            assert operation["security"], path
            assert {next(iter(one), None) for one in operation["security"]} <= {None, *schemes}
            for status, response in operation["responses"].items():
                told = [part.get("schema") for part in response.get("content", {}).values()]
                assert status == "204" or (told and all(told)), f"{path} {status} says nothing of its answer"


def test_every_body_has_a_type_that_generated_clients_read(settings: Settings) -> None:
    """What openapi-python-client takes without a warning."""
    schema = create_app(settings).openapi()
    answers = [
        answer
        for methods in schema["paths"].values()
        for one in methods.values()
        for answer in one["responses"].values()
    ]
    kinds = {kind for answer in answers for kind in answer.get("content", {})}
    assert kinds <= {
        "application/json",
        "application/octet-stream",
        "text/event-stream",
        "text/html",
        "text/plain",
        "image/png",
    }


def test_the_headers_of_chat_clients_pass_a_preflight(tmp_path: Path) -> None:
    origin = "https://app.example"
    asked = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,x-stainless-os,x-stainless-retry-count",
    }
    with serving(tmp_path / "home", cors_origins=[origin]) as served, served.client() as client:
        passed = client.options("/v1/chat/completions", headers=asked)
    assert passed.status_code == 200
    assert "x-stainless-os" in passed.headers["access-control-allow-headers"]


@pytest.mark.parametrize("member", ["ModelList", "Model", "ChatCompletion"])
def test_what_chat_clients_get_is_described(settings: Settings, member: str) -> None:
    assert member in create_app(settings).openapi()["components"]["schemas"]
