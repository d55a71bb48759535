"""Documents as they are: pages with the cited words on them, the file itself, and only as it was taken in."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest

from kedge.core.settings import load_settings
from tests.ingest.conftest import make_pdf
from tests.support.surfaces import EMBEDDER, follow, http_client
from tests.surfaces.page.served import serving

LINES = [
    "The storm jib is set forward of the mast in heavy weather.",
    "The trysail is hoisted on a track of its own in a gale.",
]


def pdf() -> bytes:
    return make_pdf(*([(72, 700, 12, line)] for line in LINES), info="/Title (Storm sails)")


def take_in(client: httpx.Client, name: str, data: bytes, collection: str = "papers") -> dict[str, Any]:
    sent = client.post("/api/ingest", files={"file": (name, data)}, data={"collection": collection})
    assert follow(client, sent.json()["job_id"])["status"] == "complete"
    found = client.get("/api/documents", params={"collection": collection, "search": name}).json()["documents"]
    document: dict[str, Any] = next(one for one in found if one["url"].endswith(name))
    return document


def test_a_page_of_an_upload_is_shown_with_the_very_words(client: httpx.Client) -> None:
    document = take_in(client, "sails.pdf", pdf())
    at = f"/api/documents/{document['document_id']}"
    passages = client.get(at).json()["passages"]
    place = next(one for one in passages if LINES[1] in one["text"])
    start = place["start"] + place["text"].index("hoisted")
    span = {"start": start, "end": start + len("hoisted on a track"), "cells": f"{start}-{start + 7}"}
    shown = client.get(f"{at}/pages/2", params=span).json()
    assert (shown["page"], shown["pages"]) == (2, 2)
    words, cell = shown["places"]
    assert not words["answers"]
    assert cell["answers"]
    top = (shown["height"] - 700 - 12) / shown["height"]
    assert words["top"] == pytest.approx(top, abs=0.02)
    assert words["left"] > 72 / shown["width"]  # “The trysail is” stands before it
    assert cell["left"] == pytest.approx(words["left"])
    assert 0 < cell["width"] < words["width"] < 0.5
    assert client.get(f"{at}/pages/1", params=span).json()["places"] == []


def test_the_picture_of_a_page_is_a_png_of_the_wanted_width(client: httpx.Client) -> None:
    document = take_in(client, "sails.pdf", pdf())
    response = client.get(f"/api/documents/{document['document_id']}/pages/1/image", params={"width": 300})
    assert response.headers["content-type"] == "image/png"
    bare = client.get(response.url, headers={"accept": "application/octet-stream"})
    assert (bare.headers["content-type"], bare.content) == ("application/octet-stream", response.content)
    data = response.content
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(data[16:20], "big") == 300
    body = data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8]
    assert len(set(zlib.decompress(body))) > 2  # there is something on it
    for page, width in ((3, 300), (0, 300), (1, 5000)):
        refused = client.get(f"/api/documents/{document['document_id']}/pages/{page}/image", params={"width": width})
        assert refused.status_code >= 400
        assert refused.json()["error"]["hint"]


def test_a_page_that_a_browser_has_is_asked_for_again(client: httpx.Client) -> None:
    """Else whoever comes after, with another key, is shown it from there."""
    document = take_in(client, "sails.pdf", pdf())
    response = client.get(f"/api/documents/{document['document_id']}/pages/1/image", params={"width": 300})
    assert response.headers["cache-control"] == "private, no-cache"
    again = client.get(response.url, headers={"if-none-match": response.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_file_comes_back_byte_by_byte_and_goes_with_its_document(client: httpx.Client) -> None:
    first, second = (
        pdf(),
        make_pdf([(72, 700, 12, "The mizzen is dropped first of all sails.")], info="/Title (Mizzen)"),
    )
    document = take_in(client, "log book.pdf", first)
    at = f"/api/documents/{document['document_id']}"
    response = client.get(f"{at}/original")
    assert response.content == first
    assert response.headers["content-disposition"] == "attachment; filename*=UTF-8''log%20book.pdf"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert take_in(client, "log book.pdf", second)["document_id"] == document["document_id"]
    assert client.get(f"{at}/original").content == second
    again = client.post(f"{at}/ingest")
    assert again.status_code == 202
    assert follow(client, again.json()["job_id"])["files_processed"] == 1
    assert client.get(f"{at}/original").content == second
    assert client.delete(at).status_code == 200
    assert client.get(f"{at}/original").status_code == 404


def test_a_file_that_has_changed_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "sails.pdf"
    path.write_bytes(pdf())
    (tmp_path / "notes.md").write_text("# Notes\n\nThe log is kept by the mate on watch.\n", "utf-8")
    settings = load_settings(environ={}, home=tmp_path / "home", port=0, embedder=EMBEDDER)
    with serving(settings, kinds=False) as served, http_client(served.url) as local:
        body = {"sources": [str(path), str(tmp_path / "notes.md")], "collection": "papers"}
        assert follow(local, local.post("/api/ingest", json=body).json()["job_id"])["status"] == "complete"
        listed = local.get("/api/documents", params={"collection": "papers"}).json()["documents"]
        notes, sails = (f"/api/documents/{one['document_id']}" for one in sorted(listed, key=lambda one: one["url"]))
        assert local.get(f"{sails}/original").content == path.read_bytes()
        assert local.get(f"{notes}/original").text.startswith("# Notes")
        assert "no pages" in local.get(f"{notes}/pages/1").json()["error"]["message"]
        path.write_bytes(make_pdf([(72, 700, 12, "Something else that nobody took in.")]))
        refused = local.get(f"{sails}/pages/1")
        assert refused.status_code == 404
        assert "has changed since" in refused.json()["error"]["message"]
        path.unlink()
        assert "not where it was" in local.get(f"{sails}/original").json()["error"]["message"]


def test_what_is_not_there_or_not_readable_is_said(client: httpx.Client) -> None:
    document = take_in(client, "sails.pdf", pdf())
    at = f"/api/documents/{document['document_id']}/pages/1"
    assert client.get(f"{at}?start=1&end=5&cells=x").status_code == 400
    for path in ("pages/1", "pages/1/image", "original"):
        assert client.get(f"/api/documents/none/{path}").status_code == 404
    assert client.post("/api/documents/none/ingest").status_code == 404


def test_jobs_are_listed_newest_first(client: httpx.Client) -> None:
    take_in(client, "one.md", b"# One\n\nThe first of two notes.\n")
    take_in(client, "two.md", b"# Two\n\nThe second of two notes.\n")
    found = client.get("/api/ingest", params={"limit": 2}).json()["jobs"]
    assert [job["status"] for job in found] == ["complete", "complete"]
    assert found[0]["created_at"] >= found[1]["created_at"]
