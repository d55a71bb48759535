"""`kedge serve` as a process of its own."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kedge.surfaces.client import KedgeClient
from tests.support.forked import piped, said_first
from tests.support.surfaces import EMBEDDER, write_corpus


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """The address of a running server."""
    environ = {**os.environ, "KEDGE_EMBEDDER": EMBEDDER}
    with piped(["serve", "--port", "0", "--json", "--home", str(home)], environ) as process:
        yield json.loads(said_first(process))["url"]
        process.send_signal(signal.SIGTERM)
        process.read_all()


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("client") / "home"


@pytest.fixture(scope="session")
def url(home: Path) -> Iterator[str]:
    with serving(home) as address:
        yield address


@pytest.fixture(scope="session")
def sea(url: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A collection that holds the corpus; tests only read it."""
    folder = write_corpus(tmp_path_factory.mktemp("sea"))
    with KedgeClient(url) as client:
        queued = client.ingest(files=sorted(folder.glob("*.md")), collection="sea", metadata={"shelf": 3})
        assert client.wait(queued.job_id, within=60).files_processed == 3
    return "sea"


@pytest.fixture
def client(url: str) -> Iterator[KedgeClient]:
    with KedgeClient(url) as client:
        yield client
