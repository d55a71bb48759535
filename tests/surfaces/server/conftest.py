"""A real server on a free port, in a thread of this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from kedge.core.settings import Settings, load_settings
from tests.support.serving import served
from tests.support.surfaces import EMBEDDER, follow, http_client, write_corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("served-corpus"))


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("served") / "home"
    return load_settings(environ={}, home=home, embedder=EMBEDDER, max_upload_bytes=100_000)


@pytest.fixture(scope="session")
def base_url(settings: Settings) -> Iterator[str]:
    """The address of a running server."""
    with served(settings) as address:
        yield address


@pytest.fixture
def client(base_url: str) -> Iterator[httpx.Client]:
    with http_client(base_url) as client:
        yield client


@pytest.fixture(scope="session")
def filled(base_url: str, corpus: Path) -> str:
    """Name of a collection that holds the corpus; tests only read it."""
    with http_client(base_url) as client:
        body = {"sources": [str(corpus)], "collection": "sea"}
        job_id = client.post("/api/ingest", json=body).raise_for_status().json()["job_id"]
        assert follow(client, job_id)["status"] == "complete"
    return "sea"
