"""A real server for one test, with settings of its own; in a thread of this process, or as `kedge serve`."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from kedge.core.settings import load_settings
from kedge.core.tls import trusted
from kedge.surfaces.server.app import create_app
from kedge.surfaces.server.run import UvicornServer, bind, url_of
from tests.support.forked import Piped, piped, said_first
from tests.support.surfaces import EMBEDDER, follow, http_client, write_corpus


@dataclass
class Served:
    """A server that runs."""

    url: str
    app: FastAPI
    server: UvicornServer

    def client(self, **more: Any) -> httpx.Client:
        return http_client(self.url, **more)

    def metric(self, line: str) -> float:
        """The value of a series of `/metrics`; 0 when it is not there."""
        text = httpx.get(f"{self.url}/metrics", timeout=60, verify=trusted()).text
        found = [one.rsplit(" ", 1)[1] for one in text.splitlines() if one.startswith(f"{line} ")]
        return float(found[0]) if found else 0.0


@contextmanager
def serving(home: Path, **settings: Any) -> Iterator[Served]:
    """Serve until the block ends."""
    chosen = load_settings(environ={}, home=home, **{"embedder": EMBEDDER, "drain_timeout": 5, **settings})
    ready = threading.Event()
    with bind(chosen.host, 0) as bound:
        app = create_app(chosen)
        server = UvicornServer(app, chosen, ready.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        assert ready.wait(60)
        try:
            yield Served(url_of(chosen.host, bound), app, server)
        finally:
            server.should_exit = True
            thread.join(60)


def fill(client: httpx.Client, folder: Path) -> None:
    """Take the tiny corpus in."""
    job = client.post("/api/ingest", json={"sources": [str(write_corpus(folder))]}).raise_for_status().json()
    assert follow(client, job["job_id"])["status"] == "complete"


@contextmanager
def process(home: Path, **environment: str) -> Iterator[tuple[Piped, str]]:
    """`kedge serve` on a free port, and its address."""
    variables = {**os.environ, "KEDGE_EMBEDDER": EMBEDDER, "KEDGE_HOME": str(home), **environment}
    with piped(["serve", "--port", "0"], variables) as running:
        yield running, said_first(running).split(" at ")[1].split()[0]
