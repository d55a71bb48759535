"""A real server on a free port, in a thread of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from kedge.core.settings import Settings, load_settings
from kedge.surfaces.server.app import create_app
from kedge.surfaces.server.run import UvicornServer, bind, url_of
from tests.support.surfaces import EMBEDDER, follow, write_corpus


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
    ready = threading.Event()
    with bind(settings.host, 0) as bound:
        server = UvicornServer(create_app(settings), settings, ready.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        assert ready.wait(60)
        yield url_of(settings.host, bound)
        server.should_exit = True
        thread.join()


@pytest.fixture
def client(base_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=base_url, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def filled(base_url: str, corpus: Path) -> str:
    """Name of a collection that holds the corpus; tests only read it."""
    with httpx.Client(base_url=base_url, timeout=60) as client:
        body = {"sources": [str(corpus)], "collection": "sea"}
        job_id = client.post("/api/ingest", json=body).raise_for_status().json()["job_id"]
        assert follow(client, job_id)["status"] == "complete"
    return "sea"
